"""Raw ratings of several raters made into training data (Perrella et al. 2022, section 2.1).

Errors that are not in the hypothesis (Accuracy/Omission, Source error) and Neutral errors are left out, Critical
becomes Major, and the raters of a segment are merged into one rating, in which the more severe of overlapping spans
stays, also of one rater. `overall` is the mean of the raters' scores before anything is left out. Errors of
Non-translation, too few to learn, are left out too: the spans of such a segment become unknown, and only its score is
learned. Omissions with a place in the source or a reference stay, for models that learn them.
"""

from __future__ import annotations

import hashlib
import random
import statistics
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TypeVar

from matese import merging, mqm
from matese.annotation import AnyError, ErrorSpan, Omission, Overall, Rating, Severity, UnplacedError
from matese.errors import InputError, counted, shortened
from matese.merging import MergeMethod
from matese.text.span_projection import project

Counting = Callable[[str], None]
"""Counts a reason."""
_Error = TypeVar("_Error", ErrorSpan, Omission, UnplacedError)
_Text = TypeVar("_Text", str, str | None)

NON_TRANSLATION = "Non-translation"
NOT_IN_HYPOTHESIS = ("Accuracy/Omission", "Source error")
"""Categories of errors that are not in the hypothesis."""


@dataclass(frozen=True, slots=True)
class PreparedRatings:
    """Prepared ratings, and what was done.

    Attributes:
        ratings: one for each segment; all ratings as they were if there was nothing to prepare.
        is_changed: whether they were raw.
        n_raw: number of ratings before.
        n_raw_spans: number of their error spans in hypotheses.
        n_merged: number of segments with several raters.
        raters: names of the raters.
        test_sets: names of the test sets.
        left_out: number of errors that are left out, by category or severity.
        changed: number of ratings and errors that are changed, by what is done.
    """

    ratings: Sequence[Rating]
    is_changed: bool
    n_raw: int
    n_raw_spans: int
    n_merged: int
    raters: frozenset[str]
    test_sets: frozenset[str]
    left_out: Mapping[str, int]
    changed: Mapping[str, int]

    def notices(self, name: str) -> list[str]:
        """Returns two sentences about what was done, and one about several test sets; none if nothing was done."""
        if not self.is_changed:
            return []
        merged = f"{counted(self.n_merged, 'segment')} merged" if self.n_merged else "no segment has several raters"
        n_spans = sum(len(rating.errors or ()) for rating in self.ratings)
        left_out, changed = (
            ", ".join(f"{reason} ({number:,})" for reason, number in counts.items()) or "nothing"
            for counts in (self.left_out, self.changed)
        )
        by = f" by {counted(len(self.raters), 'rater')}" if self.raters else ""
        several = f"{name}: ratings of {len(self.test_sets)} test sets: {', '.join(sorted(self.test_sets))}"
        return [
            f"{name}: prepared {counted(self.n_raw, 'rating')} with {counted(self.n_raw_spans, 'error span')}{by}: "
            f"{counted(len(self.ratings), 'rating')} with {counted(n_spans, 'error span')}, {merged}, each score the "
            "mean of the raters'",
            f"{name}: left out: {left_out}; changed: {changed}",
            *([several] if len(self.test_sets) > 1 else []),
        ]


def prepare(ratings: Iterable[Rating], *, merge: MergeMethod = "union") -> PreparedRatings:
    """Returns ratings for training, in the order of their segments; ratings without spans stay as they are.

    Ratings are taken for prepared, and stay as they are, if no segment has several raters, no error of the hypothesis
    or source has a severity or category that is left out or changed, and no two errors of the hypothesis overlap.

    >>> from matese.annotation import Segment
    >>> segment = Segment("Das Haus")
    >>> anna = Rating(segment, "anna", (ErrorSpan(4, 8, Severity.MINOR),))
    >>> ben = Rating(segment, "ben", (ErrorSpan(0, 8, Severity.MAJOR),))
    >>> (rating,) = prepare([anna, ben]).ratings
    >>> rating.errors == ben.errors, rating.overall.value
    (True, -3.0)
    """
    raw = tuple(ratings)
    segments = list(_by_segment(raw))
    several = [raters for raters in segments if len(raters) > 1]
    is_changed = bool(several) or any(map(_is_raw, raw))
    left_out = Counter[str]()
    changed = Counter[str]()
    prepared: Sequence[Rating] = raw
    if is_changed:
        leave_out = partial(_add, left_out)
        change = partial(_add, changed)
        prepared = [prepare_segment(raters, leave_out=leave_out, change=change, merge=merge) for raters in segments]
    keys = (rating.segment.key for rating in raw)
    return PreparedRatings(
        ratings=prepared,
        is_changed=is_changed,
        n_raw=len(raw),
        n_raw_spans=sum(len(rating.errors or ()) for rating in raw),
        n_merged=len(several),
        raters=frozenset(rating.rater for rating in raw if rating.rater is not None),
        test_sets=frozenset(key.test_set for key in keys if key is not None and key.test_set is not None),
        left_out=left_out,
        changed=changed,
    )


def _add(counts: Counter[str], reason: str) -> None:
    counts[reason] += 1


def prepare_segment(
    raters: Sequence[Rating],
    *,
    leave_out: Counting,
    change: Counting,
    merge: MergeMethod = "union",
    rng: random.Random | None = None,
) -> Rating:
    """Returns one rating for the raters of a segment; a rating without spans as it is.

    Args:
        raters: their ratings.
        leave_out: called with the reason for each error that is left out.
        change: called with what is done to each rating or error that is changed.
        merge: see `merging.merge`.
        rng: see `merging.merge`.
    """
    if raters[0].errors is None:
        return raters[0]
    texts = unify_texts(raters, change)
    cleaned = [trim(clean(rating, leave_out, change), change) for rating in texts]
    prepared = replace(merging.merge(cleaned, method=merge, rng=rng), overall=_mean_score(texts))
    reason = "overlapping another one" if merge == "union" else "marked by too few raters, or overlapping another one"
    if any(is_of(NON_TRANSLATION, error) for rating in texts for error in rating.all_errors):
        prepared = replace(prepared, errors=None, source_errors=(), omissions=(), unplaced=())
        reason = "in a segment with an error of Non-translation"
    for _ in range(sum(len(rating.errors or ()) for rating in cleaned) - len(prepared.errors or ())):
        leave_out(reason)
    return prepared


def _mean_score(raters: Sequence[Rating]) -> Overall | None:
    """Returns the mean of the judgements of the whole segment if all raters made one on one scale, else of MQM scores.

    A rater with an error of undecided severity has no MQM score.
    """
    judged = [rating.overall for rating in raters if rating.overall is not None]
    if len(judged) == len(raters) and len({overall.scale for overall in judged}) == 1:
        return Overall(statistics.fmean(overall.value for overall in judged), judged[0].scale)
    decided = [rating for rating in raters if all(error.severity is not None for error in rating.all_errors)]
    return Overall(statistics.fmean(map(mqm.score, decided)), "mqm") if decided else None


def clean(rating: Rating, leave_out: Counting, change: Counting) -> Rating:
    """Returns the rating without errors that are not used for training; Critical becomes Major."""
    return replace(
        rating,
        errors=None if rating.errors is None else _used_errors(rating.errors, leave_out, change),
        source_errors=_used_errors(rating.source_errors, leave_out, change),
        omissions=_used_errors(rating.omissions, leave_out, change),
        unplaced=_used_errors(rating.unplaced, leave_out, change),
    )


def _used_errors(errors: Sequence[_Error], leave_out: Counting, change: Counting) -> tuple[_Error, ...]:
    used: list[_Error] = []
    for error in errors:
        reason = _reason_to_leave_out(error)
        if reason is not None:
            leave_out(reason)
        elif error.severity is Severity.CRITICAL:
            change("Critical counted as Major")
            used.append(replace(error, severity=Severity.MAJOR))
        else:
            used.append(error)
    return tuple(used)


def _reason_to_leave_out(error: AnyError) -> str | None:
    """Returns the category or severity for which an error is not used for training; None if it is used."""
    categories = () if isinstance(error, Omission) else (NON_TRANSLATION, *NOT_IN_HYPOTHESIS)
    reason = next((category for category in categories if is_of(category, error)), None)
    return reason or ("Neutral" if error.severity is Severity.NEUTRAL else None)


def is_of(category: str, error: AnyError) -> bool:
    """Whether an error is of a category or a part of it, however it is written ("Non-translation!")."""
    return (error.category or "").casefold().startswith(category.casefold())


def _is_raw(rating: Rating) -> bool:
    """Whether an error in the hypothesis or source is left out or changed, or overlaps another one."""
    errors = (*(rating.errors or ()), *rating.source_errors)
    in_order = sorted(rating.errors or (), key=lambda error: error.start)
    return any(error.end > following.start for error, following in pairwise(in_order)) or any(
        error.severity is Severity.CRITICAL or _reason_to_leave_out(error) is not None for error in errors
    )


def _by_segment(ratings: Iterable[Rating]) -> Iterator[Sequence[Rating]]:
    """Yields the ratings of each segment by different raters; a rating without spans alone.

    A number stands for one segment of a source, since raters may have typed into the texts that they marked. If one
    rater has rated it several times, it stands for several segments, one for each text. Ratings of one text without
    names of raters are by different raters; the second one of a rater is of another segment.
    """
    segments: dict[Hashable, list[Rating]] = defaultdict(list)
    for number, rating in enumerate(ratings):
        segment = rating.segment
        is_numbered = segment.key is not None and segment.key.index is not None
        place = normalise(segment.source or "") if is_numbered else (segment.source, segment.hypothesis)
        segments[number if rating.errors is None else (segment.key, place)].append(rating)
    for raters in segments.values():
        if len({rating.rater for rating in raters}) == len(raters):
            yield raters
            continue
        texts: dict[Hashable, list[Rating]] = defaultdict(list)
        n_ratings = Counter[tuple[str, str | None]]()
        for rating in raters:
            by_rater = rating.segment.hypothesis, rating.rater
            texts[rating.segment.hypothesis, n_ratings[by_rater]].append(rating)
            if rating.rater is not None:
                n_ratings[by_rater] += 1
        yield from texts.values()


def unify_texts(ratings: Sequence[Rating], change: Counting) -> tuple[Rating, ...]:
    """Returns the ratings of one segment with the same hypothesis and source, and with references if one has them.

    The raters of a segment may have different texts because raters could edit the text they marked, and exports doubled
    some quotation marks. The most frequent text is used; among equally frequent texts, the shortest one (most edits
    were additions). The spans of the other raters are moved to their place in that text.

    Raises:
        InputError: if two ratings have different references.
    """
    hypothesis = _commonest([rating.segment.hypothesis for rating in ratings])
    source = _commonest([rating.segment.source for rating in ratings])
    references = _references(ratings)
    unified = []
    for rating in ratings:
        if references and not rating.segment.references:
            change("references taken from another rating of the segment")
            rating = replace(rating, segment=replace(rating.segment, references=references))
        if (rating.segment.hypothesis, rating.segment.source) != (hypothesis, source):
            change("rating moved to the text of the other raters")
            rating = move(rating, hypothesis, source, change)
        unified.append(rating)
    return tuple(unified)


def _references(ratings: Sequence[Rating]) -> tuple[str, ...]:
    """Returns the references of the ratings of one segment, some of which may lack them."""
    distinct = [*dict.fromkeys(rating.segment.references for rating in ratings if rating.segment.references)]
    if len(distinct) > 1:
        segment = ratings[0].segment
        both = " and ".join(shortened(" / ".join(references)) for references in distinct[:2])
        place = f"{segment.label or 'segment'} ({shortened(segment.hypothesis)})"
        raise InputError(f"{place} has ratings with different references ({both}): must have the same")
    return distinct[0] if distinct else ()


def move(rating: Rating, hypothesis: str, source: str | None, change: Counting) -> Rating:
    """Returns the rating with its spans moved to another wording of its texts."""
    segment = rating.segment
    errors, lost = project(rating.errors or (), segment.hypothesis, hypothesis)
    source_errors, lost_source = project(rating.source_errors, segment.source or "", source or "")
    for _ in (*lost, *lost_source):
        change("error without a place in the unified text")
    return replace(
        rating,
        segment=replace(segment, hypothesis=hypothesis, source=source),
        errors=None if rating.errors is None else errors,
        source_errors=source_errors,
        unplaced=(*rating.unplaced, *lost, *lost_source),
    )


def _commonest(texts: Sequence[_Text]) -> _Text:
    counts = Counter(texts)
    return min(counts, key=lambda text: (-counts[text], len(text or ""), text or ""))


def trim(rating: Rating, change: Counting) -> Rating:
    """Returns the rating without white space at the ends of its spans, as in predictions.

    Two spans that share only a space then no longer overlap. A span of only white space has no token to tag and becomes
    an error without a place.
    """
    errors, lost = _trimmed(rating.errors or (), rating.segment.hypothesis, change)
    source_errors, lost_source = _trimmed(rating.source_errors, rating.segment.source or "", change)
    return replace(
        rating,
        errors=None if rating.errors is None else errors,
        source_errors=source_errors,
        unplaced=(*rating.unplaced, *lost, *lost_source),
    )


def _trimmed(
    spans: Sequence[ErrorSpan], text: str, change: Counting
) -> tuple[tuple[ErrorSpan, ...], tuple[UnplacedError, ...]]:
    kept = []
    lost = []
    for span in spans:
        marked = text[span.start : span.end]
        start = span.end - len(marked.lstrip())
        end = span.start + len(marked.rstrip())
        if start >= end:
            change("error on white space only, kept without a place")
            lost.append(UnplacedError(span.severity, span.category, rule=span.rule))
            continue
        if (start, end) != (span.start, span.end):
            change("white space at the ends of a span trimmed")
        kept.append(replace(span, start=start, end=end))
    return tuple(kept), tuple(lost)


def split(
    ratings: Iterable[Rating], shares: Mapping[str, float], *, seed: int, number: int = 1
) -> dict[str, list[Rating]]:
    """Returns the ratings in "train" and in parts with a share of the distinct sources each; a source is in one part.

    Args:
        ratings: the ratings.
        shares: name and share of each part besides "train".
        seed: random seed.
        number: which of the independent splits of a seed.

    Raises:
        InputError: if there are fewer sources than parts.

    >>> from matese.annotation import Segment
    >>> ratings = [Rating(Segment("b", source), None, ()) for source in ("one", "One.", "two")]
    >>> {name: len(part) for name, part in split(ratings, {"dev": 0.5}, seed=0).items()}
    {'train': 2, 'dev': 1}
    """
    parts: dict[str, list[Rating]] = {"train": [], **{name: [] for name in shares}}
    sources: dict[str, list[Rating]] = defaultdict(list)
    for rating in ratings:
        sources[normalise(rating.segment.source or rating.segment.hypothesis)].append(rating)
    if len(sources) <= len(shares):
        raise InputError(
            f"{counted(len(sources), 'source')} cannot be split into {len(shares) + 1} parts; give more ratings"
        )
    # By hash, so that further data hardly change where a source belongs.
    drawn = sorted(sources, key=lambda source: hashlib.sha256(f"{seed}|{number}|{source}".encode()).digest())
    start = 0
    for name, share in shares.items():
        end = start + max(1, round(share * len(drawn)))
        parts[name] = [rating for source in drawn[start:end] for rating in sources[source]]
        start = end
    parts["train"] = [rating for source in drawn[start:] for rating in sources[source]]
    return parts


def normalise(text: str) -> str:
    """Returns the normal form in which texts are compared: letters, digits and marks in NFKC, case-folded.

    White space, punctuation and symbols are ignored because the files of a test set differ in them (quotation marks,
    final stops). Of a text without other characters, only the white space at the ends is removed.

    >>> normalise('""Late  Night"" host'), normalise('“Late Night” host.'), normalise(" … ")
    ('latenighthost', 'latenighthost', '...')
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = "".join(character for character in folded if unicodedata.category(character)[0] in "LMN")
    return kept or "".join(folded.split())

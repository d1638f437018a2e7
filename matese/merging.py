"""Several raters' Ratings of one segment into one: the rater merging of Perrella et al. 2022, section 2.1.

Nothing here depends on the order in which ratings or errors are given: they are sorted before a choice is drawn. Nor
does it depend on other segments: a choice is drawn with the text of the segment as seed.
"""

from __future__ import annotations

import random
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from matese.annotation import ErrorSpan, Omission, Placed, Rating, UnplacedError, WholeJudgement, severities
from matese.errors import InputError
from matese.text.ranges import overlap

MergeMethod = Literal["union", "majority"]


def merge(ratings: Sequence[Rating], *, method: MergeMethod = "union", rng: random.Random | None = None) -> Rating:
    """Returns one rating that stands for all: their errors, none of which overlaps another.

    "union" considers every span that some rater marked; "majority" each span of which more than half of the raters, its
    own included, marked some character. Of considered spans that overlap, one stays: see `resolve_overlaps`. It keeps
    its place, severity and category. Omissions are merged alike, those of the source and of each reference apart.
    Errors without a place cannot be matched one by one, so of each severity and category there are as many as one rater
    (union), or more than half of the raters (majority), counted at least. The rater is named after all raters, "r1+r2";
    `overall` and `estimate` are means where every rating has one on one scale, else None.

    Args:
        ratings: one a rater, all of one segment.
        method: "union" or "majority".
        rng: draws which of two overlapping spans of one severity stays (default: seeded with the hypothesis).

    Raises:
        InputError: if a rating has no spans (`errors` is None), the method is unknown, there are no ratings, or they
            judge different segments.
    """
    if method not in get_args(MergeMethod):
        raise InputError(f"merging method {method!r}: must be one of {', '.join(get_args(MergeMethod))}")
    ordered = sorted(ratings, key=lambda rating: (rating.rater or "", repr(rating)))
    errors = tuple(_errors(rating) for rating in ordered)
    segments = {rating.segment for rating in ordered}
    if len(segments) != 1:
        raise InputError(f"cannot merge ratings of {len(segments)} segments; give ratings of one segment")
    n_needed = 1 if method == "union" else len(ordered) // 2 + 1
    segment = segments.pop()
    if rng is None:
        rng = random.Random(f"merge|{segment.hypothesis}")
    return Rating(
        segment=segment,
        rater="+".join(sorted({rating.rater for rating in ordered if rating.rater is not None})) or None,
        errors=resolve_overlaps(_agreed(errors, n_needed), rng=rng),
        source_errors=resolve_overlaps(_agreed([rating.source_errors for rating in ordered], n_needed), rng=rng),
        omissions=_merged_omissions([rating.omissions for rating in ordered], n_needed, rng),
        unplaced=_agreed_unplaced([rating.unplaced for rating in ordered], n_needed),
        overall=_mean([rating.overall for rating in ordered]),
        estimate=_mean([rating.estimate for rating in ordered]),
    )


def resolve_overlaps(spans: Iterable[Placed], *, rng: random.Random) -> tuple[Placed, ...]:
    """Returns spans of one text of which no two overlap, in the order of their places.

    Where two overlap, even in part, the less severe one yields (an undecided one to all); of two with one severity
    one is chosen at random. Every span that goes overlaps one that stays and is no less severe.

    >>> from matese.annotation import Severity
    >>> minor, major = ErrorSpan(0, 4, Severity.MINOR), ErrorSpan(3, 9, Severity.MAJOR)
    >>> resolve_overlaps([minor, major], rng=random.Random(0)) == (major,)
    True
    """
    drawn = sorted(spans, key=_order)
    rng.shuffle(drawn)
    kept: list[Placed] = []
    # The sort is stable: within one severity the drawn order stands.
    for span in sorted(drawn, key=lambda span: -severities.rank(span.severity)):
        if not any(overlap(span, kept_span) for kept_span in kept):
            kept.append(span)
    return tuple(sorted(kept, key=_order))


def _errors(rating: Rating) -> tuple[ErrorSpan, ...]:
    if rating.errors is None:
        raise InputError(f"rating of {rating.rater} without spans (errors is None): only spans can be merged")
    return rating.errors


def _merged_omissions(marks: Sequence[Sequence[Omission]], n_needed: int, rng: random.Random) -> tuple[Omission, ...]:
    texts = sorted({omission.text_name for omissions in marks for omission in omissions})
    return tuple(
        omission
        for text in texts
        for omission in resolve_overlaps(
            _agreed([[mark for mark in of_rater if mark.text_name == text] for of_rater in marks], n_needed), rng=rng
        )
    )


def _agreed(marks: Sequence[Sequence[Placed]], n_needed: int) -> list[Placed]:
    """Returns the spans of which at least `n_needed` raters, the one who set it counted, marked some part."""
    return [
        span
        for spans in marks
        for span in spans
        if sum(any(overlap(span, mark) for mark in of_rater) for of_rater in marks) >= n_needed
    ]


def _agreed_unplaced(marks: Sequence[Sequence[UnplacedError]], n_needed: int) -> tuple[UnplacedError, ...]:
    """Returns each kind of error as often as at least `n_needed` raters noted it."""
    counts = [Counter(errors) for errors in marks]
    kinds = sorted(set().union(*counts), key=lambda error: (severities.rank(error.severity), error.category or ""))
    return tuple(
        error for error in kinds for _ in range(sorted((count[error] for count in counts), reverse=True)[n_needed - 1])
    )


def _mean(of_raters: Sequence[WholeJudgement | None]) -> WholeJudgement | None:
    wholes = [whole for whole in of_raters if whole is not None]
    if len(wholes) < len(of_raters) or len({whole.scale for whole in wholes}) != 1:
        return None
    if len(wholes) == 1:
        return wholes[0]
    return type(wholes[0])(statistics.fmean(whole.value for whole in wholes), wholes[0].scale)


def _order(span: ErrorSpan | Omission) -> tuple[int, int, int, str, float]:
    """A total order, so that equal inputs in any order are drawn from alike."""
    confidence = -1.0 if span.confidence is None else span.confidence
    return span.start, span.end, severities.rank(span.severity), span.category or "", confidence

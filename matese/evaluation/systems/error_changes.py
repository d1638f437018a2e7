"""What became of the errors of one version of a system in another: fixed, introduced, softened, worsened or kept.

The two hypotheses differ, so the errors of the first are projected onto the text of the second. Words that both share
keep their place, replaced words take the place of their replacement (word by word if the numbers are equal), and
deleted words have no place. The projected errors are then matched with those of the second one to one
(`span_matching.match`, MPP). Omissions from a text that both have in common keep their place. Errors in the source and
errors without a place are left out. A blank translation of a text is one error: it is introduced, and fixes no other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matese import mqm
from matese.annotation import ErrorSpan, Omission, Rating, Segment, Severity
from matese.annotation.severities import COUNTED
from matese.evaluation.spans import span_matching
from matese.evaluation.spans.rating_pairs import counted_omissions, counted_spans
from matese.text.ranges import Piece, project_range, sequence_edits
from matese.text.words import word_ranges

_APART = 10**9
"""Characters from the beginning of a text to that of the next one, more than any text has."""
CHANGES = ("fixed", "introduced", "softened", "worsened", "kept")


@dataclass(frozen=True, slots=True)
class Changes:
    """What became of the errors between two versions of one segment.

    Attributes:
        before: one of `CHANGES` for each error of the first hypothesis; None for those that do not count.
        after: the same for the second hypothesis.
        omissions_before: the same for the omissions of the first.
        omissions_after: the same for the omissions of the second.
        blank: what became of a blank translation, or of a translation that is now blank; None if neither is blank.
    """

    before: tuple[str | None, ...]
    after: tuple[str | None, ...]
    omissions_before: tuple[str | None, ...] = ()
    omissions_after: tuple[str | None, ...] = ()
    blank: str | None = None

    def counts(self) -> Mapping[str, int]:
        """Returns the number of errors of each change; a matched pair counts once."""
        counts = Counter((*self.after, *self.omissions_after, self.blank))
        counts["fixed"] += (*self.before, *self.omissions_before).count("fixed")
        return {change: counts[change] for change in CHANGES}


def changes(before: Rating, after: Rating) -> Changes:
    """Returns what became of the errors. Critical ones count as Major, Neutral and undecided ones do not count.

    Raises:
        InputError: if a rating has no spans.
    """
    olds = counted_spans(before)
    news = counted_spans(after)
    blank = _change_of_blank(before.segment, after.segment)
    if mqm.is_untranslated(after.segment):
        return Changes(
            before=(None,) * len(before.errors or ()),
            after=(None,) * len(after.errors or ()),
            omissions_before=(None,) * len(before.omissions),
            omissions_after=(None,) * len(after.omissions),
            blank=blank,
        )
    places = project(olds, before.segment.hypothesis, after.segment.hypothesis)
    old_changes, new_changes = _matched(
        [place and ErrorSpan(*place, span.severity) for place, span in zip(places, olds, strict=True)], news
    )
    return Changes(
        _of_all(before.errors or (), old_changes),
        _of_all(after.errors or (), new_changes),
        *_changes_of_omissions(before, after),
        blank,
    )


def _change_of_blank(before: Segment, after: Segment) -> str | None:
    """Returns what became of a blank translation, itself an error; None if neither translation is blank."""
    was_blank = mqm.is_untranslated(before)
    if mqm.is_untranslated(after):
        return "kept" if was_blank else "introduced"
    return "fixed" if was_blank else None


def _matched(olds: Sequence[ErrorSpan | None], news: Sequence[ErrorSpan]) -> tuple[list[str], list[str]]:
    """Returns the changes of the errors before, at their places in the text after, and of the errors after."""
    placed = [number for number, span in enumerate(olds) if span is not None]
    moved = [span for span in olds if span is not None]
    old_changes = ["fixed"] * len(olds)
    new_changes = ["introduced"] * len(news)
    for match in span_matching.match(moved, news, "mpp"):
        old = moved[match.gold].severity
        new = news[match.predicted].severity
        change = "kept"
        if old is not new:
            change = "softened" if new is Severity.MINOR else "worsened"
        old_changes[placed[match.gold]] = change
        new_changes[match.predicted] = change
    return old_changes, new_changes


def _changes_of_omissions(before: Rating, after: Rating) -> tuple[tuple[str | None, ...], tuple[str | None, ...]]:
    """Returns the changes of the omissions before and after; those from one text are matched if it has not changed."""
    numbers: dict[tuple[str, str | None], int] = {}  # of the texts, which are laid end to end

    def spans(rating: Rating) -> list[ErrorSpan]:
        placed = []
        for omission in counted_omissions(rating):
            text = (omission.text_name, omission.context(rating.segment))
            start = _APART * numbers.setdefault(text, len(numbers))
            severity = omission.severity and COUNTED[omission.severity]
            placed.append(ErrorSpan(start + omission.start, start + omission.end, severity))
        return placed

    old_changes, new_changes = _matched(spans(before), spans(after))
    return _of_all(before.omissions, old_changes), _of_all(after.omissions, new_changes)


def project(spans: Sequence[ErrorSpan], before: str, after: str) -> list[tuple[int, int] | None]:
    """Returns the ranges of spans in another text, None for those whose words were deleted.

    >>> project([ErrorSpan(8, 12, None)], "Das ist rot.", "Das war blau.")
    [(8, 13)]
    """
    if before == after:
        return [(span.start, span.end) for span in spans]
    old = word_ranges(before)
    new = word_ranges(after)
    words = ([text[start:end] for start, end in ranges] for text, ranges in ((before, old), (after, new)))
    pieces: list[Piece] = []
    for kind, first, last, low, high in sequence_edits(*words) if spans else ():
        if kind == "equal" or (kind == "replace" and last - first == high - low):  # word by word
            pieces += map(Piece, old[first:last], new[low:high], [kind == "equal"] * (last - first))
        elif kind == "replace":
            replacement = (new[low][0], new[high - 1][1])
            pieces += [Piece(place, replacement, is_same=False) for place in old[first:last]]
    return [project_range(span.start, span.end, pieces) for span in spans]


def _of_all(errors: Sequence[ErrorSpan | Omission], changes: Sequence[str]) -> tuple[str | None, ...]:
    """Returns the change of each error, given those of the errors that count."""
    remaining = iter(changes)
    return tuple(next(remaining) if error.severity in COUNTED else None for error in errors)

"""Edits of an annotation by people: how many spans they kept, changed, removed and added."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass

from matese.annotation import ErrorSpan, Rating
from matese.errors import InputError
from matese.evaluation.spans import span_matching
from matese.evaluation.spans.span_matching import MatchingRules

_RULES = MatchingRules(severity_penalty=0.01)
"""Enough to prefer, of two spans at one place, the one with the same severity."""


@dataclass(frozen=True, slots=True)
class AnnotationChanges:
    """Numbers of spans in the hypothesis, and of ratings; they can be added.

    A moved span has another start or end, a relabelled one another severity or category at the same place.
    """

    kept: int = 0
    moved: int = 0
    relabelled: int = 0
    removed: int = 0
    added: int = 0
    ratings: int = 0
    untouched: int = 0

    def __add__(self, other: AnnotationChanges) -> AnnotationChanges:
        return AnnotationChanges(*map(sum, zip(astuple(self), astuple(other), strict=True)))

    @property
    def n_before(self) -> int:
        """Number of spans before the edits."""
        return self.kept + self.moved + self.relabelled + self.removed

    def __str__(self) -> str:
        """Returns all numbers in one line."""
        changed = f"{self.moved + self.relabelled:,} changed ({self.moved:,} moved, {self.relabelled:,} relabelled)"
        spans = (
            f"of {self.n_before:,} spans: {self.kept:,} kept, {changed}, {self.removed:,} removed; {self.added:,} added"
        )
        return f"{spans}; {self.untouched:,} of {self.ratings:,} ratings untouched"


def compare(before: Sequence[ErrorSpan], after: Sequence[ErrorSpan]) -> AnnotationChanges:
    """Returns the edits of one hypothesis.

    Spans are matched one to one by their overlap (`span_matching`), those with the same severity first.

    >>> from matese.annotation import Severity
    >>> before = [ErrorSpan(0, 3, Severity.MINOR), ErrorSpan(5, 9, Severity.MAJOR)]
    >>> edits = compare(before, [ErrorSpan(0, 4, Severity.MINOR), ErrorSpan(5, 9, Severity.MAJOR)])
    >>> edits.kept, edits.moved, edits.removed, edits.added
    (1, 1, 0, 0)
    """
    matches = span_matching.match(before, after, rules=_RULES)
    pairs = [(before[match.gold], after[match.predicted]) for match in matches]
    placed = [(old, new) for old, new in pairs if (old.start, old.end) == (new.start, new.end)]
    kept = sum((old.severity, old.category) == (new.severity, new.category) for old, new in placed)
    n_others = (len(pairs) - len(placed), len(placed) - kept, len(before) - len(pairs), len(after) - len(pairs))
    return AnnotationChanges(kept, *n_others, 1, int(kept == len(before) == len(after)))


def measure(before: Iterable[Rating], after: Iterable[Rating]) -> AnnotationChanges:
    """Returns the edits of all ratings, which are matched by the key and hypothesis of their segments.

    If several earlier ratings are of one segment, the first one counts. Ratings of other segments do not count.

    Raises:
        InputError: if no rating of `after` is of a segment of `before`.
    """
    spans_of: dict[object, tuple[ErrorSpan, ...]] = {}
    for rating in before:
        spans_of.setdefault((rating.segment.key, rating.segment.hypothesis), rating.errors or ())
    edits = AnnotationChanges()
    for rating in after:
        spans = spans_of.get((rating.segment.key, rating.segment.hypothesis))
        if spans is not None:
            edits += compare(spans, rating.errors or ())
    if not edits.ratings:
        raise InputError("no rating belongs to a segment that was given before; texts and keys must be the same")
    return edits

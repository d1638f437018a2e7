"""Edits of an annotation by people: how many marks they kept, changed, removed and added."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass

from matese.annotation import ErrorSpan, Omission, Rating, UnplacedError
from matese.errors import InputError
from matese.evaluation.spans import span_matching
from matese.evaluation.spans.span_matching import MatchingRules

_RULES = MatchingRules(severity_penalty=0.01)
"""Enough to prefer, of two spans at one place, the one with the same severity."""


@dataclass(frozen=True, slots=True)
class AnnotationChanges:
    """Numbers of marks, and of ratings; they can be added. Marks are spans, missing words, and errors without a place.

    A moved mark has another start or end, a relabelled one another severity or category at the same place.
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
        """Number of marks before the edits."""
        return self.kept + self.moved + self.relabelled + self.removed

    def __str__(self) -> str:
        """Returns all numbers in one line."""
        changed = f"{self.moved + self.relabelled:,} changed ({self.moved:,} moved, {self.relabelled:,} relabelled)"
        marks = (
            f"of {self.n_before:,} marks: {self.kept:,} kept, {changed}, {self.removed:,} removed; {self.added:,} added"
        )
        return f"{marks}; {self.untouched:,} of {self.ratings:,} ratings untouched"


def compare(before: Rating, after: Rating) -> AnnotationChanges:
    """Returns the edits of one segment.

    Marks of one text are matched one to one by their overlap (`span_matching`), those with the same severity first;
    errors without a place, the same ones first.

    >>> from matese.annotation import Segment, Severity
    >>> spans = (ErrorSpan(0, 3, Severity.MINOR), ErrorSpan(5, 9, Severity.MAJOR))
    >>> before = Rating(Segment("Ein guter Hund"), "model", spans)
    >>> edits = compare(before, Rating(before.segment, "anna", (ErrorSpan(0, 4, Severity.MINOR), spans[1])))
    >>> edits.kept, edits.moved, edits.removed, edits.added
    (1, 1, 0, 0)
    """
    old = _by_text(before)
    new = _by_text(after)
    of_texts = [_compare_spans(old.get(text, ()), new.get(text, ())) for text in old.keys() | new.keys()]
    edits = sum([*of_texts, _compare_unplaced(before.unplaced, after.unplaced)], AnnotationChanges())
    is_untouched = edits.kept == edits.n_before and not edits.added
    return edits + AnnotationChanges(ratings=1, untouched=int(is_untouched))


def _by_text(rating: Rating) -> dict[object, list[ErrorSpan]]:
    """Returns the marks of each text as spans; missing words are not those that are wrong in the same text."""
    spans: dict[object, list[ErrorSpan]] = {
        "hypothesis": list(rating.errors or ()),
        "source": list(rating.source_errors),
    }
    for omission in rating.omissions:
        spans.setdefault((Omission, omission.text_name), []).append(
            ErrorSpan(omission.start, omission.end, omission.severity, omission.category)
        )
    return spans


def _compare_spans(before: Sequence[ErrorSpan], after: Sequence[ErrorSpan]) -> AnnotationChanges:
    matches = span_matching.match(before, after, rules=_RULES)
    pairs = [(before[match.gold], after[match.predicted]) for match in matches]
    placed = [(old, new) for old, new in pairs if (old.start, old.end) == (new.start, new.end)]
    kept = sum((old.severity, old.category) == (new.severity, new.category) for old, new in placed)
    return AnnotationChanges(
        kept, len(pairs) - len(placed), len(placed) - kept, len(before) - len(pairs), len(after) - len(pairs)
    )


def _compare_unplaced(before: Sequence[UnplacedError], after: Sequence[UnplacedError]) -> AnnotationChanges:
    n_paired = min(len(before), len(after))
    kept = (Counter(before) & Counter(after)).total()
    return AnnotationChanges(
        kept, relabelled=n_paired - kept, removed=len(before) - n_paired, added=len(after) - n_paired
    )


def measure(before: Iterable[Rating], after: Iterable[Rating]) -> AnnotationChanges:
    """Returns the edits of all ratings, which are matched by the key and hypothesis of their segments.

    If several earlier ratings are of one segment, the first one counts. Ratings of other segments do not count, nor do
    ratings for which nobody has judged the words, or whose annotation was not understood.

    Raises:
        InputError: if no rating of `after` is of a segment of `before`.
    """
    first: dict[object, Rating] = {}
    for rating in before:
        first.setdefault((rating.segment.key, rating.segment.hypothesis), rating)
    edits = AnnotationChanges()
    for rating in after:
        earlier = first.get((rating.segment.key, rating.segment.hypothesis))
        if earlier is not None and rating.errors is not None:
            edits += compare(earlier, rating)
    if not edits.ratings:
        raise InputError("no rating belongs to a segment that was given before; texts and keys must be the same")
    return edits

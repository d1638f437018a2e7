from __future__ import annotations

import pytest

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity
from matese.evaluation.spans.annotation_changes import AnnotationChanges, compare, measure

MINOR = Severity.MINOR
MAJOR = Severity.MAJOR


def span(start: int, end: int, severity: Severity | None = MINOR, category: str | None = None) -> ErrorSpan:
    return ErrorSpan(start, end, severity, category)


@pytest.mark.parametrize(
    ("before", "after", "edits"),
    [
        ([], [], AnnotationChanges(ratings=1, untouched=1)),
        ([span(0, 2)], [span(0, 2)], AnnotationChanges(kept=1, ratings=1, untouched=1)),
        ([ErrorSpan(0, 2, MINOR, None, 0.3)], [span(0, 2)], AnnotationChanges(kept=1, ratings=1, untouched=1)),
        ([span(0, 2)], [span(0, 2, MAJOR)], AnnotationChanges(relabelled=1, ratings=1)),
        ([span(0, 2)], [span(0, 2, MINOR, "c")], AnnotationChanges(relabelled=1, ratings=1)),
        ([span(0, 2)], [span(1, 3, MAJOR)], AnnotationChanges(moved=1, ratings=1)),
        ([span(0, 2)], [span(2, 3)], AnnotationChanges(removed=1, added=1, ratings=1)),
        ([span(0, 2)], [], AnnotationChanges(removed=1, ratings=1)),
        ([span(0, 9)], [span(0, 2), span(4, 8)], AnnotationChanges(moved=1, added=1, ratings=1)),
        ([span(0, 2), span(0, 2, MAJOR)], [span(0, 2, MAJOR)], AnnotationChanges(kept=1, removed=1, ratings=1)),
    ],
)
def test_what_becomes_of_spans(before: list[ErrorSpan], after: list[ErrorSpan], edits: AnnotationChanges) -> None:
    assert compare(before, after) == edits
    assert edits.n_before == len(before)


def test_ratings_are_found_again_by_key_and_text() -> None:
    first, second = (Segment("abc", "s", key=SegmentKey(index=i)) for i in range(2))
    before = [Rating(first, "model", (span(0, 1),)), Rating(second, "model", (span(1, 2),))]
    without_source = Segment("abc", key=SegmentKey(index=1))
    after = [Rating(without_source, rater, errors) for rater, errors in (("a", (span(1, 2),)), ("b", ()))]
    assert measure(before, after) == AnnotationChanges(kept=1, removed=1, ratings=2, untouched=1)
    with pytest.raises(ValueError, match="no rating belongs to a segment that was given before"):
        measure(before, [Rating(Segment("x"), "a", ())])

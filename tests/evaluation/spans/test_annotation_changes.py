from __future__ import annotations

from typing import Any

import pytest

from matese.annotation import ErrorSpan, Omission, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.evaluation.spans.annotation_changes import AnnotationChanges, compare, measure

MINOR = Severity.MINOR
MAJOR = Severity.MAJOR


def span(start: int, end: int, severity: Severity | None = MINOR, category: str | None = None) -> ErrorSpan:
    return ErrorSpan(start, end, severity, category)


def missing(one: ErrorSpan, text: Any, reference: int | None) -> Omission:
    return Omission(text, reference, one.start, one.end, one.severity, one.category, one.confidence)


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
    segment = Segment("abcdefghi", "abcdefghi", ("abcdefghi",))
    assert compare(Rating(segment, "model", tuple(before)), Rating(segment, "a", tuple(after))) == edits
    assert edits.n_before == len(before)
    for text, reference in (("source", None), ("reference", 0)):  # missing words likewise
        old, new = (
            Rating(segment, None, (), omissions=tuple(missing(one, text, reference) for one in spans))
            for spans in (before, after)
        )
        assert compare(old, new) == edits


@pytest.mark.parametrize(
    ("before", "after", "edits"),
    [
        ({"omissions": ("source", None)}, {"omissions": ("source", None)}, AnnotationChanges(kept=1, untouched=1)),
        ({"omissions": ("source", None)}, {"omissions": ("reference", 0)}, AnnotationChanges(removed=1, added=1)),
        ({"omissions": ("source", None)}, {"source_errors": True}, AnnotationChanges(removed=1, added=1)),
        ({"source_errors": True}, {"source_errors": True}, AnnotationChanges(kept=1, untouched=1)),
        ({}, {"omissions": ("source", None)}, AnnotationChanges(added=1)),
        ({"unplaced": (MINOR, MAJOR)}, {"unplaced": (MAJOR,)}, AnnotationChanges(kept=1, removed=1)),
        ({"unplaced": (MINOR,)}, {"unplaced": (MAJOR, MAJOR)}, AnnotationChanges(relabelled=1, added=1)),
    ],
)
def test_marks_of_other_kinds(before: dict[str, Any], after: dict[str, Any], edits: AnnotationChanges) -> None:
    def rating(marks: dict[str, Any]) -> Rating:
        return Rating(
            Segment("abc", "abc", ("abc",)),
            None,
            (),
            source_errors=(span(0, 2),) if "source_errors" in marks else (),
            omissions=(missing(span(0, 2), *marks["omissions"]),) if "omissions" in marks else (),
            unplaced=tuple(map(UnplacedError, marks.get("unplaced", ()))),
        )

    assert compare(rating(before), rating(after)) == edits + AnnotationChanges(ratings=1)


def test_what_is_not_judged_is_not_removed() -> None:
    segment = Segment("abc", key=SegmentKey(index=0))
    before = [Rating(segment, "model", (span(0, 1),))]
    after = [Rating(segment, "a", None), Rating(segment, "b", ())]
    assert measure(before, after) == AnnotationChanges(removed=1, ratings=1)


def test_ratings_are_found_again_by_key_and_text() -> None:
    first, second = (Segment("abc", "s", key=SegmentKey(index=i)) for i in range(2))
    before = [Rating(first, "model", (span(0, 1),)), Rating(second, "model", (span(1, 2),))]
    without_source = Segment("abc", key=SegmentKey(index=1))
    after = [Rating(without_source, rater, errors) for rater, errors in (("a", (span(1, 2),)), ("b", ()))]
    assert measure(before, after) == AnnotationChanges(kept=1, removed=1, ratings=2, untouched=1)
    with pytest.raises(ValueError, match="no rating belongs to a segment that was given before"):
        measure(before, [Rating(Segment("x"), "a", ())])

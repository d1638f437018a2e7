from __future__ import annotations

import pytest

from matese.annotation import ErrorSpan, Overall, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.checks import checker, marks, numbers, words

MAJOR = Severity.MAJOR
KEY = SegmentKey(lang_pair="en-de_CH", index=3)


@pytest.mark.parametrize(
    ("segment", "is_error"),
    [
        (Segment(""), True),
        (Segment(" \n", "Yes"), True),
        (Segment("", ""), False),
        (Segment("", " ", (" ",)), False),
        (Segment("", "", ("Ja",)), True),
    ],
)
def test_empty_hypotheses(segment: Segment, is_error: bool) -> None:
    found = checker.check(segment)
    assert found.errors == ()
    assert found.unplaced == ((UnplacedError(MAJOR, checker.EMPTY),) if is_error else ())


def test_a_copy_is_the_only_finding() -> None:
    source = "He has paid 15 pounds (he."
    found = checker.check(Segment(f" {source} ", source, key=KEY))
    assert found.errors == (ErrorSpan(1, len(source) + 1, MAJOR, words.UNTRANSLATED),)
    assert checker.check(Segment(source, source, (source,))).errors == ()
    assert checker.check(Segment(source, source, key=SegmentKey(lang_pair="en_US-en_GB"))).errors == ()


def test_all_at_once_and_who_says_so() -> None:
    segment = Segment("Es kostet kostet kostet 15 € (мир", "It costs €17 at %s in 2020.", key=KEY)
    (found,) = checker.annotate_segments([segment])
    assert found.rater is not None
    assert found.rater.startswith("matese|checks:all|lang_pair:en-de_CH|version:")
    assert [(error.category, segment.hypothesis[error.start : error.end]) for error in found.errors or ()] == [
        (words.REPEATED, "kostet kostet"),
        (numbers.CHANGED, "15"),
        (marks.UNPAIRED, "("),
        (words.FOREIGN, "мир"),
    ]
    assert [error.category for error in found.source_errors] == [marks.LOST, numbers.MISSING]


def test_beside_a_model() -> None:
    segment = Segment("Es kostet 15 €.", "It costs €17.")
    rating = Rating(segment, "matese|model:m", (ErrorSpan(3, 9, MAJOR, None, 0.5),), overall=Overall(-5, "mqm"))
    both = checker.beside(rating)
    assert both.rater == "matese|model:m|checks:all|lang_pair:unknown"
    assert both.errors == (*(rating.errors or ()), ErrorSpan(10, 12, MAJOR, numbers.CHANGED))
    assert both.overall == rating.overall

from __future__ import annotations

from collections import Counter

import pytest

from data_prep import cleaning, report
from matese.annotation import ErrorSpan, Overall, Rating, Segment, Severity, UnplacedError

MINOR = Severity.MINOR
MAJOR = Severity.MAJOR


def rating(hypothesis: str, *errors: ErrorSpan, source: str | None = None, rater: str = "r") -> Rating:
    return Rating(Segment(hypothesis, source), rater, errors)


def counter() -> tuple[Counter[str], report.Count]:
    counts: Counter[str] = Counter()

    def count(reason: str) -> None:
        counts[reason] += 1

    return counts, count


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ('"', '"'),
        ('""', '"'),
        ('"a"', '"a"'),
        ('""a"" b', '"a" b'),
        ('"""a"" b"', '"a" b'),
        ('"a ""b"" c"', 'a "b" c'),
        ('"a ""b"""', 'a "b"'),
        ('"""a"""', '"a"'),
        ('a "b" ""c""', 'a "b" ""c""'),
        ('5"" and 7"', '5"" and 7"'),
    ],
)
def test_undouble_quotes(text: str, expected: str) -> None:
    assert cleaning.undouble_quotes(text) == expected


def test_offsets_that_count_doubled_marks_are_moved() -> None:
    counts, count = counter()
    doubled = rating('""Eis"" ist gutt', ErrorSpan(12, 16, MINOR), source='""x""')
    plain = cleaning.with_plain_quotes(doubled, count)
    assert plain == rating('"Eis" ist gutt', ErrorSpan(10, 14, MINOR), source='"x"')
    assert counts == {"doubled quotation marks undone": 1}
    given = rating('"Eis" gut', ErrorSpan(0, 2, MINOR))
    assert cleaning.with_plain_quotes(given, count) is given
    assert counts.total() == 1


HAD = [rating("Yuan hadhad a field", ErrorSpan(8, 11, MINOR)), *[rating("Yuan had a field")] * 2]
ALL = [rating("I saw all cars", ErrorSpan(6, 10, MINOR, "Accuracy/Omission")), rating("I saw cars")]


@pytest.mark.parametrize(
    ("raters", "text", "errors", "unplaced", "reason"),
    [
        (HAD, "Yuan had a field", [ErrorSpan(5, 8, MINOR)], [], "rating moved to the text of the other raters"),
        ([rating("I saw cars"), *[rating("I saw red cars")] * 2], "I saw red cars", [], [], None),  # though longer
        # Of equally frequent texts the shortest counts, whatever the order.
        *((raters, "I saw cars", [], [UnplacedError(MINOR, "Accuracy/Omission")],
           "error without a place in the unified text") for raters in (ALL, ALL[::-1])),
    ],
)  # fmt: skip
def test_the_text_of_most_raters_counts(
    raters: list[Rating], text: str, errors: list[ErrorSpan], unplaced: list[UnplacedError], reason: str | None
) -> None:
    counts, count = counter()
    unified = cleaning.unify_texts(raters, count)
    assert {one.segment for one in unified} == {Segment(text)}
    assert [error for one in unified for error in one.errors or ()] == errors
    assert [error for one in unified for error in one.unplaced] == unplaced
    assert reason is None or counts[reason] == 1


def test_sources_are_unified_and_their_spans_moved() -> None:
    _, count = counter()
    typed = Rating(Segment("b", "aa so"), "r1", (), source_errors=(ErrorSpan(3, 5, MINOR),))
    unified = cleaning.unify_texts([typed, rating("b", source="a so"), rating("b", source="a so")], count)
    assert unified[0].segment.source == "a so"
    assert unified[0].source_errors == (ErrorSpan(2, 4, MINOR),)


@pytest.mark.parametrize(
    ("text", "span", "expected"),
    [
        ("a b", (0, 3), (0, 3)),
        (" a ", (0, 3), (1, 2)),
        ("a b c", (1, 4), (2, 3)),
        ("a  b", (1, 3), None),
        ("a\u3000b", (1, 2), None),
        ("a\u3000b", (1, 3), (2, 3)),
    ],
)
def test_spans_are_trimmed(text: str, span: tuple[int, int], expected: tuple[int, int] | None) -> None:
    counts, count = counter()
    given = Rating(Segment(text, text), "r", (ErrorSpan(*span, MINOR),), source_errors=(ErrorSpan(*span, MAJOR),))
    trimmed = cleaning.trim(given, count)
    if expected is None:
        assert (trimmed.errors, trimmed.source_errors) == ((), ())
        assert trimmed.unplaced == (UnplacedError(MINOR), UnplacedError(MAJOR))
        assert counts == {"error on white space only, kept without a place": 2}
    else:
        assert trimmed.errors == (ErrorSpan(*expected, MINOR),)
        assert trimmed.source_errors == (ErrorSpan(*expected, MAJOR),)
        assert counts == ({} if span == expected else {"white space at the ends of a span trimmed": 2})


def test_the_score_is_that_of_everything_marked() -> None:
    given = Rating(
        Segment("a b", "c"), "r", (ErrorSpan(0, 1, MAJOR),), (ErrorSpan(0, 1, MINOR),), unplaced=(UnplacedError(MAJOR),)
    )
    assert cleaning.with_score(given).overall == Overall(-11.0, "mqm")


@pytest.mark.parametrize(
    ("category", "severity", "reason"),
    [
        ("Accuracy/Omission", MAJOR, "error: Accuracy/Omission"),
        ("accuracy/omission", MINOR, "error: Accuracy/Omission"),
        ("Source error", MINOR, "error: Source error"),
        ("Source error/Grammar", MAJOR, "error: Source error"),
        ("Style/Awkward", Severity.NEUTRAL, "error: Neutral"),
        (None, Severity.NEUTRAL, "error: Neutral"),
        ("Accuracy/Addition", MINOR, None),
        (None, None, None),
    ],
)
def test_what_is_dropped_from_a_rating(category: str | None, severity: Severity | None, reason: str | None) -> None:
    dropped, drop = counter()
    changed, count = counter()
    span = ErrorSpan(0, 1, severity, category)
    unplaced = UnplacedError(severity, category)
    cleaned = cleaning.clean(Rating(Segment("a", "b"), "r", (span,), (span,), unplaced=(unplaced,)), drop, count)
    assert cleaned is not None
    kept = (cleaned.errors, cleaned.source_errors, cleaned.unplaced)
    assert kept == (((span,), (span,), (unplaced,)) if reason is None else ((), (), ()))
    assert dropped == ({} if reason is None else {reason: 3})
    assert not changed


def test_what_cleaning_leaves() -> None:
    _, count = counter()
    assert cleaning.clean(rating("a", ErrorSpan(0, 1, Severity.CRITICAL)), count, count) == rating(
        "a", ErrorSpan(0, 1, MAJOR)
    )
    given = Rating(Segment(" a"), "r", None)
    assert cleaning.clean(given, count, count) == given
    assert cleaning.trim(given, count) == given


@pytest.mark.parametrize("category", ["Non-translation!", "Non-translation", "non-translation"])
def test_a_rating_of_no_translation_is_dropped_as_a_whole(category: str) -> None:
    dropped, drop = counter()
    assert cleaning.clean(rating("a b", ErrorSpan(0, 1, MINOR), ErrorSpan(0, 3, MAJOR, category)), drop, drop) is None
    assert dropped == {"rating: Non-translation": 1}

from __future__ import annotations

from collections import Counter

import pytest

from data_prep import cleaning, report
from matese.annotation import ErrorSpan, Overall, Rating, Segment, Severity

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
    raw = rating('"Eis" gut', ErrorSpan(0, 2, MINOR))
    assert cleaning.with_plain_quotes(raw, count) is raw
    assert counts.total() == 1


@pytest.mark.parametrize("category", ["Non-translation!", "Non-translation", "non-translation"])
def test_an_error_of_no_translation_leaves_the_score_alone(category: str) -> None:
    dropped, drop = counter()
    _, count = counter()
    raw = [rating("a b", ErrorSpan(0, 3, MAJOR, category)), rating("a b", ErrorSpan(0, 1, MINOR), rater="s")]
    (merged,) = cleaning.prepare(raw, drop, count, seed=lambda _: "")
    assert merged == Rating(Segment("a b"), "r+s", None, overall=Overall(-13.0, "mqm"))
    alone, minor = cleaning.prepare(raw, drop, count, seed=lambda _: "", merge="none")
    assert (alone.errors, alone.overall) == (None, Overall(-25.0, "mqm"))
    assert minor.errors == raw[1].errors
    assert dropped["error: Non-translation"] == 2
    assert dropped["error: in a segment with an error of Non-translation"] == 1

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese.annotation import ErrorSpan, Severity
from matese.model.heads.tags.bio import (
    B_MAJOR,
    B_MINOR,
    I_MAJOR,
    I_MINOR,
    O,
    from_spans,
    tokens_within,
)
from matese.text.ranges import Range

MINOR = Severity.MINOR
MAJOR = Severity.MAJOR
WORDS = [(0, 2), (3, 5), (6, 8), (8, 9)]


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([], [O, O, O, O]),
        ([ErrorSpan(2, 3, MINOR)], [O, O, O, O]),  # white space holds no token
        ([ErrorSpan(0, 9, MAJOR)], [B_MAJOR, I_MAJOR, I_MAJOR, I_MAJOR]),
        ([ErrorSpan(0, 2, MINOR), ErrorSpan(3, 5, MINOR)], [B_MINOR, B_MINOR, O, O]),
        ([ErrorSpan(0, 5, MINOR), ErrorSpan(4, 8, MAJOR)], [B_MINOR, B_MAJOR, I_MAJOR, O]),
        # a Major inside a Minor splits it
        ([ErrorSpan(0, 9, MINOR), ErrorSpan(3, 5, MAJOR)], [B_MINOR, B_MAJOR, B_MINOR, I_MINOR]),
        # two that meet inside a token: the earlier has it
        ([ErrorSpan(0, 4, MINOR), ErrorSpan(4, 8, MINOR)], [B_MINOR, I_MINOR, B_MINOR, O]),
        ([ErrorSpan(3, 5, Severity.CRITICAL)], [O, B_MAJOR, O, O]),
        ([ErrorSpan(3, 5, Severity.NEUTRAL), ErrorSpan(6, 8, None)], [O, O, O, O]),
    ],
)
def test_from_spans(spans: list[ErrorSpan], expected: list[int]) -> None:
    assert from_spans(spans, WORDS) == expected


def test_bytes_of_an_emoji_are_one_error() -> None:
    assert from_spans([ErrorSpan(0, 1, MINOR)], [(0, 1), (0, 1), (0, 1)]) == [B_MINOR, I_MINOR, I_MINOR]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4), st.sampled_from([MINOR, MAJOR]))))
def test_an_inner_tag_only_continues_its_own_severity(places: list[tuple[int, int, Severity]]) -> None:
    spans = [ErrorSpan(start, start + width, severity) for start, width, severity in places]
    tags = from_spans(spans, [(place, place + 1) for place in range(14)])
    for before, tag in itertools.pairwise([O, *tags]):
        assert tag not in (I_MINOR, I_MAJOR) or before in (tag - 1, tag)
    covered = {place for span in spans for place in range(span.start, span.end)}
    assert [tag != O for tag in tags] == [place in covered for place in range(14)]


# "你 good😀": a token a word, white space alone, and an emoji in four bytes that share its character
RANGES: list[Range] = [(0, 1), (1, 1), (2, 4), (4, 6), (6, 7), (6, 7), (6, 7), (6, 7)]


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0, 0, range(0)),
        (1, 2, range(0)),  # only white space
        (0, 1, range(1)),
        (0, 7, range(8)),  # the whole text
        (0, 3, range(3)),  # an empty token within
        (3, 5, range(2, 4)),  # parts of two tokens
        (6, 7, range(4, 8)),  # all bytes of one character
    ],
)
def test_tokens_within(start: int, end: int, expected: range) -> None:
    assert tokens_within(start, end, RANGES) == expected


def test_no_tokens() -> None:
    assert tokens_within(0, 5, []) == range(0)


@st.composite
def token_ranges(draw: st.DrawFn) -> list[Range]:
    """Tokens in the order of the text, with gaps, empty ones, and some that share a character."""
    ranges = []
    place = 0
    for gap, width, copies in draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(1, 3)))):
        place += gap
        ranges += [(place, place + width)] * (copies if width == 1 else 1)
        place += width
    return ranges


@given(token_ranges(), st.integers(0, 20), st.integers(1, 10))
def test_tokens_within_are_those_that_share_a_character(ranges: list[Range], start: int, width: int) -> None:
    tokens = tokens_within(start, start + width, ranges)
    for number, (first, last) in enumerate(ranges):
        if first < last:
            assert (number in tokens) == (first < start + width and last > start)

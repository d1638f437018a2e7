from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese import mqm
from matese.annotation import ErrorSpan, Omission, Rating, Segment, Severity, UnplacedError
from matese.evaluation.systems import error_changes
from tests.evaluation.material import major, minor

OLD = "Das Haus am See ist alt."


def rating(text: str, *errors: ErrorSpan) -> Rating:
    return Rating(Segment(text), None, errors)


@pytest.mark.parametrize(
    ("text", "span", "other", "place"),
    [
        (OLD, (4, 8), OLD, (4, 8)),
        (OLD, (4, 8), "Das Haus am See ist neu.", (4, 8)),
        (OLD, (20, 23), "Das Haus am See ist uralt.", (20, 25)),  # replaced
        (OLD, (20, 23), "Das Haus am See ist sehr alt geworden.", (25, 28)),
        (OLD, (4, 8), "Ein Gebäude am See ist alt.", (4, 11)),  # word by word
        (OLD, (4, 8), "Ein altes Gebäude am See ist alt.", (0, 17)),  # or not
        (OLD, (9, 16), "Das Haus ist alt.", None),  # deleted
        (OLD, (5, 11), "Nun: Das Haus am See", (10, 16)),  # a part of a word keeps its part
        (OLD, (3, 4), "Das  Haus", None),  # a space is no word
        (OLD, (0, 24), "", None),
        ("", (0, 1), "Das", None),
        ("很好吃", (1, 2), "非常好吃", (2, 3)),
    ],
)
def test_carry(text: str, span: tuple[int, int], other: str, place: tuple[int, int] | None) -> None:
    assert error_changes.project([ErrorSpan(*span, None)], text, other) == [place]


NEUTRAL = ErrorSpan(0, 1, Severity.NEUTRAL)


@pytest.mark.parametrize(
    ("before", "after", "olds", "news"),
    [
        (rating(OLD), rating(OLD), (), ()),
        (rating(OLD, minor(4, 8)), rating(OLD), ("fixed",), ()),
        (rating(OLD), rating(OLD, minor(4, 8)), (), ("introduced",)),
        (rating(OLD, minor(4, 8)), rating(OLD, minor(4, 8)), ("kept",), ("kept",)),
        (rating(OLD, major(4, 8)), rating(OLD, minor(4, 6)), ("softened",), ("softened",)),
        (rating(OLD, minor(4, 8)), rating(OLD, major(4, 8)), ("worsened",), ("worsened",)),
        (rating(OLD, ErrorSpan(4, 8, Severity.CRITICAL)), rating(OLD, major(4, 8)), ("kept",), ("kept",)),
        (rating(OLD, NEUTRAL, minor(4, 8)), rating(OLD, NEUTRAL), (None, "fixed"), (None,)),
        (
            rating(OLD, major(4, 8), minor(20, 23)),
            rating("Die Hütte am See ist alt.", major(4, 9), minor(10, 12)),
            ("kept", "fixed"),
            ("kept", "introduced"),
        ),
        # The text is gone: its error is fixed, whatever is marked elsewhere.
        (rating("gut gut", major(0, 3)), rating("gut", minor(0, 3)), ("softened",), ("softened",)),
        (rating("sehr gut", major(0, 4)), rating("gut", major(0, 3)), ("fixed",), ("introduced",)),
    ],
)
def test_changes(before: Rating, after: Rating, olds: tuple[str, ...], news: tuple[str, ...]) -> None:
    assert error_changes.changes(before, after) == error_changes.Changes(olds, news)


def omitting(*omissions: Omission, source: str = "Das ist nicht alt.") -> Rating:
    return Rating(Segment(OLD, source, ("Er ist es nicht.",)), None, (), omissions=omissions)


NOT_MAJOR, NOT_MINOR = (Omission("source", None, 8, 13, severity) for severity in (Severity.MAJOR, Severity.MINOR))


@pytest.mark.parametrize(
    ("before", "after", "olds", "news"),
    [
        (omitting(), omitting(NOT_MAJOR), (), ("introduced",)),
        (omitting(NOT_MAJOR), omitting(), ("fixed",), ()),
        (omitting(NOT_MAJOR), omitting(NOT_MINOR), ("softened",), ("softened",)),
        (
            omitting(NOT_MINOR),
            omitting(Omission("source", None, 4, 13, Severity.CRITICAL)),
            ("worsened",),
            ("worsened",),
        ),
        (omitting(NOT_MAJOR), omitting(Omission("reference", 0, 8, 13, Severity.MAJOR)), ("fixed",), ("introduced",)),
        (omitting(NOT_MAJOR), omitting(NOT_MAJOR, source="Das ist nicht neu."), ("fixed",), ("introduced",)),
        (omitting(Omission("source", None, 0, 3, Severity.NEUTRAL), NOT_MAJOR), omitting(), (None, "fixed"), ()),
    ],
)
def test_changes_of_omissions(before: Rating, after: Rating, olds: tuple[str, ...], news: tuple[str, ...]) -> None:
    found = error_changes.changes(before, after)
    assert found == error_changes.Changes((), (), olds, news)
    assert sum(found.counts().values()) == len({*olds, *news} - {None})


def test_a_pair_counts_once() -> None:
    found = error_changes.changes(rating(OLD, major(4, 8), minor(20, 23)), rating(OLD, major(4, 8), minor(0, 3)))
    assert found.counts() == {"fixed": 1, "introduced": 1, "softened": 0, "worsened": 0, "kept": 1}


BLANK = Rating(Segment("", "The house"), None, (), unplaced=(UnplacedError(Severity.MAJOR, "Non-translation"),))


@pytest.mark.parametrize(
    ("before", "after", "counts"),
    [
        (rating(OLD, major(4, 8), minor(9, 11)), BLANK, {"introduced": 1}),
        (BLANK, rating(OLD, major(4, 8)), {"fixed": 1, "introduced": 1}),
        (BLANK, BLANK, {"kept": 1}),
        (omitting(NOT_MAJOR), BLANK, {"introduced": 1}),
    ],
)
def test_a_blank_translation_is_one_error_and_never_a_fix(
    before: Rating, after: Rating, counts: dict[str, int]
) -> None:
    assert +Counter(error_changes.changes(before, after).counts()) == counts


words = st.lists(st.sampled_from(["a", "bb", "c.", "好", ""]), max_size=6).map(" ".join)


@given(words, words, st.data())
def test_every_error_has_one_fate_and_places_lie_in_the_other_text(old: str, new: str, data: st.DataObject) -> None:
    def side(text: str) -> Rating:
        starts = data.draw(st.lists(st.integers(0, len(text) - 1), max_size=3)) if text else []
        return rating(text, *(minor(start, min(len(text), start + 2)) for start in starts))

    before = side(old)
    after = side(new)
    for place in error_changes.project(before.errors or (), old, new):
        assert place is None or 0 <= place[0] < place[1] <= len(new)
    counts = error_changes.changes(before, after).counts()
    if mqm.is_untranslated(after.segment) or mqm.is_untranslated(before.segment):
        return
    matched = counts["kept"] + counts["softened"] + counts["worsened"]
    assert counts["fixed"] + matched == len(before.errors or ())
    assert counts["introduced"] + matched == len(after.errors or ())

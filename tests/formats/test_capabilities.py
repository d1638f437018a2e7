from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese import mqm
from matese.annotation import (
    ErrorSpan,
    Estimate,
    Omission,
    Overall,
    Rating,
    Segment,
    SegmentKey,
    Severity,
    UnplacedError,
)
from matese.annotation.severities import MINOR_MAJOR
from matese.formats.capabilities import EVERYTHING, TABS_AND_LINES, Capabilities, Reducer
from tests.formats import made_ratings

WITHOUT_PLACE = "omissions, written as errors without a place"
KEY = SegmentKey("ted", "en-de", "A", "talk", 3)
FULL = Rating(
    Segment("a\tb", "s", ("r1", "r2"), KEY),
    "me",
    (ErrorSpan(0, 1, Severity.CRITICAL, "c", 0.5), ErrorSpan(1, 2, None), ErrorSpan(2, 3, Severity.NEUTRAL)),
    (ErrorSpan(0, 1, Severity.MINOR),),
    (Omission("source", None, 0, 1, Severity.MAJOR, "e", 0.5), Omission("reference", 1, 0, 2, Severity.MAJOR, "f")),
    (UnplacedError(Severity.NEUTRAL, "d"),),
    Overall(80, "esa"),
    Estimate(70, "esa", 0, 100, 12.5),
)


def reduce(capabilities: Capabilities, rating: Rating = FULL) -> tuple[Rating | None, Counter[str]]:
    reducer = Reducer(capabilities)
    return reducer.reduce(rating), reducer.losses


@given(made_ratings.ratings(), st.sampled_from([None, 7]), st.sampled_from([None, "id 3"]))
def test_a_format_that_holds_everything_takes_ratings_as_they_are(
    ratings: list[Rating], line: int | None, name: str | None
) -> None:
    for one in ratings:
        rating = replace(one, segment=replace(one.segment, line=line, name=name))
        reduced, losses = reduce(EVERYTHING, rating)
        # Nearly everything, so that each part is looked at.
        expected, _ = reduce(replace(EVERYTHING, columns=("other",)), rating)
        assert reduced == expected
        assert reduced is not None
        assert expected is not None
        assert reduced.segment.label == expected.segment.label
        assert not losses


def test_everything_is_held_unless_it_is_said() -> None:
    assert reduce(Capabilities()) == (FULL, Counter())


@pytest.mark.parametrize(
    ("holds", "losses"),
    [
        (
            Capabilities(key=("index",)),
            ["names of test sets", "language pairs", "names of systems", "names of documents"],
        ),
        (Capabilities(references=1), ["references", WITHOUT_PLACE]),
        (Capabilities(references=1, lacks=("unplaced",)), ["references", "omissions", "errors without a place"]),
        (Capabilities(lacks=("source",)), ["sources", "errors in the source", WITHOUT_PLACE]),
        (Capabilities(lacks=("omissions",)), [WITHOUT_PLACE] * 2),
        (Capabilities(lacks=("omissions", "unplaced")), ["omissions"] * 2 + ["errors without a place"]),
        (Capabilities(lacks=("rater",)), ["names of raters"]),
        (Capabilities(lacks=("confidence",)), ["confidences"] * 2),
        (Capabilities(lacks=("source_errors",)), ["errors in the source"]),
        (Capabilities(lacks=("unplaced",)), ["errors without a place"]),
        (Capabilities(scales=("mqm",)), ["overall judgements (esa)", "expected scores (esa)"]),
        (Capabilities(lacks=("estimate",)), ["expected scores (esa)"]),
        (Capabilities(replaced=TABS_AND_LINES), ["characters that the format cannot write"]),
        (Capabilities(needs=("category",)), ["missing categories, written as empty"] * 3),
    ],
)
def test_losses_are_counted_by_kind(holds: Capabilities, losses: list[str]) -> None:
    assert reduce(holds)[1] == Counter(losses)


def test_the_nearest_severity_stands_for_one_that_is_not_held() -> None:
    rating, losses = reduce(Capabilities(severities=MINOR_MAJOR))
    assert rating is not None
    assert [span.severity for span in rating.errors or ()] == [Severity.MAJOR, Severity.MINOR]
    assert rating.unplaced == ()
    assert losses == {
        "severities critical, written as major": 1,
        "severities undecided, written as minor": 1,
        "neutral errors": 2,
    }
    undecided, losses = reduce(Capabilities(severities=()))
    assert undecided is not None
    assert {span.severity for span in undecided.errors or ()} == {None}
    assert losses == {"severities": 6}


def test_omissions_move_with_their_reference() -> None:
    rating = Rating(Segment("a", None, ("", "bc")), None, (), omissions=(Omission("reference", 1, 1, 2, None),))
    reduced, losses = reduce(Capabilities(references=1, lacks=("empty_texts",)), rating)
    assert reduced == Rating(Segment("a", None, ("bc",)), None, (), omissions=(Omission("reference", 0, 1, 2, None),))
    assert losses == {"references": 1}


def test_an_omission_without_its_text_keeps_severity_and_category() -> None:
    reduced, _ = reduce(Capabilities(lacks=("omissions",)))
    assert reduced is not None
    assert reduced.unplaced[1:] == (UnplacedError(Severity.MAJOR, "e"), UnplacedError(Severity.MAJOR, "f"))
    assert mqm.score(reduced) == mqm.score(FULL)


def test_a_rating_without_spans_is_not_one_free_of_errors() -> None:
    rating = Rating(Segment("a"), None, None)
    assert reduce(Capabilities(), rating) == (rating, Counter())
    loss = Counter({"ratings without spans": 1})
    assert reduce(Capabilities(lacks=("no_spans",)), rating) == (None, loss)
    assert reduce(Capabilities(lacks=("no_spans",), texts=True), rating) == (rating, Counter())
    assert reduce(Capabilities(lacks=("no_spans",), texts=True), replace(rating, rater="a")) == (rating, loss)


def test_what_is_needed_is_written_empty_or_counted() -> None:
    reducer = Reducer(Capabilities(needs=("system", "index", "source", "rater")))
    first, second = (reducer.reduce(Rating(Segment("a"), None, ())) for _ in range(2))
    assert first == Rating(Segment("a", "", key=SegmentKey(system="", index=0)), "", ())
    assert second is not None
    assert second.segment.key == SegmentKey(system="", index=1)
    assert reducer.losses == {
        "missing sources, written as empty": 2,
        "missing names of systems, written as empty": 2,
        "missing segment numbers, counted from 0": 2,
        "missing names of raters, written as empty": 2,
    }


def test_offsets_stay_where_characters_are_replaced() -> None:
    rating, _ = reduce(Capabilities(replaced=TABS_AND_LINES))
    assert rating is not None
    assert rating.segment.hypothesis == "a b"
    assert rating.errors == FULL.errors

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from matese.annotation import Rating, Segment, SegmentKey
from matese.errors import InputError
from matese.evaluation import alignment


def one(text: str, source: str | None = None, references: tuple[str, ...] = (), **key: Any) -> Rating:
    return Rating(Segment(text, source, references, SegmentKey(**key) if key else None), None, ())


def test_rating_i_of_each() -> None:
    first = [one("a", "s"), one("b", "t")]
    second = [one("c", "s"), one("d")]
    assert alignment.align({"A": first, "B": second}) == {"A": tuple(first), "B": tuple(second)}


def test_order_by_places() -> None:
    first = [one("a", "s", system="A", index=0), one("b", "t", system="A", index=1)]
    second = [one("c", "t", system="B", index=1), one("d", "s", system="B", index=0)]
    assert alignment.align({"A": first, "B": second})["B"] == (second[1], second[0])


DIFFERS = "rating {} is of different segments: "


@pytest.mark.parametrize(
    ("first", "second", "problem"),
    [
        ([one("a")] * 1200, [one("b")], "A has 1,200 ratings and B 1"),
        (
            [one("a", "s"), one("a", "t")],
            [one("b", "s"), one("b", "u" * 60)],
            f"{DIFFERS.format(2)}source is 't' in A and",
        ),
        ([one("a", None, ("r", "q"))], [one("b", None, ("r", "p"))], f"{DIFFERS.format(1)}reference is"),
        ([one("a", index=1)], [one("b", index=2)], f"{DIFFERS.format(1)}index is 1 in A and 2 in B"),
        (
            [one("a", "s", index=0), one("a", "t", index=1)],
            [one("b", "t", index=1), one("b", "u", index=0)],
            f"{DIFFERS.format(1)}source is 's' in A and 'u' in B",
        ),
    ],
)
def test_what_cannot_be_compared(first: list[Rating], second: list[Rating], problem: str) -> None:
    with pytest.raises(InputError, match=f"^{problem}"):
        alignment.align({"A": first, "B": second})
    with pytest.raises(InputError, match=r"^A is the only system"):
        alignment.align({"A": first})


def test_equal_texts_without_a_place_are_common_as_often_as_all_sides_have_them() -> None:
    sides = [[one(text) for text in texts] for texts in ("aaba", "xaab")]
    assert alignment.common(sides) == [[0, 1, 2], [1, 2, 3]]
    raters = [replace(one("a"), rater=name) for name in ("anna", "ben", "anna")]
    assert alignment.common([raters, [one("a")]]) == [[0, 1], [0]], "all raters of a segment are kept"


def test_systems_are_named_by_their_ratings_or_else_by_their_file() -> None:
    own = one("a", system="A")
    other = one("b", system="B")
    nameless = one("c")
    assert alignment.by_system({"x": [own, other, own], "y": [nameless]}) == {
        "A": (own, own),
        "B": (other,),
        "y": (nameless,),
    }
    assert list(alignment.by_system({"x": [own, other], "y": [own]})) == ["x: A", "B", "y"]

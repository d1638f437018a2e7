from __future__ import annotations

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


@pytest.mark.parametrize(
    ("systems", "problem"),
    [
        ({"A": [one("a")]}, "A is the only system; a comparison needs two or more"),
        (
            {"A": [one("a")] * 1200, "B": [one("b")]},
            "A has 1,200 ratings and B 1; both need one for each segment",
        ),
        (
            {"A": [one("a", "s"), one("a", "t")], "B": [one("b", "s"), one("b", "u" * 60)]},
            f"rating 2 is of different segments: source is 't' in A and '{'u' * 40}...' in B: rating i of each must be",
        ),
        (
            {"A": [one("a", references=("r", "q"))], "B": [one("b", references=("r", "p"))]},
            "rating 1 is of different segments: reference is 'r' in A and 'r' in B",
        ),
        (
            {"A": [one("a", index=1, document="d")], "B": [one("b", index=2, document="d")]},
            "rating 1 is of different segments: index is 1 in A and 2 in B",
        ),
        (
            {
                "A": [one("a", "s", index=0), one("a", "t", index=1)],
                "B": [one("b", "t", index=1), one("b", "u", index=0)],
            },
            "rating 1 is of different segments: source is 's' in A and 'u' in B",
        ),
    ],
)
def test_what_cannot_be_compared(systems: dict[str, list[Rating]], problem: str) -> None:
    with pytest.raises(InputError, match=r".") as caught:
        alignment.align(systems)
    assert str(caught.value).startswith(problem)


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

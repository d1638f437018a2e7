"""Ratings of texts of several sentences, cut into ratings of their pieces."""

from __future__ import annotations

from dataclasses import replace

import pytest

from matese import mqm
from matese.annotation import ErrorSpan, Omission, Overall, Rating, Segment, Severity, UnplacedError
from matese.training import pieces

SEGMENT = Segment(
    "Das Haus ist sehr alt. Der Garten ist groß und grün.",
    "The house is very old. The garden is big and really green.",
    ("Das ist ein sehr altes Haus. Der Garten ist groß und wirklich grün.",),
)
ERRORS = (ErrorSpan(4, 8, Severity.MAJOR), ErrorSpan(18, 26, Severity.MINOR, "Fluency"))
OMISSIONS = (
    Omission("source", None, 45, 51, Severity.MINOR),
    Omission("reference", 0, 53, 61, Severity.MINOR),
)
RATING = Rating(SEGMENT, "rater", ERRORS, omissions=OMISSIONS, overall=Overall(-7.0, "mqm"))


def words(rating: Rating) -> list[str]:
    return [rating.segment.hypothesis[error.start : error.end] for error in rating.errors or ()]


@pytest.mark.parametrize(
    "rating",
    [
        Rating(SEGMENT, "rater", None, overall=Overall(-7.0, "mqm")),
        replace(RATING, unplaced=(UnplacedError(Severity.MAJOR),)),
        Rating(Segment("", "The house."), "rater", ()),
        Rating(Segment("Das Haus ist alt, und der Garten ist groß.", SEGMENT.source), "rater", ()),
        Rating(Segment(SEGMENT.hypothesis, "The house is very old and its garden is very big."), "rater", ()),
        Rating(Segment(SEGMENT.hypothesis), "rater", ()),
    ],
    ids=["no spans", "an error without a place", "blank", "one sentence", "one piece", "no other text"],
)
def test_without_pieces(rating: Rating) -> None:
    assert list(pieces.cut(rating)) == []


def test_each_piece_has_its_own_errors() -> None:
    first, second = pieces.cut(RATING)
    assert first.segment == Segment(
        "Das Haus ist sehr alt.", "The house is very old.", ("Das ist ein sehr altes Haus.",)
    )
    assert second.segment.hypothesis == "Der Garten ist groß und grün."
    assert (words(first), words(second)) == (["Haus", "alt."], ["Der"])
    assert first.omissions == ()
    missing = [
        (
            (second.segment.source or "")
            if omission.reference is None
            else second.segment.references[omission.reference]
        )[omission.start : omission.end]
        for omission in second.omissions
    ]
    assert missing == ["really", "wirklich"]
    assert {piece.overall for piece in (first, second)} == {None}
    assert mqm.score(first) == -6.0


def test_a_piece_has_the_texts_that_are_cut_alike() -> None:
    reference = "Das ist ein sehr altes Haus, und der Garten ist groß und wirklich grün."
    rating = Rating(replace(SEGMENT, references=(reference, SEGMENT.references[0])), None, (), omissions=())
    first, _ = pieces.cut(rating)
    assert first.segment.references == ("Das ist ein sehr altes Haus.",)

"""What `annotate` and `read` return: a list, and more."""

from __future__ import annotations

from pathlib import Path

import pytest

import matese
from matese import ErrorSpan, Rating, Ratings, Segment, Severity

GIVEN = [
    Rating(Segment("Das Haus", "The house"), "anna", (ErrorSpan(4, 8, Severity.MAJOR, "Style"),)),
    Rating(Segment("gut"), None, ()),
]


def test_ratings_behave_as_a_list() -> None:
    ratings = Ratings(GIVEN)
    assert ratings == GIVEN
    assert [*reversed(ratings)] == GIVEN[::-1]
    assert isinstance(ratings[:1], Ratings)
    assert (ratings[:1], ratings[-1]) == (GIVEN[:1], GIVEN[-1])


def test_annotate_returns_them() -> None:
    assert isinstance(matese.annotate(["Das Haus"], references=["Das Haus"]), Ratings)


@pytest.mark.parametrize("given", [[], GIVEN])
def test_tables_have_the_keys_of_jsonl(given: list[Rating]) -> None:
    pandas = Ratings(given).to_pandas()
    polars = Ratings(given).to_polars()
    assert list(pandas.columns) == list(polars.columns)
    assert [str(pandas[name].dtype) for name in ("index", "score", "expected_score")] == ["Int64", "float64", "float64"]
    assert list(pandas["score"]) == polars["score"].to_list() == [-5.0, 0.0][: len(given)]
    assert [[error["text"] for error in errors] for errors in polars["errors"]] == [["Haus"], []][: len(given)]


def test_a_single_rating_is_a_table_of_one_row() -> None:
    assert Ratings.from_frame(GIVEN[0].to_pandas()) == GIVEN[:1]


def test_a_written_file_is_read_back(tmp_path: Path) -> None:
    Ratings(GIVEN).write(tmp_path / "spans.jsonl")
    assert matese.read(tmp_path / "spans.jsonl") == GIVEN


def test_a_notebook_draws_the_first_ratings() -> None:
    assert Ratings()._repr_html_() == "<div>no ratings</div>"
    html = Ratings(GIVEN * 11)._repr_html_()
    assert html.count(">hypothesis<") == 20
    assert html.index(">source<") < html.index(">hypothesis<")
    assert "<sub>major Style</sub>" in html
    assert "<div>2 more ratings</div>" in html

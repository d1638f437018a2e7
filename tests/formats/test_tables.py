"""Ratings as data frames and data sets in Python, where pandas and datasets are installed."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from matese.annotation import Rating, Segment
from matese.formats import FormatError, parquet
from matese.formats.holding import Fitter
from tests.formats.made_ratings import ratings

few = settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])


@few
@given(given_ratings=ratings())
def test_data_frames(given_ratings: list[Rating]) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = parquet.to_pandas(given_ratings)
    assert list(frame["hypothesis"]) == [rating.segment.hypothesis for rating in given_ratings]
    assert list(parquet.from_rows(frame.to_dict("records"))) == held(given_ratings)


@few
@given(given_ratings=ratings())
def test_data_sets(given_ratings: list[Rating]) -> None:
    pytest.importorskip("datasets")
    dataset = parquet.to_dataset(given_ratings)
    assert dataset.column_names == parquet.schema().names
    assert list(parquet.from_rows(dataset)) == held(given_ratings)


def held(given_ratings: list[Rating]) -> list[Rating]:
    """The ratings as the format holds them: a key without content is none."""
    return [one for one in map(Fitter(parquet.HOLDS).fit, given_ratings) if one is not None]


def test_rows_that_are_no_ratings() -> None:
    with pytest.raises(FormatError, match=r"rows:2: "):
        list(parquet.from_rows([{"hypothesis": "a", "errors": []}, {"hypothesis": 3}]))
    assert list(parquet.from_rows([{"hypothesis": "a", "errors": []}])) == [Rating(Segment("a"), None, ())]

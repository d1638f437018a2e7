"""WriteOptions and then reading is the identity for all that a format holds; what it does not hold is counted."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from matese.annotation import Rating
from matese.formats import detection
from matese.formats.capabilities import Reducer
from matese.formats.format import Format, ReadOptions, WriteOptions
from matese.formats.registry import TABLE
from matese.formats.row_issues import RowIssue
from tests.formats.made_ratings import ratings

HOW = WriteOptions()
NEEDS = {"xlsx": "openpyxl", "parquet": "pyarrow", "hf-dataset": "datasets"}
# Written into a copy of the file that the texts came from; see test_localisation.
ON_TEMPLATES = tuple(form.name for form in TABLE if form.is_copy)
# A submission holds segments of its test set only; see corpora/test_wmt26.
OF_TEST_SET = ("wmt26",)
BOTH = [
    pytest.param(form, id=form.name)
    for form in TABLE
    if form.writes and form.read is not None and form.name not in (*ON_TEMPLATES, *OF_TEST_SET)
]


def write(form: Format, ratings: Iterable[Rating], folder: Path) -> Path:
    path = folder / f"written.{form.name}"
    if form.save is not None:
        form.save(ratings, path, HOW)
    elif form.write is not None:
        with open(path, "w", encoding="utf-8", newline="") as stream:
            stream.writelines(form.write(ratings, HOW))
    return path


def fitted(form: Format, given_ratings: Iterable[Rating]) -> tuple[list[Rating], Counter[str]]:
    reducer = Reducer(form.capabilities, adapt=form.adapt)
    return [rating for rating in map(reducer.reduce, given_ratings) if rating is not None], reducer.losses


def read(form: Format, path: Path) -> list[Rating]:
    notes: list[RowIssue] = []
    assert form.read is not None
    return list(form.read(path, ReadOptions(notes.append)))


@pytest.mark.parametrize("form", BOTH)
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(given_ratings=ratings())
def test_what_a_format_holds_comes_back(form: Format, given_ratings: list[Rating]) -> None:
    if form.name in NEEDS:
        pytest.importorskip(NEEDS[form.name])
    reduced, _ = fitted(form, given_ratings)
    with tempfile.TemporaryDirectory() as folder:
        path = write(form, reduced, Path(folder))
        assert read(form, path) == reduced
        if reduced:
            assert detection.detect(path) == form.name


@pytest.mark.parametrize("form", BOTH)
@settings(max_examples=30)
@given(given_ratings=ratings())
def test_what_is_not_lost_is_held(form: Format, given_ratings: list[Rating]) -> None:
    reduced, losses = fitted(form, given_ratings)
    assert (reduced == given_ratings) == (not losses)
    again, none = fitted(form, reduced)
    assert (again, none) == (reduced, Counter())

"""Ratings as data frames and data sets in Python, where pandas and datasets are installed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from matese.annotation import ErrorSpan, Overall, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.errors import FormatError
from matese.formats.capabilities import Reducer
from matese.formats.format import WriteOptions
from matese.formats.tables import jsonl, parquet
from tests.formats.made_ratings import ratings

# What one row has and another lacks, and characters beyond U+FFFF.
MADE = [
    Rating(
        Segment("Ein 😀 Haus.", "A tree.", ("Ein Baum.",), SegmentKey("ted", "en-de", "A", "talk", 0)),
        "ann",
        (ErrorSpan(6, 10, Severity.MAJOR, "Style", 0.5), ErrorSpan(4, 5, None)),
        (ErrorSpan(2, 6, Severity.MINOR),),
        unplaced=(UnplacedError(Severity.MINOR),),
        overall=Overall(70, "esa"),
    ),
    Rating(Segment("שלום"), None, ()),
    Rating(Segment(""), None, None),
]
few = settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])


@few
@given(given_ratings=ratings())
def test_data_frames(given_ratings: list[Rating]) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = parquet.to_pandas(given_ratings)
    assert list(frame["hypothesis"]) == [rating.segment.hypothesis for rating in given_ratings]
    assert list(parquet.from_rows(frame.to_dict("records"))) == held(given_ratings)


def held(given_ratings: list[Rating]) -> list[Rating]:
    """The ratings as the format holds them: a key without content is none."""
    return [rating for rating in map(Reducer(parquet.CAPABILITIES).reduce, given_ratings) if rating is not None]


def test_rows_that_are_no_ratings() -> None:
    with pytest.raises(FormatError, match=r"rows:2: "):
        list(parquet.from_rows([{"hypothesis": "a", "errors": []}, {"hypothesis": 3}]))
    assert list(parquet.from_rows([{"hypothesis": "a", "errors": []}])) == [Rating(Segment("a"), None, ())]


@pytest.mark.parametrize("kind", ["json", "parquet"])
def test_our_files_are_loaded_by_datasets(kind: str, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    path = tmp_path / "spans"
    if kind == "json":
        path.write_text("".join(f"{jsonl.dumps(rating)}\n" for rating in MADE), encoding="utf-8")
    else:
        parquet.save_parquet(MADE, path, WriteOptions())
    loaded = datasets.load_dataset(kind, data_files=str(path), cache_dir=str(tmp_path / "cache"), split="train")
    assert [span["text"] for span in loaded[0]["errors"]] == ["😀", "Haus"]
    assert list(parquet.from_rows(loaded)) == MADE


def test_our_folders_are_loaded_by_datasets(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    parquet.save_dataset(MADE, tmp_path / "spans", WriteOptions())
    loaded = datasets.load_from_disk(str(tmp_path / "spans"))
    assert loaded.column_names == parquet.schema().names
    assert list(parquet.from_rows(loaded)) == MADE

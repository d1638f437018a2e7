"""Ratings as data frames and data sets in Python, where pandas and datasets are installed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from matese.annotation import ErrorSpan, Overall, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.errors import FormatError, UsageError
from matese.formats import detection
from matese.formats.capabilities import Reducer
from matese.formats.format import WriteOptions
from matese.formats.tables import jsonl, parquet
from matese.render.rating_list import Ratings
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
def test_a_table_is_read_back(given_ratings: list[Rating]) -> None:
    for library in ("pandas", "polars", "pyarrow", "datasets"):
        pytest.importorskip(library)
    written = Ratings(given_ratings)
    for frame in (written.to_pandas(), written.to_polars(), written.to_dataset()):
        assert list(frame["hypothesis"]) == [rating.segment.hypothesis for rating in given_ratings]
        assert Ratings.from_frame(frame) == held(given_ratings)


def held(given_ratings: list[Rating]) -> list[Rating]:
    """The ratings as the format holds them: a key without content is none."""
    return [rating for rating in map(Reducer(parquet.CAPABILITIES).reduce, given_ratings) if rating is not None]


def test_a_csv_that_pandas_has_written_is_read(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    path = tmp_path / "ratings.csv"
    Ratings(MADE).to_pandas().to_csv(path, index=False)
    assert list(detection.read(path)) == MADE


def test_bad_cells_of_a_frame() -> None:
    pandas = pytest.importorskip("pandas")
    texts = pandas.DataFrame({"mt": ["a", "b"], "ref": ["c", None]}, index=[5, 5])
    of_categories = texts.astype("category")
    in_arrow = texts.convert_dtypes(dtype_backend="pyarrow")
    expected = [Rating(Segment("a", None, ("c",)), None, None), Rating(Segment("b"), None, None)]
    assert Ratings.from_frame(texts) == Ratings.from_frame(of_categories) == Ratings.from_frame(in_arrow) == expected
    for cell in (None, float("nan"), pandas.NA, 7, b"a", ["a"]):
        with pytest.raises(FormatError, match="row 5: mt is "):
            Ratings.from_frame(texts.assign(mt=["a", cell]))


def test_rows_that_are_no_ratings() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(FormatError, match=r"row b: "):
        Ratings.from_frame(pandas.DataFrame({"hypothesis": ["a", 3], "errors": [[], []]}, index=["a", "b"]))
    with pytest.raises(UsageError, match="frame is a list: must be a table of pandas, polars or datasets"):
        Ratings.from_frame([])
    with pytest.raises(UsageError, match="two columns of the frame have the same name"):
        Ratings.from_frame(pandas.DataFrame([["a", "b"]], columns=["mt", "mt"]))


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
    assert Ratings.from_frame(loaded) == MADE


def test_our_folders_are_loaded_by_datasets(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    parquet.save_hf_dataset(MADE, tmp_path / "spans", WriteOptions())
    loaded = datasets.load_from_disk(str(tmp_path / "spans"))
    assert loaded.column_names == parquet.schema().names
    assert Ratings.from_frame(loaded) == MADE

"""Data frames and data sets, which an annotator returns with columns added."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import matese
from matese.errors import FormatError, InputError, UsageError
from matese.formats.tables import frames

ROWS: dict[str, list[Any]] = {
    "src": ["A tree.", "A house."],
    "mt": ["Ein Haus.", "Ein Haus."],
    "ref": ["Ein Baum.", "Ein Haus."],
    "n": [1, 2],
}


@pytest.fixture
def annotator(tiny_model_dir: Path) -> matese.Annotator:
    return matese.load(tiny_model_dir)


@pytest.mark.parametrize("kind", ["pandas", "polars", "datasets"])
def test_columns_are_added(annotator: matese.Annotator, kind: str) -> None:
    library = pytest.importorskip(kind)
    frame = library.Dataset.from_dict(ROWS) if kind == "datasets" else library.DataFrame(ROWS)
    marked = annotator.annotate(frame)
    assert type(marked) is type(frame)
    names = list(marked.column_names if kind == "datasets" else marked.columns)
    assert names == [*ROWS, *frames.ADDED]
    assert list(marked["n"]) == [1, 2]
    expected = annotator.annotate(ROWS["mt"], references=ROWS["ref"], sources=ROWS["src"])
    assert list(marked["score"]) == [matese.score(rating) for rating in expected]
    places = [[(error["start"], error["end"]) for error in errors] for errors in marked["errors"]]
    assert places == [[(error.start, error.end) for error in rating.errors or ()] for rating in expected]
    read_back = matese.Ratings.from_frame(marked)
    assert read_back == expected
    again = annotator.annotate(marked)
    assert list(again["score"]) == list(marked["score"])
    assert list(again.column_names if kind == "datasets" else again.columns) == names


@pytest.mark.parametrize("errors", [2, "a note", None])
@pytest.mark.parametrize("kind", ["pandas", "polars", "datasets"])
def test_columns_that_are_no_ratings_are_kept(annotator: matese.Annotator, kind: str, errors: object) -> None:
    library = pytest.importorskip(kind)
    own = {"score": 73.5, "rater": "anna", "overall": 88, "errors": errors}
    cells = {"mt": ["Ein Haus."], "ref": ["Ein Baum."], **{name: [cell] for name, cell in own.items()}}
    marked = annotator.annotate(library.Dataset.from_dict(cells) if kind == "datasets" else library.DataFrame(cells))
    assert {name: next(iter(marked[f"input_{name}"])) for name in own} == own


def test_a_table_without_rows_is_marked_again(annotator: matese.Annotator) -> None:
    frame = pytest.importorskip("pandas").DataFrame({"mt": [], "ref": []}, dtype=object)
    marked = annotator.annotate(frame)
    assert list(annotator.annotate(marked).columns) == list(marked.columns)


def test_index_and_missing_cells_of_pandas(annotator: matese.Annotator) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"out": ["a", "b"], "gold": ["a", "c"]}, index=[7, 3])
    marked = annotator.annotate(frame, columns={"hypothesis": "out", "reference": "gold"})
    assert list(marked.index) == [7, 3]
    frame = pandas.DataFrame({"mt": ["a", float("nan")], "src": ["a", "b"]})
    with pytest.raises(FormatError, match="row 1: mt is missing: must be a translation"):
        annotator.annotate(frame)
    for names, hint in (
        (("output", "mt"), r'can both be the hypothesis; choose one with columns=\{"hypothesis": "mt"\}'),
        (("a", "b_translation"), r'columns=\{"hypothesis": "b_translation"\}$'),
    ):
        with pytest.raises(FormatError, match=hint):
            annotator.annotate(pandas.DataFrame({name: ["a"] for name in names}))
    with pytest.raises(UsageError, match="references and sources beside a table: put them into columns"):
        annotator.annotate(frame, sources=["a", "b"])
    for name in ("hypothesis", "mt"):
        with pytest.raises(UsageError, match="several columns of hypotheses; a data frame can have one"):
            annotator.annotate(frame, columns={name: ["mt", "src"]})
    with pytest.raises(UsageError, match="columns hypothseis: unknown name 'hypothseis', did you mean 'hypothesis'"):
        annotator.annotate(frame, columns={"hypothseis": "mt"})


@pytest.mark.parametrize("stated", [{}, {"lp": "english-german"}])
@pytest.mark.parametrize("other", [{}, {"output": "Ein Baum."}])
def test_texts_by_language(annotator: matese.Annotator, stated: dict[str, str], other: dict[str, str]) -> None:
    datasets = pytest.importorskip("datasets")
    texts = {"en": "A house.", "de": "Ein Haus."}
    data_set = datasets.Dataset.from_list([{"translation": texts, **other, **stated}])
    marked = annotator.annotate(data_set, lang_pair=None if stated else "en-de")
    (rating,) = matese.Ratings.from_frame(marked)
    assert matese.expected_score(marked) == [matese.expected_score(rating)]
    texts_read = (rating.segment.source, rating.segment.hypothesis, rating.segment.references)
    assert texts_read == ("A house.", *(("Ein Baum.", ("Ein Haus.",)) if other else ("Ein Haus.", ())))
    assert rating.segment.key is not None
    assert rating.segment.key.lang_pair == "en-de"


def test_texts_by_language_without_one(annotator: matese.Annotator) -> None:
    datasets = pytest.importorskip("datasets")
    data_set = datasets.Dataset.from_list([{"translation": {"en": "A house.", "de": None}}])
    with pytest.raises(FormatError, match=r"row 0: translation holds texts in en: .* must be of these, not en-de"):
        annotator.annotate(data_set, lang_pair="en-de")


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_memory_grows_with_the_columns_alone(kind: str) -> None:
    library = pytest.importorskip(kind)

    def peak(n_rows: int) -> int:
        frame = library.DataFrame({"mt": [f"Das ist Satz {number}." for number in range(n_rows)]})
        tracemalloc.start()
        try:
            rated = (matese.Rating(segment, "m", ()) for segment in frames.segments(frame, {}))
            frames.with_ratings(frame, rated, "matese")
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(10)
    growth = (peak(5000) - peak(2500)) / 2500
    assert growth < (600 if kind == "pandas" else 100)  # bytes: lists of pandas are objects, those of polars are not


def test_a_text_that_is_no_unicode_is_named(annotator: matese.Annotator) -> None:
    pandas = pytest.importorskip("pandas")
    broken = ["a", "b\ud800"]
    frame = pandas.DataFrame({"mt": pandas.Series(broken, dtype=object), "ref": ["a", "b"]}).set_index([["x", "y"]])
    with pytest.raises(InputError, match=r"^row y: text is not valid Unicode: must have no lone surrogates$"):
        annotator.annotate(frame)
    with pytest.raises(InputError, match=r"^hypothesis 1: text is not valid Unicode"):
        annotator.annotate(["a", "b"], references=broken)
    segments = (matese.Segment("a", None, (text,)) for text in broken)
    with pytest.raises(InputError, match=r"^text is not valid Unicode for hypothesis 1"):
        list(annotator.annotate_segments(segments))
    with pytest.raises(InputError, match="hypothesis is not Unicode"):
        matese.Ratings([matese.Rating(matese.Segment("\ud800"), None, ())]).to_polars()

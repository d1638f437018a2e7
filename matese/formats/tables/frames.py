"""Data frames of pandas and polars, and data sets of Hugging Face, as they are in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from matese import mqm
from matese.annotation import ErrorSpan, Estimate, Omission, Rating, Segment, Severity, Votes
from matese.errors import InputError, UsageError, check_installed
from matese.formats.tables import columns, jsonl, parquet

ADDED = ("score", "expected_score", "errors", "omissions", "rater")
"""Columns that `with_ratings` adds, with the values of our JSONL."""

_DATA_SETS = (
    "datasets.Dataset",
    "datasets.DatasetDict",
    "datasets.IterableDataset",
    "datasets.IterableDatasetDict",
)
_FULL = Rating(
    Segment("a", "b"),
    "m",
    (ErrorSpan(0, 1, Severity.MINOR, "c", 0.5, Votes(1.0, 0.0), "r"),),
    omissions=(Omission("source", None, 0, 1, Severity.MINOR, "c", 0.5, "r"),),
    estimate=Estimate(-1.5, "mqm"),
)


def is_frame(data: object) -> bool:
    """Whether this is a data frame of pandas or polars, or a data set of Hugging Face."""
    return _kind(data) in ("pandas.DataFrame", "polars.DataFrame", "datasets.Dataset")


HUB = "hf://datasets/"
"""Begins the address of a data set on the Hugging Face hub."""


def is_data_set(data: object) -> bool:
    """Whether this is a data set of Hugging Face, one with several splits, or the address of either on the hub."""
    return _kind(data) in _DATA_SETS or (isinstance(data, str) and data.startswith(HUB))


def ratings(data: Any, *, splits: Collection[str] | None = None) -> list[Rating]:  # noqa: ANN401
    """Returns the ratings of a data set, with the columns of our JSONL.

    Args:
        data: see `is_data_set`.
        splits: those that are read, of several; None for all.

    Raises:
        InputError: if there is no such data set, or a row is not a rating; rows count from 1.
    """
    if isinstance(data, str):
        check_installed("a data set", "datasets", extra="train")
        import datasets

        try:
            data = datasets.load_dataset(data.removeprefix(HUB))
        except Exception as error:  # of many types
            reason = str(error).splitlines()[0]
            raise InputError(f"{data}: cannot be loaded ({reason}); must be {HUB}ORG/NAME") from error
    if _kind(data) in ("datasets.Dataset", "datasets.IterableDataset"):
        return list(parquet.from_rows(data))
    chosen = [part for name, part in data.items() if splits is None or name in splits]
    return [rating for part in chosen for rating in parquet.from_rows(part)]


def with_free_names(frame: Any) -> Any:  # noqa: ANN401
    """Returns a frame whose columns with the names in `ADDED` are called `input_NAME`, as in our JSONL.

    Raises:
        UsageError: if there is such a column already.
    """
    kind = _kind(frame)
    names = list(frame.column_names if kind == "datasets.Dataset" else frame.columns)
    new = {name: f"input_{name}" for name in names if name in ADDED}
    if taken := [name for name in new.values() if name in names]:
        raise UsageError(f"columns {', '.join(taken)} exist already; rename or drop them")
    if kind == "datasets.Dataset":
        return frame.rename_columns(new)
    return frame.rename(columns=new) if kind == "pandas.DataFrame" else frame.rename(new)


def segments(frame: Any, names: Mapping[str, str | Sequence[str]]) -> list[Segment]:  # noqa: ANN401
    """Returns the segment of each row; columns are recognised as in files, or named by `names`.

    Raises:
        UsageError: if several columns hold hypotheses.
        FormatError: if a row is not a translation; rows count from 1.
    """
    chosen = {role: [column] if isinstance(column, str) else list(column) for role, column in names.items()}
    if len(chosen.get("hypothesis", ())) > 1:
        raise UsageError("several columns of hypotheses; a data frame can have one")
    to_rows = {"pandas.DataFrame": lambda: frame.to_dict("records"), "polars.DataFrame": lambda: frame.to_dicts()}
    rows = to_rows.get(_kind(frame), lambda: frame)()
    numbered = enumerate(rows, start=1)
    return [rating.segment for rating in columns.ratings(numbered, "rows", chosen, naming='columns={{"{}": "{}"}}')]


def with_ratings(frame: Any, ratings: Iterable[Rating], weights: mqm.Weights) -> Any:  # noqa: ANN401
    """Returns a frame with the columns `ADDED`, one rating per row."""
    lines = [jsonl.to_json(rating, weights=weights) for rating in ratings]
    added = {name: [line[name] for line in lines] for name in ADDED}
    if _kind(frame) == "pandas.DataFrame":
        return frame.assign(**added)
    if _kind(frame) == "polars.DataFrame":
        import polars

        # A full row shows polars the types, which it would otherwise guess from lists that may all be empty.
        full = jsonl.to_json(_FULL)
        return frame.with_columns([polars.Series(name, [full[name], *values])[1:] for name, values in added.items()])
    import datasets

    features = datasets.Features.from_arrow_schema(parquet.schema())
    for name, values in added.items():
        frame = frame.add_column(name, values, feature=features[name])
    return frame


def _kind(data: object) -> str:
    return f"{type(data).__module__.split('.')[0]}.{type(data).__name__}"

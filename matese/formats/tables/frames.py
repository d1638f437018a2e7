"""Data frames of pandas and polars and data sets of Hugging Face in memory, as ratings, and ratings as these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from matese import mqm
from matese.annotation import Rating, Segment, SegmentKey
from matese.errors import FormatError, InputError, UsageError, check_installed, one_of
from matese.formats.tables import columns, jsonl, parquet
from matese.formats.tables.jsonl_keys import OF_RATING
from matese.text import languages

if TYPE_CHECKING:
    import datasets
    import pandas
    import polars

ADDED = tuple(key for key in jsonl.KEYS if key in ("score", "expected_score", *OF_RATING))
"""Columns that `with_ratings` adds, with the values of our JSONL."""
HUB = "hf://datasets/"
"""Begins the address of a data set on the Hugging Face hub."""
_OF_SPLITS = ("datasets.DatasetDict", "datasets.IterableDatasetDict")
_ROWS_AT_ONCE = 1000
_NAMING = 'columns={{"{}": "{}"}}'
Names = Mapping[str, str | Sequence[str]]
"""Columns with unusual names, by what they hold."""


def is_frame(data: object) -> bool:
    """Whether this is a data frame of pandas or polars, or a data set of Hugging Face."""
    return _kind(data) in ("pandas.DataFrame", "polars.DataFrame", "datasets.Dataset")


def ratings(frame: Any, names: Names | None = None, lang_pair: str | None = None) -> Iterator[Rating]:  # noqa: ANN401
    """Yields the rating of each row; columns are recognised as in files, or named by `names`.

    Raises:
        FormatError: if a row is neither a rating nor a translation; it names the row as the frame's index does.
    """
    user_columns = _by_role(names or {})
    for place, (label, cells) in enumerate(_rows(frame)):
        row = {str(name): columns.plain_value(cell) for name, cell in cells.items()}
        number = label if isinstance(label, int) else place
        try:
            yield from columns.ratings([(number, row)], "rows", user_columns, lang_pair, naming=_NAMING)
        except FormatError as error:
            raise FormatError(f"row {label}", None, error.problem) from None


def _by_role(names: Names) -> dict[str, list[str]]:
    """Returns the named columns by what they hold."""
    return {
        columns.known_role(role, f"columns {role}"): [column] if isinstance(column, str) else list(column)
        for role, column in names.items()
    }


def is_data_set(data: object) -> bool:
    """Whether this is a data frame, a data set of Hugging Face, one with several splits, or its address on the hub."""
    is_address = isinstance(data, str) and data.startswith(HUB)
    return is_frame(data) or is_address or _kind(data) in (*_OF_SPLITS, "datasets.IterableDataset")


def of_data_set(data: Any, *, splits: Sequence[str] | None = None) -> list[Rating]:  # noqa: ANN401
    """Returns the ratings of a data set or data frame, with the columns of our JSONL.

    Args:
        data: see `is_data_set`.
        splits: those that are read, of several; None for all.

    Raises:
        InputError: if there is no such data set, or a row is not a rating.
    """
    if isinstance(data, str):
        check_installed("a data set", "datasets", extra="train")
        import datasets

        try:
            data = datasets.load_dataset(data.removeprefix(HUB))
        except Exception as error:  # of many types
            reason = str(error).splitlines()[0]
            raise InputError(f"{data}: cannot be loaded ({reason}); must be {HUB}ORG/NAME") from error
    if _kind(data) not in _OF_SPLITS:
        return list(ratings(data))
    parts = [part for name, part in data.items() if splits is None or name in splits]
    if splits is not None and not parts:
        raise InputError(f"data set with the splits {', '.join(data)}: must have {one_of(splits)}")
    return [rating for part in parts for rating in ratings(part)]


def segments(frame: Any, names: Names, lang_pair: str | None = None) -> Iterator[Segment]:  # noqa: ANN401
    """Yields the segment of each row, as `ratings` reads it; all have the language pair, if one is given.

    Raises:
        UsageError: if several columns hold hypotheses.
        FormatError: if a row is not a translation.
    """
    if len(_by_role(names).get("hypothesis", ())) > 1:
        raise UsageError("several columns of hypotheses; a data frame can have one")
    pair = None if lang_pair is None else languages.parse(lang_pair)
    for segment in (rating.segment for rating in ratings(frame, names, lang_pair)):
        key = segment.key if pair is None else replace(segment.key or SegmentKey(), lang_pair=pair)
        yield replace(segment, key=key)


def without_ratings(frame: Any) -> Any:  # noqa: ANN401
    """Returns a frame without the columns of earlier ratings; other columns of these names are called `input_NAME`.

    Ratings are lists of errors, or have the signature of a model as their rater.

    Raises:
        UsageError: if there is such a column already.
    """
    is_data_set = _kind(frame) == "datasets.Dataset"
    names = list(map(str, frame.column_names if is_data_set else frame.columns))
    ours = [name for name in ADDED if name in names]
    if ours and (len(frame) == 0 or _is_rated(frame)):
        if is_data_set:
            return frame.remove_columns(ours)
        return frame.drop(columns=ours) if _kind(frame) == "pandas.DataFrame" else frame.drop(ours)
    new = {name: f"input_{name}" for name in ours}
    if taken := [name for name in new.values() if name in names]:
        raise UsageError(f"columns {', '.join(taken)} exist already; rename or drop them")
    if is_data_set:
        return frame.rename_columns(new)
    return frame.rename(columns=new) if _kind(frame) == "pandas.DataFrame" else frame.rename(new)


def _is_rated(frame: Any) -> bool:  # noqa: ANN401
    for _, cells in _rows(frame):
        errors = columns.plain_value(cells.get("errors"))
        if isinstance(errors, list) or str(errors).startswith("[") or str(cells.get("rater")).startswith("matese|"):
            return True
    return False


def with_ratings(
    frame: Any,  # noqa: ANN401
    rated: Iterable[Rating],
    weights: mqm.AnyWeights,
    lang_pair: str | None = None,
) -> Any:  # noqa: ANN401
    """Returns a frame with the columns `ADDED`, one rating per row, and the language pair if one was given.

    Nothing else is kept of the ratings: memory grows with these columns alone.
    """
    names = ADDED if lang_pair is None else (*ADDED, "lang_pair")
    lines = (jsonl.to_row(rating, weights=weights) for rating in rated)
    rows = ({name: line[name] for name in names} for line in lines)
    if _kind(frame) == "pandas.DataFrame":
        cells: dict[str, list[object]] = {name: [] for name in names}
        for row in rows:
            for name, cell in row.items():
                cells[name].append(cell)
        return frame.assign(**cells)
    import pyarrow

    parts = [parquet.table(list(islice(rows, _ROWS_AT_ONCE)), names) for _ in range(0, len(frame), _ROWS_AT_ONCE)]
    table = pyarrow.concat_tables(parts or [parquet.table([], names)])
    if _kind(frame) == "polars.DataFrame":
        import polars

        return frame.with_columns(polars.from_arrow(table))
    import datasets

    if "lang_pair" in names and "lang_pair" in frame.column_names:
        frame = frame.remove_columns("lang_pair")
    return datasets.concatenate_datasets([frame, datasets.Dataset(table)], axis=1)


def to_dataset(rated: Iterable[Rating], *, weights: mqm.AnyWeights = "matese") -> datasets.Dataset:
    """Returns ratings as a data set of Hugging Face."""
    check_installed("a data set", "datasets", extra="tables")
    import datasets

    return datasets.Dataset(parquet.table(parquet.rows(rated, weights)))


def to_pandas(rated: Iterable[Rating], *, weights: mqm.AnyWeights = "matese") -> pandas.DataFrame:
    """Returns ratings as a data frame, with the lists and objects of our JSONL in its cells."""
    check_installed("a data frame", "pandas", extra="tables")
    import pandas

    rows = parquet.rows(rated, weights)
    names = rows[0] if rows else parquet.schema().names
    frame = pandas.DataFrame({key: [row[key] for row in rows] for key in names}, dtype=object)
    return frame.astype({"index": "Int64", "score": "float64", "expected_score": "float64"})


def to_polars(rated: Iterable[Rating], *, weights: mqm.AnyWeights = "matese") -> polars.DataFrame:
    """Returns ratings as a data frame of polars, with the types of `parquet.schema`."""
    check_installed("a data frame", "polars", extra="tables")
    import polars

    frame = polars.from_arrow(parquet.table(parquet.rows(rated, weights)))
    assert isinstance(frame, polars.DataFrame)  # a table gives no Series
    return frame


def _rows(frame: Any) -> Iterator[tuple[object, Mapping[Any, Any]]]:  # noqa: ANN401
    """Yields each row with its label, some at once: memory does not grow with the frame."""
    kind = _kind(frame)
    if kind == "pandas.DataFrame":
        if not frame.columns.is_unique:
            raise UsageError("two columns of the frame have the same name: must differ")
        for start in range(0, len(frame), _ROWS_AT_ONCE):
            part = frame.iloc[start : start + _ROWS_AT_ONCE]
            yield from zip(part.index, part.to_dict("records"), strict=True)
    elif kind == "polars.DataFrame":
        yield from enumerate(frame.iter_rows(named=True))
    elif kind == "datasets.Dataset":
        batches = frame.with_format(None).iter(_ROWS_AT_ONCE)
        rows = ((batch, cells) for batch in batches for cells in zip(*batch.values(), strict=True))
        yield from enumerate(dict(zip(names, cells, strict=True)) for names, cells in rows)
    else:
        yield from enumerate(frame)


def _kind(data: object) -> str:
    return f"{type(data).__module__.split('.')[0]}.{type(data).__name__}"

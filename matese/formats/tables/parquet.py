"""Parquet and Hugging Face `datasets`: our JSONL as a table of typed columns, with lists of structs for the errors.

`parquet` is one file, `hf-dataset` a folder of `Dataset.save_to_disk`; `frames` does the same in memory. They need the
extra "tables" (`pip install 'matese[tables]'`). Everything is held, save for `SegmentKey()`, a key without content,
which is read as none.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import inspect

from matese import mqm
from matese.annotation import Rating
from matese.errors import FormatError, InputError, check_installed
from matese.files import name_of, open_binary, whole
from matese.formats.capabilities import EVERYTHING
from matese.formats.format import STRICT, ReadOptions, WriteOptions
from matese.formats.signs import FileHead, is_data_set
from matese.formats.tables import columns, jsonl
from matese.formats.tables.jsonl_keys import Line

if TYPE_CHECKING:
    import pyarrow

CAPABILITIES = EVERYTHING
_ROWS_AT_ONCE = 1000


def save_parquet(ratings: Iterable[Rating], path: Path, writing: WriteOptions) -> None:
    """Writes the file."""
    check_installed("parquet", "pyarrow", extra="tables")
    from pyarrow import parquet

    lines = (jsonl.to_row(rating, weights=writing.weights) for rating in jsonl.with_all_columns(ratings))
    batch = list(islice(lines, _ROWS_AT_ONCE))
    if batch and len(batch[0]) > len(schema()):  # the types of other columns follow from all rows
        batch += lines
    with parquet.ParquetWriter(path, table(batch).schema) as writer:
        while batch:
            writer.write_table(table(batch))
            batch = list(islice(lines, _ROWS_AT_ONCE))


def save_hf_dataset(ratings: Iterable[Rating], path: Path, writing: WriteOptions) -> None:
    """Writes the folder."""
    check_installed("hf-dataset", "datasets", extra="tables")
    from datasets import Dataset, utils

    made = Dataset(table(rows(ratings, writing.weights)))

    had_bars = not utils.are_progress_bars_disabled()
    utils.disable_progress_bars()
    try:
        made.save_to_disk(str(path))
    finally:
        if had_bars:
            utils.enable_progress_bars()


def read_parquet(path: str | Path, reading: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields the rating of each row."""
    check_installed("parquet", "pyarrow", extra="tables")
    yield from columns.ratings(
        enumerate(_rows_of_parquet(path), start=1), path, reading.columns, reading.lang_pair, options=reading
    )


def read_hf_dataset(path: str | Path, reading: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields the rating of each row."""
    check_installed("hf-dataset", "datasets", extra="tables")
    if not is_data_set(FileHead("", files=tuple(os.listdir(path)))):
        raise FormatError(name_of(path), None, "no data set; give a folder that Dataset.save_to_disk wrote")
    yield from columns.ratings(
        enumerate(_rows_of_dataset(path), start=1), path, reading.columns, reading.lang_pair, options=reading
    )


def _rows_of_parquet(path: str | Path) -> Iterator[object]:
    import pyarrow
    from pyarrow import parquet

    # Opened here, so that system errors about a file are the same for every format.
    with open_binary(path) as stream, _library_errors(path, "Parquet file"):
        seekable = stream if stream.seekable() else pyarrow.BufferReader(whole(stream, name_of(path)))
        with parquet.ParquetFile(seekable) as file:
            for batch in file.iter_batches(_ROWS_AT_ONCE):
                yield from _whole(batch).to_pylist()


def _rows_of_dataset(path: str | Path) -> Iterator[object]:
    import datasets

    with _library_errors(path, "data set"):
        # As Arrow has it: features of data sets may name files and addresses, which would be opened.
        for batch in datasets.load_from_disk(str(path)).with_format("arrow").iter(_ROWS_AT_ONCE):
            yield from _whole(batch).to_pylist()


def _whole(batch: pyarrow.Table) -> pyarrow.Table:
    """Returns rows whose offsets lie within their buffers: Arrow does not check this, and would read other memory."""
    batch.validate(full=True)
    return batch


@contextlib.contextmanager
def _library_errors(path: str | Path, what: str) -> Iterator[None]:
    """Turns the errors of the libraries, which are of many kinds for damaged files, into a FormatError."""
    try:
        yield
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise FormatError(name_of(path), None, f"no {what} ({reason}); fetch or write the file again") from error


def rows(ratings: Iterable[Rating], weights: mqm.AnyWeights) -> list[dict[str, object]]:
    """Returns ratings as objects of our JSONL, all with the same keys."""
    return [jsonl.to_row(rating, weights=weights) for rating in jsonl.with_all_columns(ratings)]


def schema() -> pyarrow.Schema:
    """Returns the columns and their types: those of `jsonl_keys.Line` that `jsonl.to_json` writes by default."""
    import pyarrow

    types = _column_type(inspect.type_info(Line))
    return pyarrow.schema([field for field in types if field.name in jsonl.ROW_KEYS])


def _column_type(kind: inspect.Type) -> pyarrow.DataType:
    import pyarrow

    if isinstance(kind, inspect.UnionType):  # of a type and null
        kind = next(member for member in kind.types if not isinstance(member, inspect.NoneType))
    if isinstance(kind, inspect.VarTupleType):
        return pyarrow.list_(_column_type(kind.item_type))
    if isinstance(kind, inspect.StructType):
        return pyarrow.struct([(field.encode_name, _column_type(field.type)) for field in kind.fields])
    if isinstance(kind, inspect.IntType):
        return pyarrow.int64()
    if isinstance(kind, inspect.BoolType):
        return pyarrow.bool_()
    # `score` and `expected_score` may be anything where they are read.
    return pyarrow.float64() if isinstance(kind, inspect.FloatType | inspect.Metadata) else pyarrow.string()


def table(rows: Sequence[Mapping[str, Any]], names: Sequence[str] | None = None) -> pyarrow.Table:
    """Returns rows as a table; values of other columns that have no common type become JSON texts.

    Without rows, it has the columns `names`, or all of `schema`.
    """
    import pyarrow

    types = {field.name: field.type for field in schema()}
    arrays = {}
    for name in rows[0] if rows else names or types:
        values = [row.get(name) for row in rows]
        try:
            array = pyarrow.array(values, types.get(name))
        except UnicodeEncodeError:
            raise InputError(f"{name} is not Unicode: a table cannot hold halves of surrogate pairs") from None
        except (pyarrow.ArrowException, OverflowError) as error:
            if name in types:
                raise InputError(f"a table cannot hold this {name} ({error}): must fit into 64 bits") from None
            array = None
        if array is None or "struct<>" in str(array.type):  # Parquet holds no objects without keys
            array = pyarrow.array([None if value is None else _as_json(value) for value in values])
        arrays[name] = array
    return pyarrow.table(arrays)


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=jsonl.plain)

"""Rows of JSONL and Parquet files to Segments, by the names of their columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from matese.annotation import Segment, SegmentKey
from matese.cluster.files import Unit, locate
from matese.formats import json_values
from matese.formats.json_values import Fields
from matese.formats.lines import FormatError
from matese.formats.settings import near_miss, one_of

NAMES = ("hypothesis", "source", "references", "index", "system", "document", "lang_pair", "test_set")
"""What is read, and where nothing else is said the columns that it is read from, as in our JSONL."""


def read(unit: Unit, columns: Mapping[str, str], unread: set[str]) -> Iterator[Segment]:
    """Yields the segment of each row of a unit.

    Args:
        unit: what is read.
        columns: the names of columns, by what is in them, where they differ from `NAMES`; these must be there.
        unread: is given the names of the columns that are not read.

    Raises:
        FormatError: at the first row that is no segment.
        OSError: if the file cannot be read.
    """
    rows = _parquet_rows(unit, columns, unread) if unit.source.endswith(".parquet") else _json_rows(unit)
    chosen = {columns.get(name, name) for name in NAMES}
    for place, row in rows:
        try:
            fields = Fields.open(json_values.parse(row) if isinstance(row, str) else row)
            unread |= fields.values.keys() - chosen
            yield _segment(fields, columns)
        except ValueError as error:
            raise FormatError(unit.source, None, f"{place}: {error}") from None


def _segment(fields: Fields, columns: Mapping[str, str]) -> Segment:
    for called in columns.values():
        if called not in fields.values:
            known = list(fields.values)
            raise ValueError(f"no column {called!r}{near_miss(called, known)} must be {one_of(known)}")
    column = {name: columns.get(name, name) for name in NAMES}
    references = column["references"]
    is_one = isinstance(fields.values.get(references), str)
    own = (fields.needed(references, fields.string(references)),) if is_one else fields.strings(references)
    key = SegmentKey(
        test_set=fields.string(column["test_set"]),
        lang_pair=fields.string(column["lang_pair"]),
        system=fields.string(column["system"]),
        document=fields.string(column["document"]),
        index=fields.integer(column["index"]),
    )
    hypothesis = fields.needed(column["hypothesis"], fields.string(column["hypothesis"]))
    return Segment(hypothesis, fields.string(column["source"]), own, None if key == SegmentKey() else key)


def _json_rows(unit: Unit) -> Iterator[tuple[str, str]]:
    """Yields the lines that begin within the unit's bytes, and how messages call them."""
    system, path = locate(unit.source)
    with system.open(path, "rb", compression="infer") as file:
        if unit.start:
            # A line that begins at the first byte is ours, one that goes on over it is not.
            file.seek(unit.start - 1)
            file.readline()
        place = file.tell()
        while (unit.stop is None or place < unit.stop) and (line := file.readline()):
            where = f"line at byte {place:,}"
            try:
                yield where, line.decode("utf-8-sig" if place == 0 else "utf-8")
            except UnicodeDecodeError as error:
                raise FormatError(unit.source, None, f"{where}: {error}: must be UTF-8 text") from None
            place += len(line)


def _parquet_rows(unit: Unit, columns: Mapping[str, str], unread: set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the rows of the unit's row groups with the columns that are wanted, and how messages call them."""
    from pyarrow import parquet

    system, path = locate(unit.source)
    with system.open(path, "rb") as opened:
        file = parquet.ParquetFile(opened)
        chosen = {*columns.values(), *(columns.get(name, name) for name in NAMES)}
        unread |= set(file.schema_arrow.names) - chosen
        wanted = [name for name in file.schema_arrow.names if name in chosen]
        for group in range(unit.start, unit.stop or 0):
            for number, row in enumerate(file.read_row_group(group, columns=wanted).to_pylist(), start=1):
                yield f"row {number:,} of row group {group}", row

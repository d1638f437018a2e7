"""CSV, separated by commas or semicolons, and TSV, by tabs: a header and a row for each segment or rating.

The columns are recognised by their names (`columns`). Ours are the keys of our JSONL; their cells hold lists and
objects (`errors`, `references`, ...) as JSON, and an empty cell is null. Every cell is quoted, so that texts can
contain line ends. In a TSV whose header is not quoted, a quotation mark is a character like any other; only a cell in
quotation marks that has doubled ones inside, and no others, is taken for a quoted one.
"""

from __future__ import annotations

import ast
import contextlib
import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from matese.annotation import Rating
from matese.errors import FormatError, InputError
from matese.files import head_of, name_of, not_utf8, open_binary
from matese.formats.capabilities import EVERYTHING
from matese.formats.format import STRICT, Columns, ReadOptions, TableStyle, WriteOptions
from matese.formats.row_issues import RowIssues, located
from matese.formats.tables import columns, headings, jsonl
from matese.formats.tables.jsonl_keys import LATER, TEXTS
from matese.validation import plain_values

CAPABILITIES = replace(EVERYTHING, lacks=("empty_texts",))

_JSON = tuple(key for key in jsonl.KEYS if key not in TEXTS)
_ENCODER = json.JSONEncoder(ensure_ascii=False, default=jsonl.plain)
_CONTAINERS = (dict, list)
_SCORES = ("score", "expected_score")
_MAX_CELL = 1 << 28
_MARK = "\ufeff"
_QUOTE = '"'
_DOUBLED = '""'
_HEAD_BYTES = 1 << 16
_VALUE = re.compile(r"[\[{]|[+-]?\d+(\.\d*)?$")
_LEAST_VALUES = 2
"""One column may be called 2019 or 0; several such names are values."""
_N_APPRAISE = 12
_APPRAISE_KINDS = ("TGT", "REF", "BAD", "CHK")
_NUMBERED = re.compile(r"(line|row) \d+")
_QUOTED = re.compile(r'"(?:[^"]|"")*""(?:[^"]|"")*"')


def write_tsv(ratings: Iterable[Rating], options: WriteOptions) -> Iterator[str]:
    """Yields the header and the rows of a table that is separated by tabs."""
    return write(ratings, options, delimiter="\t")


def write(ratings: Iterable[Rating], options: WriteOptions, *, delimiter: str | None = None) -> Iterator[str]:
    """Yields the lines of the header and the rows."""
    style = options.table
    between = f'"{delimiter or style.delimiter}"'
    if style.has_mark:
        yield _MARK
    for cells in rows(ratings, options):  # csv.writer looks at each character, and takes five times as long
        yield f'"{between.join([cell.replace(_QUOTE, _DOUBLED) for cell in cells])}"\n'


def style_of(path: str | Path, user_columns: Columns) -> TableStyle:
    """Returns how a CSV or TSV is written, for one that comes from it; the user has named the `user_columns`."""
    head = head_of(path, _HEAD_BYTES).decode(errors="replace")
    delimiter, names = headings.split(head.removeprefix(_MARK).partition("\n")[0])
    return TableStyle(delimiter, head.startswith(_MARK), columns.headings(names, user_columns))


def rows(ratings: Iterable[Rating], options: WriteOptions) -> Iterator[list[str]]:
    """Yields the cells of the header and of the rows, which have the other columns of all ratings.

    The last column has the names of segments, if that of the first says more than its line or row does.
    """
    names: list[str] = []
    renamed: dict[str, str] = {}
    listed = jsonl.with_all_columns(ratings)
    unused = [key for key in LATER if all(getattr(rating, key) is None for rating in listed)]
    for rating in listed:
        values = jsonl.to_row(rating, weights=options.weights)
        name = jsonl.own_name(rating.segment)
        if "segment_name" in names or (not names and name and not _NUMBERED.fullmatch(name)):
            values["segment_name"] = name
        if not names:
            names = [name for name in values if name not in unused]
            renamed = {key: name for key, name in options.table.headings.items() if name not in names}
            yield [renamed.get(name, name) for name in names]
        if "references" in renamed:
            values["references"] = _only_reference(rating)
        yield [_cell(name, values[name]) for name in names]
    if not names:
        yield [key for key in jsonl.ROW_KEYS if key not in LATER]


def _only_reference(rating: Rating) -> str | None:
    references = rating.segment.references
    if len(references) > 1:
        raise InputError(f"{len(references)} references: the table that came in has one column for them")
    return references[0] if references else None


def _cell(name: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return str(value)
    if type(value) is list and not value:
        return "[]"
    if type(value) is int:
        return str(value)
    return _ENCODER.encode(value) if name in _JSON or isinstance(value, _CONTAINERS) else str(value)


def read(path: str | Path, options: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields the ratings of each row."""
    with open_binary(path) as stream:
        lines = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
        try:
            rows = read_rows(lines, path, options)
            yield from columns.ratings(
                rows, path, options.columns, options.lang_pair, naming=options.naming, unit="line", options=options
            )
        finally:
            lines.detach()  # standard input stays open


def read_rows(lines: Iterator[str], path: str | Path, options: ReadOptions) -> Iterator[tuple[int, object]]:
    """Yields each row with the number of its last line; rows without any text, as spreadsheets have them, are skipped.

    Args:
        lines: with their line ends as they are.
        path: in messages.
        options: `columns`, `naming` and `report` are used.

    Raises:
        FormatError: at the first line that is not a row.
    """
    csv.field_size_limit(_MAX_CELL)
    user_columns = options.columns
    empty: list[int] = []
    number = 1
    try:
        first = _first_row(lines)
        delimiter, names = headings.split(first)
        if not user_columns:
            _check_header(names, path)
        to_row = row_maker(names, path, user_columns, naming=options.naming)
        is_raw = delimiter == "\t" and not first.startswith('"')
        rows = csv.reader(
            chain(io.StringIO(first, newline=""), lines),
            delimiter=delimiter,
            quoting=csv.QUOTE_NONE if is_raw else csv.QUOTE_MINIMAL,
            strict=True,
        )
        next(rows, None)
        for cells in rows:
            number = rows.line_num
            if not cells or (len(names) > 1 and not any(cells)):
                empty.append(number)
                continue
            if empty and len(names) == 1:  # maybe a blank translation, which other files have, too
                raise FormatError(name_of(path), empty[0], "empty line: a blank cell must be in quotation marks")
            for line in empty:  # those at the end do not count
                RowIssues(name_of(path), options.report, line).skip("empty row", None)
            empty.clear()
            if len(cells) != len(names):
                n_cells = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
                counts = f"{n_cells}, but {len(names)} columns in the header"
                raise FormatError(name_of(path), number, f"{counts}; every row needs a cell per column")
            yield number, to_row(number, zip(names, map(_unquoted, cells) if is_raw else cells, strict=True))
    except csv.Error as error:
        quoting = "a cell in quotation marks must end with one, and those inside must be doubled"
        raise FormatError(name_of(path), number + 1, f"not CSV ({error}): {quoting}") from None
    except UnicodeDecodeError as error:
        raise FormatError(name_of(path), number + 1, not_utf8(error)) from None


def row_maker(
    names: Sequence[str], path: str | Path, user_columns: Columns, *, naming: str = STRICT.naming
) -> Callable[[int, Iterable[tuple[str, object]]], dict[str, object]]:
    """Returns a function that makes a row of its number and cells; those of ratings become the values of our JSONL.

    Both raise a FormatError: if the columns cannot be recognised, or a cell of ours holds no value.
    """
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise FormatError(
            name_of(path), 1, f"several columns are named {twice[0]!r}: must be a header of different names"
        )
    with located(path, 1):
        columns.check_header(names, user_columns, naming)
    if not columns.holds_ratings(dict.fromkeys(names, "")):
        return lambda number, cells: dict(cells)
    needed = {name for name in names if user_columns or name in jsonl.KEYS or headings.role_of(name)}

    def to_value(name: str, cell: object) -> object:
        is_empty = cell in (None, "")
        return None if is_empty and name not in needed else _value(name, "" if is_empty else cell)

    def to_row(number: int, cells: Iterable[tuple[str, object]]) -> dict[str, object]:
        with located(path, number):
            return {name: to_value(name, cell) for name, cell in cells}

    return to_row


def _first_row(lines: Iterator[str]) -> str:
    """Returns the lines of the header: in quotation marks, a name may have several."""
    row = next(lines, "")
    is_raw = "\t" in row and not row.startswith('"')
    while not is_raw and row.count('"') % 2 and (line := next(lines, "")):
        row += line
    return row


def _check_header(names: Sequence[str], path: str | Path) -> None:
    """Raises a FormatError if the first line is a row of values."""
    values = [name for name in names if _VALUE.match(name)]
    if len(values) < _LEAST_VALUES:
        return
    allowed = ": must begin with the names of the columns, such as source,hypothesis"
    if len(names) == _N_APPRAISE and names[3] in _APPRAISE_KINDS:
        what = "; seems to be an export of Appraise (ESA), which holds no texts"
        allowed = f"{what}: put it in the folder of its batches.json and read that folder as appraise"
    problem = f"no header: {' and '.join(values[:2])} are values, not names of columns"
    raise FormatError(name_of(path), 1, f"{problem}{allowed}")


def _unquoted(cell: str) -> str:
    return cell[1:-1].replace('""', '"') if _QUOTED.fullmatch(cell) else cell


def _value(name: str, cell: object) -> object:
    if name == "hypothesis" or name not in jsonl.KEYS or not isinstance(cell, str):
        return cell
    if not cell:
        return None
    if name in _SCORES:
        return _score(cell)
    if name not in _JSON:
        return cell
    try:
        return plain_values.from_json(cell, Any)
    except InputError as error:
        with contextlib.suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            return ast.literal_eval(cell)  # as pandas writes lists and objects
        raise InputError(f"{name}: {error}, or the column have another name") from None


def _score(cell: str) -> float | str:
    """Returns the number in a cell, or the cell if that has none."""
    try:
        number = float(cell)
    except ValueError:
        return cell
    return number if math.isfinite(number) else cell

"""Workbooks of spreadsheets (XLSX): the first sheet, with the columns of our CSV.

A formula is read as the value that a spreadsheet program has stored with it. Without one it is refused, as is an error
such as #N/A. An empty cell in a column of translations is an empty translation; any other empty cell is a missing
value. More than 32,767 characters in a cell are an error.

Workbooks need the extra "excel" (`pip install 'matese[excel]'`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from matese.annotation import Rating
from matese.errors import FormatError, InputError, check_installed
from matese.files import name_of, open_binary
from matese.formats.format import STRICT, Columns, FileHead, ReadOptions, WriteOptions
from matese.formats.tables import columns, csv_table

CAPABILITIES = replace(csv_table.CAPABILITIES, replaced=(("[\x00-\x08\x0b-\x1f\ufffe\uffff]", " "),))
_LONGEST = 32_767
"""Characters of a cell; https://support.microsoft.com "Excel specifications and limits"."""
_LARGEST = 1 << 28
"""Bytes unpacked; a small archive can hold more than fits into memory."""


def matches(head: FileHead) -> bool:
    """Whether a file is a workbook."""
    parts = ("[Content_Types].xml", "_rels/", "docProps/", "xl/")  # any may come first in the archive
    return head.text.startswith("PK\x03\x04") and any(part in head.text[:200] for part in parts)


def save(ratings: Iterable[Rating], path: Path, options: WriteOptions) -> None:
    """Writes the workbook."""
    check_installed("xlsx", "openpyxl", extra="excel")
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("ratings")
    for row in csv_table.rows(ratings, options):
        if longest := next((cell for cell in row if len(cell) > _LONGEST), None):
            raise InputError(f"a cell has {len(longest):,} characters: xlsx holds at most {_LONGEST:,}; write csv")
        cells = [openpyxl.cell.WriteOnlyCell(sheet, value=cell) for cell in row]
        for cell in cells:
            cell.data_type = "s"  # a text that begins with "=" is not a formula
        sheet.append(cells)
    book.save(path)


def read(path: str | Path, options: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields the ratings of each row of the first sheet."""
    check_installed("xlsx", "openpyxl", extra="excel")
    yield from columns.ratings(_rows(path, options.columns), path, options.columns, options.lang_pair)


def _rows(path: str | Path, chosen: Columns) -> Iterator[tuple[int, object]]:
    rows = _cells(path)
    header = [_text(name).strip() for name in next(rows, ())]
    to_row = csv_table.row_maker([name for name in header if name], path, chosen)
    translations = {*chosen.get("hypothesis", ()), *(name for name in header if columns.role_of(name) == "hypothesis")}
    for number, cells in enumerate(rows, start=2):
        row = [
            (name, None if cell is None and name not in translations else _text(cell))
            for name, cell in zip(header, chain(cells, repeat(None)), strict=False)
            if name
        ]
        if any(cell for _, cell in row):
            yield number, to_row(number, row)


def _text(cell: object) -> str:
    """Returns a cell as Excel shows it: 17.0 as "17", in at most 15 digits; "" for an empty one."""
    if isinstance(cell, float):
        return f"{cell:.15G}"
    return "" if cell is None else str(cell).upper() if isinstance(cell, bool) else str(cell)


def _cells(path: str | Path) -> Iterator[Sequence[object]]:
    """Yields the values of each row of the first sheet."""
    import openpyxl

    with open_binary(path) as stream:
        try:
            archive = ZipFile(stream)
            size = sum(part.file_size for part in archive.infolist())
            if size > _LARGEST:
                raise InputError(f"{size:,} bytes unpacked, must be {_LARGEST:,} at most; write csv")
            sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
            has_formulas = any(b"<f" in archive.read(name) for name in sheets)
            rows = _all_rows(openpyxl.load_workbook(stream, read_only=True, data_only=True))
            if not has_formulas:
                yield from (_values(path, row, row) for row in rows)
                return
            formulas = _all_rows(openpyxl.load_workbook(stream, read_only=True))
            yield from (_values(path, row, with_formulas) for row, with_formulas in zip(rows, formulas, strict=True))
        except FormatError:
            raise
        except Exception as error:  # openpyxl, zipfile and two XML parsers raise errors of all kinds for damaged files
            reason = " ".join(str(error).split()) or type(error).__name__
            raise FormatError(name_of(path), None, f"no workbook ({reason}): must be an XLSX file") from None


def _all_rows(book: Any) -> Iterator[Sequence[Any]]:  # noqa: ANN401  (openpyxl may not be installed)
    """Returns the rows of the first sheet, also those beyond the dimensions that it states."""
    sheet = book.worksheets[0]
    sheet.reset_dimensions()
    rows: Iterator[Sequence[Any]] = sheet.iter_rows()
    return rows


def _values(path: str | Path, cells: Sequence[Any], formulas: Sequence[Any]) -> list[object]:
    """Returns the values of cells. Raises FormatError at a formula without a value, and at an error such as #N/A."""
    for cell, formula in zip(cells, formulas, strict=True):
        if cell.data_type == "e":
            problem = f"cell {cell.coordinate} is the error {cell.value}: must be a text or a number"
        elif cell.value is None and formula.data_type == "f":
            problem = (
                f"cell {cell.coordinate} is a formula whose value is empty or not in the file: must be a text or a "
                "number; open the file in a spreadsheet program and save it, or replace formulas by their values"
            )
        else:
            continue
        raise FormatError(name_of(path), cell.row, problem)
    return [cell.value for cell in cells]

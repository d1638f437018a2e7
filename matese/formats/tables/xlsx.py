"""Workbooks of spreadsheets (XLSX): the first sheet, with the columns of our CSV.

An empty cell in a column of translations is an empty translation; any other empty cell is a missing value. More than
32,767 characters in a cell are an error. Workbooks need the extra "excel" (`pip install 'matese[excel]'`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
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
            for name, cell in zip(header, cells, strict=False)
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
    import openpyxl

    with open_binary(path) as stream:
        try:
            size = sum(part.file_size for part in ZipFile(stream).infolist())
            if size > _LARGEST:
                raise InputError(f"{size:,} bytes unpacked, must be {_LARGEST:,} at most; write csv")
            book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
            yield from book.worksheets[0].iter_rows(values_only=True)
        except Exception as error:  # openpyxl, zipfile and two XML parsers raise errors of all kinds for damaged files
            reason = " ".join(str(error).split()) or type(error).__name__
            raise FormatError(name_of(path), None, f"no workbook ({reason}): must be an XLSX file") from None

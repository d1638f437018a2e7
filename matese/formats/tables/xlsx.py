"""Workbooks of spreadsheets (XLSX).

We write two sheets. The first is for people (`readable_sheet`): the texts, the other columns of the input, the errors
in words, which can be corrected there, and the scores. The second, "matese", has the columns of our CSV. A row of the
first sheet names its row in the second, so that rows can be sorted and removed. The headings of source and translation
are those of the input, in both sheets. In any other workbook the first sheet is read, with the columns of our CSV or of
a table of translations.

A formula is read as the value that a spreadsheet program has stored with it. Without one it is refused, as is an error
such as #N/A. An empty cell in a column of translations is an empty translation; any other empty cell is a missing
value. More than 32,767 characters in a cell are an error.

Workbooks need the extra "excel" (`pip install 'matese[excel]'`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby, repeat
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from matese import mqm, severities
from matese.annotation import ErrorSpan, Rating
from matese.errors import FormatError, InputError, check_installed
from matese.files import name_of, open_binary
from matese.formats.format import STRICT, Columns, FileHead, ReadOptions, TableStyle, WriteOptions
from matese.formats.row_issues import RowIssues, located
from matese.formats.tables import columns, csv_table, jsonl, readable_sheet

CAPABILITIES = replace(csv_table.CAPABILITIES, replaced=(("[\x00-\x08\x0b-\x1f\ufffe\uffff]", " "),))
_TECHNICAL = "matese"
_KEYS = ("index", "system", "hypothesis", "source")
"""The first columns of the second sheet, whatever their headings."""
_KEPT = ("source", "hypothesis")
_REFERENCE = re.compile(r"reference \d+")
_WIDE = 45
_NARROW = 14
_ESCAPED = re.compile(r"_x[0-9A-Fa-f]{4}_|^\s|\s$|\s\s|[\t\n\r]")
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

    written = list(ratings)
    options = replace(options, table=TableStyle(headings=_headings(written, options.table.headings)))
    book = openpyxl.Workbook(write_only=True)
    try:
        _write_readable(book.create_sheet("translations"), written, options)
        sheet = book.create_sheet(_TECHNICAL)
        for row in csv_table.rows(written, options):
            sheet.append([_text_cell(sheet, cell) for cell in row])
    except InputError:
        for unfinished in book.worksheets:  # which openpyxl would otherwise complain about when they are collected
            unfinished.close()
        raise
    book.save(path)


def style_of(path: str | Path, chosen: Columns) -> TableStyle:
    """Returns how a workbook is written, for one that comes from it; `chosen`: columns that the user has named."""
    if not chosen and _technical_header(path) is not None:
        return TableStyle(headings=_own_headings(path))
    names = [_text(name).strip() for name in next(_cells(path), ())]
    return TableStyle(headings=columns.headings([name for name in names if name], chosen, is_read_by_name=False))


def _headings(ratings: Sequence[Rating], given: Mapping[str, str]) -> dict[str, str]:
    """Returns the headings of source and translation that are not ours and that no other column has."""
    others = {name for rating in ratings for name in rating.segment.extra or ()}
    taken = {*others, *map(_other_heading, others), *readable_sheet.ADDED, *jsonl.KEYS}
    return {
        key: name
        for key, name in given.items()
        if key in _KEPT and name not in taken and not _REFERENCE.fullmatch(name)
    }


def _write_readable(sheet: Any, ratings: Sequence[Rating], options: WriteOptions) -> None:  # noqa: ANN401  (of openpyxl)
    n_references = max((len(rating.segment.references) for rating in ratings), default=0)
    references = [f"reference {number}" for number in range(1, n_references + 1)]
    others = list(dict.fromkeys(name for rating in ratings for name in rating.segment.extra or ()))
    given = options.table.headings
    texts = [given.get("source", "source"), given.get("hypothesis", "hypothesis"), *references]
    sheet.freeze_panes = "A2"
    for number, name in enumerate([*texts, *others, *readable_sheet.ADDED], start=1):
        is_text = name in (*texts, readable_sheet.ERRORS)
        sheet.column_dimensions[_letters(number)].width = _WIDE if is_text else _NARROW
    last = _letters(len(texts) + len(others) + len(readable_sheet.ADDED))
    sheet.auto_filter.ref = f"A1:{last}{len(ratings) + 1}"
    headings = [*texts, *map(_other_heading, others), *readable_sheet.ADDED]
    header = [_text_cell(sheet, name, is_bold=True) for name in headings]
    header[headings.index(readable_sheet.ERRORS)].comment = _syntax()
    sheet.append(header)
    for number, rating in enumerate(ratings, start=1):
        segment = rating.segment
        padded = [*segment.references, *repeat("", n_references - len(segment.references))]
        extra = segment.extra or {}
        cells = [
            _text_cell(sheet, segment.source or ""),
            _marked_cell(sheet, segment.hypothesis, rating.errors or ()),
            *(_text_cell(sheet, text) for text in padded),
            *(_other_cell(sheet, extra.get(name)) for name in others),
            _text_cell(sheet, readable_sheet.text(rating)),
            None if rating.errors is None else mqm.score(rating, options.weights),
            mqm.expected_score(rating),
            number,
        ]
        sheet.append(cells)


def _other_heading(name: str) -> str:
    """Returns the heading of a column of the input; one that is called as a column of ours gets another name."""
    is_ours = name in readable_sheet.ADDED or columns.role_of(name) is not None
    return f"input_{name}" if is_ours else name


def _syntax() -> Any:  # noqa: ANN401  (of openpyxl)
    """Returns the comment that explains how errors are written."""
    from openpyxl.comments import Comment

    return Comment(readable_sheet.SYNTAX, _TECHNICAL, height=220, width=420)


def _other_cell(sheet: Any, value: object) -> Any:  # noqa: ANN401  (of openpyxl)
    """Returns a cell of a column of the input: a number as one."""
    return value if isinstance(value, int | float) else _text_cell(sheet, _shown(value))


def _shown(value: object) -> str:
    return "" if value is None else str(value)


def _letters(number: int) -> str:
    from openpyxl.utils import get_column_letter

    return str(get_column_letter(number))


def _text_cell(sheet: Any, value: Any, *, is_bold: bool = False) -> Any:  # noqa: ANN401  (of openpyxl)
    """Returns a cell that shows a text as it is. Raises InputError if the text is too long for a cell."""
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Alignment, Font

    if len(text := str(value)) > _LONGEST:
        raise InputError(f"a cell has {len(text):,} characters: xlsx holds at most {_LONGEST:,}; write csv")
    cell = WriteOnlyCell(sheet, value=value or None)
    if value:
        cell.data_type = "s"  # a text that begins with "=" is not a formula
    if sheet.title != _TECHNICAL:
        cell.alignment = Alignment(wrap_text=True, vertical="top")
    if is_bold:
        cell.font = Font(bold=True)
    return cell


def _marked_cell(sheet: Any, text: str, spans: Iterable[ErrorSpan]) -> Any:  # noqa: ANN401
    """Returns the cell of a translation, with the words of errors in colour; where spans overlap, the worst is seen."""
    from openpyxl.cell.rich_text import CellRichText, TextBlock
    from openpyxl.cell.text import InlineFont

    ordered = sorted(spans, key=lambda span: severities.rank(span.severity))
    if not ordered or _ESCAPED.search(text):  # which openpyxl writes in plain cells only
        return _text_cell(sheet, text)
    colours: list[str] = [""] * len(text)
    for span in ordered:
        on_paper, _ = severities.TRAITS[span.severity].ink
        colours[span.start : span.end] = [f"FF{on_paper[1:].upper()}"] * (span.end - span.start)
    parts: list[object] = []
    for colour, run in groupby(range(len(text)), key=colours.__getitem__):
        places = list(run)
        piece = text[places[0] : places[-1] + 1]
        parts.append(TextBlock(InlineFont(color=colour, b=True, u="single"), piece) if colour else piece)
    cell = _text_cell(sheet, text)
    cell.value = CellRichText(*parts)
    cell.data_type = "s"
    return cell


def read(path: str | Path, options: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields the ratings of each row of the first sheet."""
    check_installed("xlsx", "openpyxl", extra="excel")
    if not options.columns and _technical_header(path) is not None:
        yield from _corrected(path, options)
    else:
        yield from columns.ratings(_rows(path, options.columns), path, options.columns, options.lang_pair)


def _technical_header(path: str | Path) -> list[str] | None:
    """Returns the headings of our second sheet; None if the workbook is not ours, or has nothing else."""
    headings = next(_cells(path), ())  # which also checks the file
    titles = _titles(path)
    if _TECHNICAL not in titles:
        if readable_sheet.ERRORS in headings and readable_sheet.NUMBER in headings:
            allowed = "in which matese keeps the places of errors: restore it"
            raise FormatError(name_of(path), None, f"no sheet {_TECHNICAL!r}, {allowed}")
        return None
    header = list(map(_text, next(_cells(path, _TECHNICAL), ())))
    return header if titles[0] != _TECHNICAL and "errors" in header else None


def _own_headings(path: str | Path) -> dict[str, str]:
    """Returns the headings of the source and the translation in a workbook of ours."""
    header = _technical_header(path) or ()
    return {key: name for key, name in zip(_KEYS, header, strict=False) if key in _KEPT}


def _corrected(path: str | Path, options: ReadOptions) -> Iterator[Rating]:
    """Yields the rating of each row of the sheet for people, with what they have changed in it."""
    own = _own_headings(path)
    texts = {name: key for key, name in own.items()}
    technical = _rows(path, {}, title=_TECHNICAL, renamed=texts)
    given = dict(enumerate(columns.ratings(technical, path, {}, options.lang_pair), start=1))
    rows = _cells(path)
    headings = [_text(name).strip() for name in next(rows)]
    needed = [*own.values(), readable_sheet.ERRORS, readable_sheet.NUMBER]
    with located(path, 1):
        _check_headings(headings, needed)
    for line, cells in enumerate(rows, start=2):
        row = {name: cell for name, cell in zip(headings, chain(cells, repeat(None)), strict=False) if name}
        if not any(map(_text, row.values())):
            continue
        with located(path, line):
            name = _text(row[readable_sheet.NUMBER])
            before = given.pop(int(name), None) if name.isdecimal() else None
            if before is None:
                allowed = f"must be the number of a row of the sheet {_TECHNICAL}, once"
                raise InputError(f"{readable_sheet.NUMBER} is {name!r}: {allowed}")
            _check_unchanged(_text(row[own["source"]]), before.segment.source, own["source"])
            for number, reference in enumerate(before.segment.references, start=1):
                heading = f"reference {number}"
                _check_unchanged(_text(row.get(heading, reference)), reference, heading)
            issues = RowIssues(name_of(path), options.report, line)
            rating = readable_sheet.corrected(
                _text(row[readable_sheet.ERRORS]), before, _text(row[own["hypothesis"]]), issues
            )
            extra = _extra({name: cell for name, cell in row.items() if name not in needed}, rating)
            yield replace(rating, segment=replace(rating.segment, line=line, extra=extra))


def _check_headings(headings: Sequence[str], needed: Sequence[str]) -> None:
    """Raises InputError unless the first sheet has each of the headings that we have written once."""
    for name in needed:
        if (n := headings.count(name)) != 1:
            problem = f"no column {name!r}" if n == 0 else f"{n} columns {name!r}"
            shown = ", ".join(filter(None, headings))
            allowed = f"must have {' and '.join(', '.join(needed).rsplit(', ', 1))} as matese wrote them"
            raise InputError(f"{problem} in the first sheet (headings: {shown}): {allowed}")


def _check_unchanged(cell: str, text: str | None, heading: str) -> None:
    """Raises InputError if a text that cannot be corrected is another one."""
    if "".join(cell.split()) != "".join((text or "").split()):
        raise InputError(f"{heading} has changed: must stay as it was; mark the new text again with matese tag")


def _extra(row: Mapping[str, object], rating: Rating) -> dict[str, object] | None:
    """Returns the other columns: those that a person has changed or added as they are in the sheet."""
    extra = dict(rating.segment.extra or {})
    names = {_other_heading(name): name for name in extra}
    for heading, cell in row.items():
        if heading in readable_sheet.ADDED or _REFERENCE.fullmatch(heading):
            continue
        name = names.get(heading, heading)
        is_new = name not in extra or "".join(_text(cell).split()) != "".join(_shown(extra[name]).split())
        if is_new or isinstance(cell, int | float):
            extra[name] = None if _text(cell) == "" else _other_value(cell)
    return extra or None


def _other_value(cell: object) -> object:
    """Returns a cell of another column: a number as one, anything else as a text."""
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return _text(cell)
    return int(cell) if cell == int(cell) else cell


def _rows(
    path: str | Path, chosen: Columns, *, title: str | None = None, renamed: Mapping[str, str] | None = None
) -> Iterator[tuple[int, object]]:
    """Yields the rows of a sheet, whose columns get other names than their headings according to `renamed`."""
    rows = _cells(path, title)
    headings = [_text(name).strip() for name in next(rows, ())]
    header = [(renamed or {}).get(name, name) for name in headings]
    to_row = csv_table.row_maker([name for name in header if name], path, chosen)
    translations = {
        *columns.joined(chosen.get("hypothesis", ()), header),
        *(name for name in header if columns.role_of(name) == "hypothesis"),
    }
    named = {name for names in chosen.values() for name in columns.joined(names, header)}

    def read_cell(name: str, cell: object) -> object:
        is_ours = name in named or name in jsonl.KEYS or columns.role_of(name) is not None
        return _text(cell) if is_ours else _other_value(cell)

    for number, cells in enumerate(rows, start=2):
        row = [
            (name, None if cell is None and name not in translations else read_cell(name, cell))
            for name, cell in zip(header, chain(cells, repeat(None)), strict=False)
            if name
        ]
        if any(cell not in (None, "") for _, cell in row):
            yield number, to_row(number, row)


def _text(cell: object) -> str:
    """Returns a cell as Excel shows it: 17.0 as "17", in at most 15 digits; "" for an empty one."""
    if isinstance(cell, float):
        return f"{cell:.15G}"
    return "" if cell is None else str(cell).upper() if isinstance(cell, bool) else str(cell)


def _titles(path: str | Path) -> list[str]:
    """Returns the names of the sheets."""
    import openpyxl

    with open_binary(path) as stream:
        return list(openpyxl.load_workbook(stream, read_only=True).sheetnames)


def _cells(path: str | Path, title: str | None = None) -> Iterator[Sequence[object]]:
    """Yields the values of each row of the first sheet, or of the one with a title."""
    import openpyxl

    with open_binary(path) as stream:
        try:
            archive = ZipFile(stream)
            size = sum(part.file_size for part in archive.infolist())
            if size > _LARGEST:
                raise InputError(f"{size:,} bytes unpacked, must be {_LARGEST:,} at most; write csv")
            sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
            has_formulas = any(b"<f" in archive.read(name) for name in sheets)
            rows = _all_rows(openpyxl.load_workbook(stream, read_only=True, data_only=True), title)
            if not has_formulas:
                yield from (_values(path, row, row) for row in rows)
                return
            formulas = _all_rows(openpyxl.load_workbook(stream, read_only=True), title)
            yield from (_values(path, row, with_formulas) for row, with_formulas in zip(rows, formulas, strict=True))
        except FormatError:
            raise
        except InputError as error:
            raise FormatError(name_of(path), None, str(error)) from None
        except Exception as error:  # openpyxl, zipfile and two XML parsers raise errors of all kinds for damaged files
            reason = " ".join(str(error).split()) or type(error).__name__
            raise FormatError(name_of(path), None, f"no workbook ({reason}): must be an XLSX file") from None


def _all_rows(book: Any, title: str | None) -> Iterator[Sequence[Any]]:  # noqa: ANN401  (of openpyxl)
    """Returns the rows of the first sheet, or of the one with a title, also beyond the dimensions that it states."""
    if title is not None and title not in book.sheetnames:
        raise InputError(f"no sheet {title!r}, in which matese keeps the places of errors: restore it")
    sheet = book.worksheets[0] if title is None else book[title]
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

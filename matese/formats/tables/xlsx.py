"""Workbooks of spreadsheets (XLSX).

We write two sheets. The first is for people (`readable_sheet`): the texts, the other columns of the input, the errors
in words, which can be corrected there, and the scores. The second, "matese", has the columns of our CSV. A row of the
first sheet names its row in the second, so that rows can be sorted and removed. The headings of source and translation
are those of the input, in both sheets. Its columns keep their places, and ours follow. In any other workbook the first
sheet is read, with the columns of our CSV or of a table of translations.

A formula is read as the value that a spreadsheet program has stored with it. Without one it is refused, as is an error
such as #N/A. An empty cell in a column of translations is an empty translation; any other empty cell is a missing
value. Of merged cells all but the first are empty, which is reported if they are in several rows. More than 32,767
characters in a cell are an error.

Workbooks need the extra "excel" (`pip install 'matese[excel]'`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, islice, repeat
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from matese import mqm, severities
from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey
from matese.errors import FormatError, InputError, check_installed
from matese.files import name_of, open_binary
from matese.formats import person_review
from matese.formats.format import STRICT, Columns, ReadOptions, TableStyle, WriteOptions
from matese.formats.row_issues import RowIssues, located
from matese.formats.tables import columns, csv_table, jsonl, readable_sheet
from matese.formats.tables.headings import role_of

CAPABILITIES = replace(csv_table.CAPABILITIES, replaced=(("[\x00-\x08\x0b-\x1f\ufffe\uffff]", " "),))
_TECHNICAL = "matese"
_KEYS = ("index", "system", "hypothesis", "source")
"""The first columns of the second sheet, whatever their headings."""
_KEPT = ("source", "hypothesis")
_REFERENCE = re.compile(r"reference \d+")
_WIDE = 45
_NARROW = 14
_ESCAPED = re.compile(r"_x[0-9A-Fa-f]{4}_|^\s|\s$|\s\s|[\t\n\r]")
_CONTROL = re.compile("_x(00[01][0-9A-Fa-f])_")
"""Control characters as Excel writes them, which openpyxl leaves as they are: a line end of Windows is `_x000D_` and a
line feed."""
_LONGEST = 32_767
"""Characters of a cell; https://support.microsoft.com "Excel specifications and limits"."""
_LARGEST = 1 << 28
"""Bytes unpacked; a small archive can hold more than fits into memory."""


def save(ratings: Iterable[Rating], path: Path, options: WriteOptions) -> None:
    """Writes the workbook."""
    check_installed("xlsx", "openpyxl", extra="excel")
    import openpyxl

    written = list(ratings)
    headings = _headings(written, options.table.headings)
    options = replace(options, table=TableStyle(headings=headings, columns=options.table.columns))
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
    names = [name for cell in next(_cells(path), ()) if (name := _text(cell).strip())]
    if not chosen and _technical_header(path) is not None:
        headings = _own_headings(path)
        roles = {name: role for role, name in headings.items()}
        others = [name for name in names if name not in readable_sheet.ADDED]
        return TableStyle(
            headings=headings, columns=[(name, roles.get(name) or role_of(name) or "") for name in others]
        )
    headings = columns.headings(names, chosen, is_read_by_name=False)
    return TableStyle(headings=headings, columns=columns.with_roles(names, chosen))


def _headings(ratings: Sequence[Rating], given: Mapping[str, str]) -> dict[str, str]:
    """Returns the headings of source and translation that are not ours and that no other column has."""
    others = {name for rating in ratings for name in rating.segment.extra or ()}
    taken = {*others, *(f"input_{name}" for name in others), *readable_sheet.ADDED, *jsonl.KEYS}
    return {
        key: name
        for key, name in given.items()
        if key in _KEPT and name not in taken and not _REFERENCE.fullmatch(name)
    }


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of the first sheet, before those that we add.

    Attributes:
        heading: in the sheet.
        role: of `columns.ROLES`; "" for one of the others.
        name: of one of the others, in `Segment.extra`; "" if it is none.
        reference: the number of the reference that it holds, from 0.
    """

    heading: str
    role: str = ""
    name: str = ""
    reference: int = 0

    @property
    def is_wide(self) -> bool:
        """Whether it holds a text that is translated."""
        return self.role in ("source", "hypothesis", "reference")

    def cell(self, sheet: Any, rating: Rating) -> Any:  # noqa: ANN401  (of openpyxl)
        """Returns the cell in the row of a rating."""
        segment = rating.segment
        extra = segment.extra or {}
        if self.name and (extra.get(self.name) is not None or not self.role):
            return _other_cell(sheet, extra.get(self.name))
        match self.role:
            case "source":
                return _text_cell(sheet, segment.source or "")
            case "hypothesis":
                return _marked_cell(sheet, segment.hypothesis, rating.errors or ())
            case "reference":
                has_it = self.reference < len(segment.references)
                return _text_cell(sheet, segment.references[self.reference] if has_it else "")
            case _:
                return _other_cell(sheet, _of_key(segment, self.role))


def _of_key(segment: Segment, role: str) -> object:
    """Returns what the key of a segment holds in the role of a column; None if the segment has no key."""
    return None if segment.key is None else getattr(segment.key, role)


def _columns(ratings: Sequence[Rating], table: TableStyle) -> list[_Column]:
    """Returns the columns of the first sheet that precede ours, in the order of the table that came in.

    What that table lacks follows: texts, the system if there are several, and other columns.
    """
    others = dict.fromkeys(name for rating in ratings for name in rating.segment.extra or ())
    n_references = max((len(rating.segment.references) for rating in ratings), default=0)
    systems = {_of_key(rating.segment, "system") for rating in ratings}
    texts = [_Column(table.headings.get(role, role), role) for role in _KEPT]
    references = [_Column(f"reference {n + 1}", "reference", reference=n) for n in range(n_references)]
    of_role = {column.role: iter([column]) for column in texts} | {"reference": iter(references)}
    placed: list[_Column] = []
    for name, role in table.columns:
        if role in of_role:
            placed += islice(of_role[role], 1)
        elif role in SegmentKey.__dataclass_fields__:
            heading = name if role_of(name) == role else role
            placed.append(_Column(heading, role, name if name in others else ""))
        else:  # a comment is kept under its role; a heading of a workbook of ours may not be the name
            placed += [_Column(own, name=own) for own in (role or name, name.removeprefix("input_")) if own in others][
                :1
            ]
    has_system = len(systems) == 1 or any(column.role == "system" for column in placed)
    rest = [*texts, *references, *([] if has_system else [_Column("system", "system")])]
    placed += [column for column in rest if column not in placed]
    names = {column.name for column in placed}
    placed += [_Column(name, name=name) for name in others if name not in names]
    taken = {*readable_sheet.ADDED, *(column.heading for column in placed if column.role)}
    return [
        replace(column, heading=f"input_{column.name}")
        if not column.role and (column.heading in taken or _REFERENCE.fullmatch(column.heading))
        else column
        for column in placed
    ]


def _write_readable(sheet: Any, ratings: Sequence[Rating], options: WriteOptions) -> None:  # noqa: ANN401  (of openpyxl)
    given = _columns(ratings, options.table)
    headings = [*(column.heading for column in given), *readable_sheet.ADDED]
    sheet.freeze_panes = "A2"
    for number in range(1, len(headings) + 1):
        is_wide = headings[number - 1] == readable_sheet.ERRORS or (number <= len(given) and given[number - 1].is_wide)
        sheet.column_dimensions[_letters(number)].width = _WIDE if is_wide else _NARROW
    sheet.auto_filter.ref = f"A1:{_letters(len(headings))}{len(ratings) + 1}"
    header = [_text_cell(sheet, name, is_bold=True) for name in headings]
    header[headings.index(readable_sheet.ERRORS)].comment = _syntax()
    sheet.append(header)
    for number, rating in enumerate(ratings, start=1):
        cells = [
            *(column.cell(sheet, rating) for column in given),
            _text_cell(sheet, readable_sheet.text(rating)),
            None,  # for people to tick
            None if rating.errors is None else mqm.score(rating, options.weights),
            mqm.expected_score(rating),
            number,
        ]
        sheet.append(cells)


def _syntax() -> Any:  # noqa: ANN401  (of openpyxl)
    """Returns the comment that explains how errors are written."""
    from openpyxl.comments import Comment

    return Comment(readable_sheet.SYNTAX, _TECHNICAL, height=220, width=420)


def _other_cell(sheet: Any, value: object) -> Any:  # noqa: ANN401  (of openpyxl)
    """Returns a cell of a column of the input: a number as one."""
    return value if isinstance(value, int | float) else _text_cell(sheet, _shown(value))


def _shown(value: object) -> str:
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, default=jsonl.plain)
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
        next(_cells(path), ())  # which checks the file
        if len(titles := _titles(path)) > 1:
            what = f"only the first of {len(titles)} sheets is read; save each of the others as a file"
            RowIssues(name_of(path), options.report, 1).assume(what)
        for cells, row in _merged_cells(path):
            what = f"cells {cells} are merged, and all but the first are read as empty; unmerge them and fill each"
            RowIssues(name_of(path), options.report, row).assume(what)
        yield from columns.ratings(
            _rows(path, options.columns), path, options.columns, options.lang_pair, options=options
        )


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
            ticked = Segment("", extra={person_review.REVIEWED: row.get(person_review.REVIEWED)})
            is_changed = person_review.marks(rating) != person_review.marks(before)
            if person_review.is_of_model(rating) and (is_changed or person_review.is_ticked(ticked)):
                rating = person_review.by(None, rating)
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
    renamed = {f"input_{name}": name for name in extra if f"input_{name}" not in extra}
    for heading, cell in row.items():
        if heading in readable_sheet.ADDED or _REFERENCE.fullmatch(heading):
            continue
        name = renamed.get(heading, heading)
        role = role_of(name)
        in_key = _of_key(rating.segment, role) if role in SegmentKey.__dataclass_fields__ else None
        if in_key is not None and extra.get(name) is None and _text(cell) == str(in_key):
            continue
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
    if not any(headings) and any(map(any, rows)):
        raise FormatError(name_of(path), 1, "row 1 is empty: must be the header; remove the empty rows above it")
    header = [(renamed or {}).get(name, name) for name in headings]
    to_row = csv_table.row_maker([name for name in header if name], path, chosen)
    translations = {
        *columns.joined(chosen.get("hypothesis", ()), header),
        *(name for name in header if role_of(name) == "hypothesis"),
    }
    named = {name for names in chosen.values() for name in columns.joined(names, header)}
    keys = jsonl.KEYS if columns.holds_ratings(dict.fromkeys(header)) else ()

    def read_cell(name: str, cell: object) -> object:
        is_ours = name in named or name in keys or role_of(name) is not None
        if isinstance(cell, str) and title is None:
            return _CONTROL.sub(lambda match: chr(int(match[1], 16)), cell)
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


def _merged_cells(path: str | Path) -> Iterator[tuple[str, int]]:
    """Yields each range of merged cells of several rows in the first sheet ("A2:A4"), with its first row."""
    import openpyxl

    with open_binary(path) as stream:
        archive = ZipFile(stream)
        sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
        if any(b"mergeCell " in archive.read(name) for name in sheets):  # read as a whole, which takes more memory
            for cells in openpyxl.load_workbook(stream).worksheets[0].merged_cells.ranges:
                if cells.min_row < cells.max_row:
                    yield cells.coord, cells.min_row


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

"""Workbooks of spreadsheets (XLSX).

We write into a copy of the workbook that the texts come from, or into a new one. The first sheet is for people: columns
of ours follow (`readable_sheet`), with the errors in words, which can be corrected there, and the scores; the words of
errors in the translations are in colour. All else stays: sheets, styles, headings and cells, but a formula in the first
sheet becomes its value. A last sheet, "matese", has the columns of our CSV, each rating in the row that it has in the
first sheet, and says there what the columns of that sheet hold. `row` in the first sheet names this row, so that rows
can be sorted and removed. Where the ratings are not one for each row of the workbook, a new one is written.

In any other workbook the first sheet is read, with the columns of our CSV or of a table of translations.

A formula is read as the value that a spreadsheet program has stored with it. Without one it is refused, as is an error
such as #N/A. An empty cell in a column of translations is an empty translation; any other empty cell is a missing
value. Of merged cells all but the first are empty, which is reported if they are in several rows. More than 32,767
characters in a cell are an error.

Workbooks need the extra "excel" (`pip install 'matese[excel]'`).
"""

from __future__ import annotations

import copy
import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby, repeat
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from matese import mqm
from matese.annotation import Rating, Segment, severities
from matese.annotation.severity_looks import LOOKS
from matese.errors import FormatError, InputError, check_installed
from matese.files import name_of, open_binary
from matese.formats import person_review
from matese.formats.format import STRICT, Columns, ReadOptions, TableStyle, WriteOptions
from matese.formats.row_issues import RowIssues, located
from matese.formats.tables import columns, csv_table, jsonl, readable_sheet
from matese.formats.tables.headings import COMMENT, role_of
from matese.validation import plain_values

CAPABILITIES = replace(csv_table.CAPABILITIES, replaced=(("[\x00-\x08\x0b-\x1f\ufffe\uffff]", " "),))
_TECHNICAL = "matese"
_COLUMNS = "columns: "
"""Begins the last heading of the second sheet: the headings of the first sheet, each with what it holds, as JSON."""
_OURS = "matese "
"""Begins what the columns that we add hold, and their headings where the name alone is taken."""
_INPUT = "input_"
_TEXTS = ("source", "hypothesis", "reference")
_COLOURS = {severity: f"FF{looks.ink[0].removeprefix('#').upper()}" for severity, looks in LOOKS.items()}
"""Of marked words, as ARGB."""
_WIDE = 45
_NARROW = 14
_NO_TEXT = re.compile("[\x00-\x20\ufffe\uffff\\s]")
_ESCAPED = re.compile(r"_x[0-9A-Fa-f]{4}_|^\s|\s$|\s\s|[\t\n\r]")
_CONTROL = re.compile("_x(00[01][0-9A-Fa-f])_")
"""Control characters as Excel writes them, which openpyxl leaves as they are: a line end of Windows is `_x000D_` and a
line feed."""
_LONGEST = 32_767
"""Characters of a cell; https://support.microsoft.com "Excel specifications and limits"."""
_LARGEST = 1 << 28
"""Bytes unpacked; a small archive can hold more than fits into memory."""


def save(ratings: Iterable[Rating], path: Path, options: WriteOptions) -> None:
    """Writes the workbook. Raises InputError if a template lacks a text."""
    check_installed("xlsx", "openpyxl", extra="excel")
    written = list(ratings)
    table = options.table if options.template is None else style_of(options.template, {})
    lines = None if table.workbook is None else _lines_of(written, table.workbook, table.chosen)
    if options.template is not None and lines is None:
        allowed = "must be a workbook whose first sheet has each translation, with its source, in one row"
        raise InputError(f"template {options.template}: {allowed}")
    if table.workbook is None or lines is None:
        book, held = _new_book(written, table.headings)
        lines = list(range(2, len(written) + 2))
    else:
        book, held = _copied_book(table.workbook, table.chosen)
    held = _with_ours(book.worksheets[0], held, written, lines, options.weights)
    _add_technical(book, held, written, lines, options)
    book.save(path)


def style_of(path: str | Path, chosen: Columns) -> TableStyle:
    """Returns how a workbook is written, for one that comes from it; `chosen`: columns that the user has named."""
    names = [name for cell in next(_cells(path), ()) if (name := _text(cell).strip())]
    if not chosen and (held := _held(path)) is not None:
        return TableStyle(
            headings={role: name for name, role in held.items() if role in _TEXTS[:2]}, workbook=Path(path)
        )
    headings = columns.headings(names, chosen, is_read_by_name=False)
    if not chosen and columns.holds_ratings(dict.fromkeys(names, "")):
        return TableStyle(headings=headings)
    return TableStyle(headings=headings, workbook=Path(path), chosen=chosen)


def _lines_of(ratings: Sequence[Rating], path: Path, chosen: Columns) -> list[int] | None:
    """Returns the row of each rating in a workbook that has its texts; None if they are not one for a row."""
    waiting: dict[tuple[str, ...], deque[int]] = {}
    for given in read(path, ReadOptions(lambda issue: None, columns=chosen)):
        waiting.setdefault(_texts_of(given.segment), deque()).append(given.segment.line or 0)
    lines: list[int] = []
    for rating in ratings:
        if not (queue := waiting.get(_texts_of(rating.segment))):
            return None
        lines.append(queue.popleft())
    return lines if len(set(lines)) == len(lines) else None


def _texts_of(segment: Segment) -> tuple[str, ...]:
    """Returns the texts of a segment as they are compared: white space and what no workbook can hold do not count."""
    return tuple(_NO_TEXT.sub("", text or "") for text in (segment.hypothesis, segment.source))


def _new_book(ratings: Sequence[Rating], given: Mapping[str, str]) -> tuple[Any, dict[str, str]]:
    """Returns a workbook with the texts and other columns in its first sheet, and what its columns hold.

    Args:
        ratings: one for each row.
        given: headings of source and hypothesis, as far as they are not ours.
    """
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "translations"
    others = dict.fromkeys(name for rating in ratings for name in rating.segment.extra or ())
    n_references = max((len(rating.segment.references) for rating in ratings), default=0)
    held = {role if (name := given.get(role, role)) in others else name: role for role in _TEXTS[:2]}
    held |= {f"reference {number + 1}": "reference" for number in range(n_references)}
    if len({_of_key(rating.segment, "system") for rating in ratings}) > 1:
        held["system"] = "system"
    for name in others:
        heading = f"{_INPUT}{name}" if name in held or name != name.strip() or not name else name
        while heading in held:
            heading = f"{_INPUT}{heading}"
        held[heading] = f"={name}"
    for number, (heading, role) in enumerate(held.items(), start=1):
        _set(sheet.cell(1, number), heading)
        _style(sheet, number, is_wide=role in _TEXTS)
    for line, rating in enumerate(ratings, start=2):
        references = iter(rating.segment.references)
        for number, role in enumerate(held.values(), start=1):
            value = next(references, "") if role == "reference" else _value_of(rating.segment, role)
            _set(sheet.cell(line, number), value)
    sheet.freeze_panes = "A2"
    return book, held


def _value_of(segment: Segment, role: str) -> object:
    if role.startswith("="):
        return (segment.extra or {}).get(role[1:])
    return getattr(segment, role) if role in _TEXTS else _of_key(segment, role)


def _of_key(segment: Segment, role: str) -> object:
    """Returns what the key of a segment holds in the role of a column; None if the segment has no key."""
    return None if segment.key is None else getattr(segment.key, role)


def _copied_book(path: Path, chosen: Columns) -> tuple[Any, dict[str, str]]:
    """Returns a workbook that came in, without earlier marks, and what the columns of its first sheet hold."""
    import openpyxl

    with open_binary(path) as stream:
        book = openpyxl.load_workbook(stream, rich_text=True)
        values = openpyxl.load_workbook(stream, data_only=True).worksheets[0]
    sheet = book.worksheets[0]
    for row in sheet:
        for cell in row:
            if cell.data_type == "f":
                _set(cell, values[cell.coordinate].value)
    held = None if chosen else _held(path)
    if held is not None:
        del book[_TECHNICAL]
        for cell in [
            cell for row in sheet for cell in row if held.get(_text(sheet.cell(1, cell.column).value)) in _TEXTS
        ]:
            if not isinstance(cell.value, str | int | float | None):  # the colours of earlier marks
                _set(cell, str(cell.value))
        return book, held
    if _TECHNICAL in book.sheetnames:
        raise InputError(f"{path}: a sheet is called {_TECHNICAL!r}, as the one that is added: rename it")
    names = [name for cell in sheet[1] if (name := _text(cell.value).strip())]
    roles = dict(columns.with_roles(names, chosen))
    return book, {name: roles.get(name) or f"={name}" for name in names}


def _with_ours(
    sheet: Any,  # noqa: ANN401  (of openpyxl)
    held: Mapping[str, str],
    ratings: Sequence[Rating],
    lines: Sequence[int],
    weights: mqm.Weights,
) -> dict[str, str]:
    """Writes our columns, and the words of errors in colour; returns what all columns hold."""
    numbers = {name: cell.column for cell in sheet[1] if (name := _text(cell.value).strip())}
    added = dict(held)
    last = max((cell.column for row in sheet for cell in row if cell.value is not None), default=0)
    places: dict[str, int] = {}
    for name in readable_sheet.ADDED:
        role = f"{_OURS}{name}"
        heading = next((heading for heading, what in held.items() if what == role), None)
        if heading is None:
            heading = name if name not in held else role
            last += 1
            numbers[heading] = last
            header = sheet.cell(1, last, heading)
            if last > 1:
                header._style = copy.copy(sheet.cell(1, last - 1)._style)
            _style(sheet, last, is_wide=name == readable_sheet.ERRORS)
            if name == readable_sheet.ERRORS:
                header.comment = _syntax()
            added[heading] = role
        places[name] = numbers[heading]
    for line in range(2, sheet.max_row + 1):
        for name in readable_sheet.ADDED:
            sheet.cell(line, places[name]).value = None
    translations = next(numbers[name] for name, role in held.items() if role == "hypothesis")
    for line, rating in zip(lines, ratings, strict=True):
        score = None if rating.errors is None else mqm.score(rating, weights)
        cells = (readable_sheet.text(rating), None, score, mqm.expected_score(rating), line)
        for name, value in zip(readable_sheet.ADDED, cells, strict=True):
            _set(sheet.cell(line, places[name]), value)
        _paint(sheet.cell(line, translations), rating)
    if sheet.auto_filter.ref or sheet.freeze_panes == "A2":
        sheet.auto_filter.ref = f"A1:{_letters(max(numbers.values()))}{max(sheet.max_row, 1)}"
    return added


def _add_technical(
    book: Any,  # noqa: ANN401  (of openpyxl)
    held: Mapping[str, str],
    ratings: Sequence[Rating],
    lines: Sequence[int],
    options: WriteOptions,
) -> None:
    """Adds the sheet with the columns of our CSV, each rating in its row of the first sheet."""
    sheet = book.create_sheet(_TECHNICAL)
    rows = csv_table.rows(ratings, replace(options, table=TableStyle()))
    header = [*next(rows), f"{_COLUMNS}{json.dumps(held, ensure_ascii=False)}"]
    for line, row in zip((1, *lines), chain([header], rows), strict=True):
        for number, value in enumerate(row, start=1):
            if value:
                _set(sheet.cell(line, number), value)


def _syntax() -> Any:  # noqa: ANN401  (of openpyxl)
    """Returns the comment that explains how errors are written."""
    from openpyxl.comments import Comment

    return Comment(readable_sheet.SYNTAX, _TECHNICAL, height=220, width=420)


def _shown(value: object) -> str:
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, default=jsonl.plain)
    return "" if value is None else str(value)


def _letters(number: int) -> str:
    from openpyxl.utils import get_column_letter

    return str(get_column_letter(number))


def _set(cell: Any, value: object) -> None:  # noqa: ANN401  (of openpyxl)
    """Writes a number, or a text as it is. Raises InputError if the text is too long for a cell."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        cell.value = value
        return
    if len(text := _shown(value)) > _LONGEST:
        raise InputError(f"a cell has {len(text):,} characters: xlsx holds at most {_LONGEST:,}; write csv")
    cell.value = text or None
    if text:
        cell.data_type = "s"  # a text that begins with "=" is not a formula


def _style(sheet: Any, number: int, *, is_wide: bool) -> None:  # noqa: ANN401  (of openpyxl)
    """Sets width and alignment of a column of ours, with its heading in bold."""
    from openpyxl.styles import Alignment, Font

    dimension = sheet.column_dimensions[_letters(number)]
    dimension.width = _WIDE if is_wide else _NARROW
    dimension.alignment = Alignment(wrap_text=True, vertical="top")
    if sheet.cell(1, number).font == Font():
        sheet.cell(1, number).font = Font(bold=True)


def _paint(cell: Any, rating: Rating) -> None:  # noqa: ANN401  (of openpyxl)
    """Shows the words of errors in a translation in colour; where spans overlap, the worst is seen."""
    from openpyxl.cell.rich_text import CellRichText, TextBlock
    from openpyxl.cell.text import InlineFont

    text = rating.segment.hypothesis
    ordered = sorted(rating.errors or (), key=lambda span: severities.rank(span.severity))
    if not ordered or _ESCAPED.search(text) or _text(cell.value) != text:  # which openpyxl writes in plain cells only
        return
    colours: list[str] = [""] * len(text)
    for span in ordered:
        colours[span.start : span.end] = [_COLOURS[span.severity]] * (span.end - span.start)
    parts: list[object] = []
    for colour, run in groupby(range(len(text)), key=colours.__getitem__):
        places = list(run)
        piece = text[places[0] : places[-1] + 1]
        parts.append(TextBlock(InlineFont(color=colour, b=True, u="single"), piece) if colour else piece)
    cell.value = CellRichText(*parts)
    cell.data_type = "s"


def read(path: str | Path, options: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields the ratings of each row of the first sheet."""
    check_installed("xlsx", "openpyxl", extra="excel")
    if not options.columns and (held := _held(path)) is not None:
        yield from _corrected(path, held, options)
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


def _held(path: str | Path) -> dict[str, str] | None:
    """Returns what the columns of the first sheet hold in a workbook of ours; None if it is none."""
    header = _technical_header(path)
    last = header[-1] if header else ""
    if not last.startswith(_COLUMNS):
        return None
    held: dict[str, str] = plain_values.from_json(last.removeprefix(_COLUMNS), dict[str, str])
    return held


def _corrected(path: str | Path, held: Mapping[str, str], options: ReadOptions) -> Iterator[Rating]:
    """Yields the rating of each row of the sheet for people, with what they have changed in it.

    Raises a FormatError for all rows that are not understood, at the first of them.
    """
    technical = _rows(path, {}, title=_TECHNICAL)
    given = {rating.segment.line: rating for rating in columns.ratings(technical, path, {}, options.lang_pair)}
    rows = _cells(path)
    headings = [_text(name).strip() for name in next(rows)]
    needed = {
        name: role
        for name, role in held.items()
        if role in (*_TEXTS[:2], f"{_OURS}{readable_sheet.ERRORS}", f"{_OURS}{readable_sheet.NUMBER}")
    }
    with located(path, 1):
        _check_headings(headings, list(needed))
    problems: dict[int, str] = {}
    for line, cells in enumerate(rows, start=2):
        row = {name: cell for name, cell in zip(headings, chain(cells, repeat(None)), strict=False) if name}
        ours = {held[name]: cell for name, cell in row.items() if held.get(name) != "reference" and name in held}
        if not any(_text(row[name]) for name in needed):
            continue
        try:
            with located(path, line):
                number = _text(ours[f"{_OURS}{readable_sheet.NUMBER}"])
                if not number and not _text(ours[f"{_OURS}{readable_sheet.ERRORS}"]):
                    RowIssues(name_of(path), options.report, line).skip("row that was not marked", None)
                    continue
                before = given.pop(int(number), None) if number.isdecimal() else None
                if before is None:
                    allowed = f"must be the number of a row of the sheet {_TECHNICAL}, once"
                    raise InputError(f"{readable_sheet.NUMBER} is {number!r}: {allowed}")
                rating = _corrected_row(row, ours, held, before, RowIssues(name_of(path), options.report, line))
                yield replace(rating, segment=replace(rating.segment, line=line))
        except FormatError as error:
            problems[line] = str(error).removeprefix(f"{name_of(path)}:{line}: ")
    if problems:
        first, *others = problems
        raise FormatError(
            name_of(path), first, "; ".join([problems[first], *(f"row {line}: {problems[line]}" for line in others)])
        )


def _corrected_row(
    row: Mapping[str, object],
    ours: Mapping[str, object],
    held: Mapping[str, str],
    before: Rating,
    issues: RowIssues,
) -> Rating:
    """Returns the rating that a row of the first sheet says.

    Args:
        row: cells by heading.
        ours: cells by what they hold; see `_held`.
        held: what the columns hold.
        before: the rating that was written into this row.
        issues: of the row.

    Raises:
        InputError: if a cell is not understood.
    """
    segment = before.segment
    if "source" in ours:
        _check_unchanged(_text(ours["source"]), segment.source, "source")
    shown = [_text(cell) for name, cell in row.items() if held.get(name) == "reference"]
    if shown:
        written = ((number, text) for number, text in enumerate(segment.references, start=1) if text)
        for cell, (number, text) in zip(filter(None, shown), written, strict=False):
            _check_unchanged(cell, text, f"reference {number}")
    errors = _text(ours[f"{_OURS}{readable_sheet.ERRORS}"])
    rating = readable_sheet.corrected(errors, before, _text(ours["hypothesis"]), issues)
    ticked = Segment("", extra={person_review.REVIEWED: ours.get(f"{_OURS}{person_review.REVIEWED}")})
    is_changed = person_review.marks(rating) != person_review.marks(before)
    if person_review.is_of_model(rating) and (is_changed or person_review.is_ticked(ticked)):
        rating = person_review.by(None, rating)
    return replace(rating, segment=replace(rating.segment, extra=_extra(row, held, rating)))


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


def _extra(row: Mapping[str, object], held: Mapping[str, str], rating: Rating) -> dict[str, object] | None:
    """Returns the other columns: those that a person has changed or added as they are in the sheet."""
    extra = dict(rating.segment.extra or {})
    for heading, cell in row.items():
        role = held.get(heading, f"={heading}")
        name = role.removeprefix("=") if role.startswith("=") or role == COMMENT else heading
        if not role.startswith("=") and name not in extra:
            continue
        if f"={_INPUT}{name}" not in held.values():  # the name that it has in the second sheet beside one of ours
            extra.pop(f"{_INPUT}{name}", None)
        is_new = name not in extra or "".join(_text(cell).split()) != "".join(_shown(extra[name]).split())
        if is_new or isinstance(cell, int | float):
            extra[name] = None if _text(cell) == "" else _other_value(cell)
    return extra or None


def _other_value(cell: object) -> object:
    """Returns a cell of another column: a number as one, anything else as a text."""
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return _text(cell)
    return int(cell) if cell == int(cell) else cell


def _rows(path: str | Path, chosen: Columns, *, title: str | None = None) -> Iterator[tuple[int, object]]:
    """Yields the rows of a sheet."""
    rows = _cells(path, title)
    header = [_text(name).strip() for name in next(rows, ())]
    if not any(header) and any(map(any, rows)):
        raise FormatError(name_of(path), 1, "row 1 is empty: must be the header; remove the empty rows above it")
    if title is not None:
        header = ["" if name.startswith(_COLUMNS) else name for name in header]
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
            cause = error.__cause__ or error  # openpyxl says "see the exception"
            reason = " ".join(str(cause).split()) or type(cause).__name__
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

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
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from matese import mqm
from matese.annotation import Rating, Segment, SegmentKey, severities
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


@dataclass(frozen=True, slots=True)
class _Workbook:
    """A workbook that was loaded.

    Attributes:
        name: of the file, in messages.
        book: with formulas, and with the colours of words.
        values: with the values of the formulas; the same if there are none.
    """

    name: str
    book: Any
    values: Any

    @property
    def first(self) -> Any:  # noqa: ANN401  (of openpyxl)
        """The first sheet, with values."""
        return self.values.worksheets[0]

    def rows(self, sheet: Any) -> Iterator[tuple[int, list[object]]]:  # noqa: ANN401  (of openpyxl)
        """Yields the number of each row of a sheet, and its cells up to the last heading.

        Raises:
            FormatError: at a formula without a value, and at an error such as #N/A.
        """
        width = max((cell.column for cell in sheet[1] if cell.value is not None), default=None)
        for number, cells in enumerate(sheet.iter_rows(max_col=width), start=1):
            yield number, [self._value(sheet, cell) for cell in cells]

    def _value(self, sheet: Any, cell: Any) -> object:  # noqa: ANN401  (of openpyxl)
        if cell.data_type == "e":
            problem = f"cell {cell.coordinate} is the error {cell.value}: must be a text or a number"
            raise FormatError(self.name, cell.row, problem)
        if cell.value is None and self._has_formula(sheet, cell):
            problem = f"cell {cell.coordinate} is a formula whose value is empty or not in the file"
            allowed = "must be a text or a number; open the file in a spreadsheet program and save it"
            raise FormatError(self.name, cell.row, f"{problem}: {allowed}, or replace formulas by their values")
        return str(cell.value) if isinstance(cell.value, list) else cell.value  # parts in several colours

    def _has_formula(self, sheet: Any, cell: Any) -> bool:  # noqa: ANN401  (of openpyxl)
        return self.values is not self.book and self.book[sheet.title][cell.coordinate].data_type == "f"

    def headings(self) -> list[str]:
        """Returns the headings of the first sheet; "" for a column without one."""
        return [_text(value).strip() for _, values in islice(self.rows(self.first), 1) for value in values]

    def roles(self) -> dict[str, str] | None:
        """Returns what the columns of the first sheet hold in a workbook of ours; None if it is none."""
        if _TECHNICAL not in self.book.sheetnames:
            if {readable_sheet.ERRORS, readable_sheet.NUMBER} <= {*self.headings()}:
                allowed = "in which matese keeps the places of errors: restore it"
                raise FormatError(self.name, None, f"no sheet {_TECHNICAL!r}, {allowed}")
            return None
        header = [_text(cell.value) for cell in self.book[_TECHNICAL][1]]
        if self.first.title == _TECHNICAL or "errors" not in header or not header[-1].startswith(_COLUMNS):
            return None
        roles: dict[str, str] = plain_values.from_json(header[-1].removeprefix(_COLUMNS), dict[str, str])
        return roles


def _open(path: str | Path) -> _Workbook:
    """Loads a workbook, once if it has no formulas.

    Raises:
        FormatError: if it is none, or too large.
    """
    import openpyxl

    with open_binary(path) as stream, warnings.catch_warnings(action="ignore"):
        try:
            archive = ZipFile(stream)
            size = sum(part.file_size for part in archive.infolist())
            if size > _LARGEST:
                raise FormatError(
                    name_of(path), None, f"{size:,} bytes unpacked, must be {_LARGEST:,} at most; write csv"
                )
            sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
            has_formulas = any(b"<f" in archive.read(name) for name in sheets)
            book = openpyxl.load_workbook(stream, rich_text=True)
            values = openpyxl.load_workbook(stream, rich_text=True, data_only=True) if has_formulas else book
        except FormatError:
            raise
        except Exception as error:  # openpyxl, zipfile and two XML parsers raise errors of all kinds for damaged files
            cause = error.__cause__ or error  # openpyxl says "see the exception"
            reason = " ".join(str(cause).split()) or type(cause).__name__
            raise FormatError(name_of(path), None, f"no workbook ({reason}): must be an XLSX file") from None
    return _Workbook(name_of(path), book, values)


def style_of(path: str | Path, user_columns: Columns) -> TableStyle:
    """Returns how a workbook is written, for one that comes from it; the user has named the `user_columns`."""
    return TableStyle(workbook=Path(path), user_columns=user_columns)


def save(ratings: Iterable[Rating], path: Path, options: WriteOptions) -> None:
    """Writes the workbook. Raises InputError if a template lacks a text."""
    check_installed("xlsx", "openpyxl", extra="excel")
    written = list(ratings)
    table = options.table if options.template is None else style_of(options.template, {})
    workbook = None if table.workbook is None else _open(table.workbook)
    lines = None if workbook is None else _lines_of(written, workbook, table.user_columns)
    if options.template is not None and lines is None:
        allowed = "must be a workbook whose first sheet has each translation, with its source, in one row"
        raise InputError(f"template {options.template}: {allowed}")
    if workbook is None or lines is None:
        headings = table.headings if workbook is None else _headings_of_texts(workbook, table.user_columns)
        book, roles = _new_book(written, headings)
        lines = list(range(2, len(written) + 2))
    else:
        book, roles = _without_ours(workbook, table.user_columns)
    roles = _with_ours(book.worksheets[0], roles, written, lines, options.weights)
    _add_technical(book, roles, written, lines, options)
    book.save(path)


def _headings_of_texts(workbook: _Workbook, user_columns: Columns) -> dict[str, str]:
    """Returns the headings of source and hypothesis in a workbook, as far as they are not ours."""
    if not user_columns and (roles := workbook.roles()) is not None:
        return {role: name for name, role in roles.items() if role in _TEXTS[:2]}
    return columns.headings([name for name in workbook.headings() if name], user_columns, is_read_by_name=False)


def _lines_of(ratings: Sequence[Rating], workbook: _Workbook, user_columns: Columns) -> list[int] | None:
    """Returns the row of each rating in a workbook that has its texts; None if they are not one for a row.

    None, too, if the workbook has no sheet for people, but the columns of our CSV.
    """
    is_table = (
        not user_columns and workbook.roles() is None and columns.holds_ratings(dict.fromkeys(workbook.headings()))
    )
    waiting: dict[tuple[str, ...], deque[int]] = {}
    for rating in () if is_table else _read(workbook, ReadOptions(lambda issue: None, columns=user_columns)):
        waiting.setdefault(_texts_of(rating.segment), deque()).append(rating.segment.line or 0)
    lines: list[int] = []
    for rating in ratings:
        if not (queue := waiting.get(_texts_of(rating.segment))):
            return None
        lines.append(queue.popleft())
    return lines if len(set(lines)) == len(lines) and not is_table else None


def _texts_of(segment: Segment) -> tuple[str, ...]:
    """Returns the texts of a segment as they are compared: white space and what no workbook can hold do not count."""
    return tuple(_NO_TEXT.sub("", text or "") for text in (segment.hypothesis, segment.source))


def _new_book(ratings: Sequence[Rating], text_headings: Mapping[str, str]) -> tuple[Any, dict[str, str]]:
    """Returns a workbook with the texts and other columns in its first sheet, and what its columns hold.

    Args:
        ratings: one for each row.
        text_headings: headings of source and hypothesis, as far as they are not ours.
    """
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "translations"
    extra_names = dict.fromkeys(name for rating in ratings for name in rating.segment.extra or ())
    n_references = max((len(rating.segment.references) for rating in ratings), default=0)
    roles = {role if (name := text_headings.get(role, role)) in extra_names else name: role for role in _TEXTS[:2]}
    roles |= {f"reference {number + 1}": "reference" for number in range(n_references)}
    if len({_value_of(rating.segment, "system") for rating in ratings}) > 1:
        roles["system"] = "system"
    for name in extra_names:
        heading = f"{_INPUT}{name}" if name in roles or name != name.strip() or not name else name
        while heading in roles:
            heading = f"{_INPUT}{heading}"
        roles[heading] = f"={name}"
    for number, (heading, role) in enumerate(roles.items(), start=1):
        _set(sheet.cell(1, number), heading)
        _style(sheet, number, is_wide=role in _TEXTS)
    for line, rating in enumerate(ratings, start=2):
        references = iter(rating.segment.references)
        for number, role in enumerate(roles.values(), start=1):
            value = next(references, "") if role == "reference" else _value_of(rating.segment, role)
            _set(sheet.cell(line, number), value)
    sheet.freeze_panes = "A2"
    return book, roles


def _value_of(segment: Segment, role: str) -> object:
    if role.startswith("="):
        return (segment.extra or {}).get(role[1:])
    return getattr(segment, role) if role in _TEXTS else getattr(segment.key or SegmentKey(), role)


def _without_ours(workbook: _Workbook, user_columns: Columns) -> tuple[Any, dict[str, str]]:
    """Returns a workbook that came in, without earlier marks, and what the columns of its first sheet hold."""
    roles = None if user_columns else workbook.roles()
    sheet = workbook.book.worksheets[0]
    numbers = {cell.column for cell in sheet[1] if roles and roles.get(_text(cell.value)) in _TEXTS}
    for cell in _used(sheet):
        if cell.data_type == "f":
            _set(cell, workbook.first[cell.coordinate].value)
        elif cell.column in numbers and isinstance(cell.value, list):  # the colours of earlier marks
            _set(cell, str(cell.value))
    if roles is not None:
        del workbook.book[_TECHNICAL]
        return workbook.book, roles
    if _TECHNICAL in workbook.book.sheetnames:
        raise InputError(f"{workbook.name}: a sheet is called {_TECHNICAL!r}, as the one that is added: rename it")
    names = [name for name in workbook.headings() if name]
    roles_of_names = dict(columns.with_roles(names, user_columns))
    return workbook.book, {name: roles_of_names.get(name) or f"={name}" for name in names}


def _with_ours(
    sheet: Any,  # noqa: ANN401  (of openpyxl)
    roles: Mapping[str, str],
    ratings: Sequence[Rating],
    lines: Sequence[int],
    weights: mqm.Weights,
) -> dict[str, str]:
    """Writes our columns, and the words of errors in colour; returns what all columns hold."""
    from openpyxl.comments import Comment

    numbers = {name: cell.column for cell in sheet[1] if (name := _text(cell.value).strip())}
    added = dict(roles)
    last = max((cell.column for cell in _used(sheet) if cell.value is not None), default=0)
    places: dict[str, int] = {}
    for name in readable_sheet.ADDED:
        role = f"{_OURS}{name}"
        heading = next((heading for heading, role_of_heading in roles.items() if role_of_heading == role), None)
        if heading is None:
            heading = name if name not in roles else role
            last += 1
            numbers[heading] = last
            header = sheet.cell(1, last, heading)
            if last > 1:
                header._style = copy.copy(sheet.cell(1, last - 1)._style)
            _style(sheet, last, is_wide=name == readable_sheet.ERRORS)
            if name == readable_sheet.ERRORS:
                header.comment = Comment(readable_sheet.SYNTAX, _TECHNICAL, height=220, width=420)
            added[heading] = role
        places[name] = numbers[heading]
    for cell in _used(sheet):
        if cell.row > 1 and cell.column in places.values():
            cell.value = None
    translations = next(numbers[name] for name, role in roles.items() if role == "hypothesis")
    for line, rating in zip(lines, ratings, strict=True):
        score = None if rating.errors is None else mqm.score(rating, weights)
        cells = (readable_sheet.text(rating), None, score, mqm.expected_score(rating), line)
        for name, value in zip(readable_sheet.ADDED, cells, strict=True):
            _set(sheet.cell(line, places[name]), value)
        _paint(sheet.cell(line, translations), rating)
    if sheet.auto_filter.ref or sheet.freeze_panes == "A2":
        sheet.auto_filter.ref = f"A1:{sheet.cell(max(sheet.max_row, 1), max(numbers.values())).coordinate}"
    return added


def _used(sheet: Any) -> list[Any]:  # noqa: ANN401  (of openpyxl)
    """Returns the cells that a sheet has; its rows would have all cells up to a coloured one that is far away."""
    return list(sheet._cells.values())


def _add_technical(
    book: Any,  # noqa: ANN401  (of openpyxl)
    roles: Mapping[str, str],
    ratings: Sequence[Rating],
    lines: Sequence[int],
    options: WriteOptions,
) -> None:
    """Adds the sheet with the columns of our CSV, each rating in its row of the first sheet."""
    sheet = book.create_sheet(_TECHNICAL)
    rows = csv_table.rows(ratings, replace(options, table=TableStyle()))
    header = [*next(rows), f"{_COLUMNS}{json.dumps(roles, ensure_ascii=False)}"]
    for line, row in zip((1, *lines), chain([header], rows), strict=True):
        for number, value in enumerate(row, start=1):
            if value:
                _set(sheet.cell(line, number), value)


def _shown(value: object) -> str:
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, default=jsonl.plain)
    return "" if value is None else str(value)


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

    dimension = sheet.column_dimensions[sheet.cell(1, number).column_letter]
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
    return _read(_open(path), options)


def _read(workbook: _Workbook, options: ReadOptions) -> Iterator[Rating]:
    if not options.columns and (roles := workbook.roles()) is not None:
        yield from _corrected(workbook, roles, options)
        return
    if (n := len(workbook.book.sheetnames)) > 1:
        assumption = f"only the first of {n} sheets is read; save each of the others as a file"
        RowIssues(workbook.name, options.report, 1).assume(assumption)
    for cells in workbook.first.merged_cells.ranges:
        if cells.min_row < cells.max_row:
            assumption = (
                f"cells {cells.coord} are merged, and all but the first are read as empty; unmerge them and fill each"
            )
            RowIssues(workbook.name, options.report, cells.min_row).assume(assumption)
    rows = _rows(workbook, workbook.first, options.columns)
    yield from columns.ratings(rows, workbook.name, options.columns, options.lang_pair, options=options)


def _corrected(workbook: _Workbook, roles: Mapping[str, str], options: ReadOptions) -> Iterator[Rating]:
    """Yields the rating of each row of the sheet for people, with what they have changed in it.

    Raises a FormatError for all rows that are not understood, at the first of them.
    """
    technical = _rows(workbook, workbook.values[_TECHNICAL], {})
    waiting = {
        rating.segment.line: rating for rating in columns.ratings(technical, workbook.name, {}, options.lang_pair)
    }
    of_errors = f"{_OURS}{readable_sheet.ERRORS}"
    of_number = f"{_OURS}{readable_sheet.NUMBER}"
    needed = [name for name, role in roles.items() if role in (*_TEXTS[:2], of_errors, of_number)]
    headings = workbook.headings()
    with located(workbook.name, 1):
        _check_headings(headings, needed)
    problems: dict[int, str] = {}
    for line, cells in islice(workbook.rows(workbook.first), 1, None):
        row = {name: cell for name, cell in zip(headings, cells, strict=True) if name}
        ours = {roles[name]: cell for name, cell in row.items() if roles.get(name) != "reference" and name in roles}
        if not any(_text(row[name]) for name in needed):
            continue
        issues = RowIssues(workbook.name, options.report, line)
        try:
            with located(workbook.name, line):
                number = _text(ours[of_number])
                if not number and not _text(ours[of_errors]):
                    issues.skip("row that was not marked", None)
                    continue
                before = waiting.pop(int(number), None) if number.isdecimal() else None
                if before is None:
                    allowed = f"must be the number of a row of the sheet {_TECHNICAL}, once"
                    raise InputError(f"{readable_sheet.NUMBER} is {number!r}: {allowed}")
                rating = _corrected_row(row, ours, roles, before, issues)
                yield replace(rating, segment=replace(rating.segment, line=line))
        except FormatError as error:
            problems[line] = error.problem
    if problems:
        first, *further_lines = problems
        further = (f"row {line}: {problems[line]}" for line in further_lines)
        raise FormatError(workbook.name, first, "; ".join([problems[first], *further]))


def _corrected_row(
    row: Mapping[str, object],
    ours: Mapping[str, object],
    roles: Mapping[str, str],
    before: Rating,
    issues: RowIssues,
) -> Rating:
    """Returns the rating that a row of the first sheet says.

    Args:
        row: cells by heading.
        ours: cells by what they hold; see `_Workbook.roles`.
        roles: what the columns hold.
        before: the rating that was written into this row.
        issues: of the row.

    Raises:
        InputError: if a cell is not understood.
    """
    segment = before.segment
    if "source" in ours:
        _check_unchanged(_text(ours["source"]), segment.source, "source")
    shown = [_text(cell) for name, cell in row.items() if roles.get(name) == "reference"]
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
    return replace(rating, segment=replace(rating.segment, extra=_extra(row, roles, rating)))


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


def _extra(row: Mapping[str, object], roles: Mapping[str, str], rating: Rating) -> dict[str, object] | None:
    """Returns the other columns: those that a person has changed or added as they are in the sheet."""
    extra = dict(rating.segment.extra or {})
    for heading, cell in row.items():
        role = roles.get(heading, f"={heading}")
        name = role.removeprefix("=") if role.startswith("=") or role == COMMENT else heading
        if not role.startswith("=") and name not in extra:
            continue
        if f"={_INPUT}{name}" not in roles.values():  # the name that it has in the second sheet beside one of ours
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


def _rows(workbook: _Workbook, sheet: Any, user_columns: Columns) -> Iterator[tuple[int, object]]:  # noqa: ANN401  (of openpyxl)
    """Yields the rows of a sheet below its header, as `columns.ratings` takes them."""
    rows = workbook.rows(sheet)
    _, first = next(rows, (1, []))
    header = [_text(name).strip() for name in first]
    if not any(header) and any(any(values) for _, values in rows):
        raise FormatError(workbook.name, 1, "row 1 is empty: must be the header; remove the empty rows above it")
    is_technical = sheet.title == _TECHNICAL
    if is_technical:
        header = ["" if name.startswith(_COLUMNS) else name for name in header]
    to_row = csv_table.row_maker([name for name in header if name], workbook.name, user_columns)
    named = {name for names in user_columns.values() for name in columns.joined(names, header)}
    translations = {
        *columns.joined(user_columns.get("hypothesis", ()), header),
        *(name for name in header if role_of(name) == "hypothesis"),
    }
    keys = jsonl.KEYS if columns.holds_ratings(dict.fromkeys(header)) else ()
    ours = {name for name in header if name in named or name in keys or role_of(name) is not None}

    def read_cell(name: str, cell: object) -> object:
        if cell is None and name not in translations:
            return None
        if isinstance(cell, str) and not is_technical:
            return _CONTROL.sub(lambda match: chr(int(match[1], 16)), cell)
        return _text(cell) if name in ours else _other_value(cell)

    for number, cells in rows:
        row = [(name, read_cell(name, cell)) for name, cell in zip(header, cells, strict=True) if name]
        if any(cell not in (None, "") for _, cell in row):
            yield number, to_row(number, row)


def _text(cell: object) -> str:
    """Returns a cell as Excel shows it: 17.0 as "17", in at most 15 digits; "" for an empty one."""
    if isinstance(cell, float):
        return f"{cell:.15G}"
    return "" if cell is None else str(cell).upper() if isinstance(cell, bool) else str(cell)

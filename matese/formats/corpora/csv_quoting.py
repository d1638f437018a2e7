r"""Quotation marks that a CSV writer adds to a table separated by tabs, whose format has no quoting.

Such a writer (pandas, Python's `csv`, spreadsheets) puts a cell with a quotation mark, a tab or a line end between
quotation marks, and doubles the marks inside: `He said "no" again` becomes `"He said ""no"" again"`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence

_QUOTED = r'"(?:[^"]|"")*+"'
_CELL = rf'(?:{_QUOTED}|[^"\t\r]*+)'
_ROW = re.compile(rf"{_CELL}(?:\t{_CELL})*+")
_OPEN_ROW = re.compile(rf'(?:{_CELL}\t)*+"(?:[^"]|"")*+')
"""A row whose last cell goes on in the next line."""
_DOUBLED = re.compile(r'[^"\t]""|""[^"\t]')
"""A doubled mark beside a text, so not an empty cell."""
_QUOTED_CELL = re.compile(_QUOTED)
_LONGEST_CELL = 1 << 28


def is_csv(lines: Iterable[str]) -> bool:
    r"""Whether a CSV writer has quoted a table: its header or a cell with doubled marks, and no cell is against it.

    >>> is_csv(["target", '"He ""said"" no"']), is_csv(["target", '"He ""said"" no"', 'He "said" yes'])
    (True, False)
    >>> is_csv(["target", '"No."']), is_csv(['"target"', '"No."'])
    (False, True)
    """
    is_inside = has_proof = False
    for number, line in enumerate(lines):
        if not is_inside and '"' not in line:
            continue
        text = f'"{line}' if is_inside else line
        has_proof |= is_inside or _DOUBLED.search(line) is not None or (number == 0 and line.startswith('"'))
        if _ROW.fullmatch(text):
            is_inside = False
        elif _OPEN_ROW.fullmatch(text):
            is_inside = True
        else:
            return False
    return has_proof and not is_inside


def rows(lines: Iterable[str], delimiter: str = "\t") -> Iterator[tuple[int, Sequence[str]]]:
    """Yields the cells of each row of a table that a CSV writer has quoted, with the number of its last line."""
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True)
    return ((reader.line_num, cells) for cells in reader)


def is_quoted(cell: str) -> bool:
    """Whether a cell is between quotation marks, and those inside are doubled.

    >>> is_quoted('"He ""said"" no"'), is_quoted('"no" and "yes"'), is_quoted('"')
    (True, False, False)
    """
    return _QUOTED_CELL.fullmatch(cell) is not None


def unquoted(cell: str) -> str:
    """Returns the text of a cell, without the marks of a CSV writer if it is quoted.

    >>> unquoted('"He ""said"" no"'), unquoted('"no" and "yes"')
    ('He "said" no', '"no" and "yes"')
    """
    return cell[1:-1].replace('""', '"') if is_quoted(cell) else cell


def unquoted_place(cell: str, place: int) -> int:
    """Returns the place in the text of a cell for one in the cell as it is written.

    >>> unquoted_place('"He ""said"" no"', 6), unquoted_place('"He ""said"" no"', 10), unquoted_place("no", 1)
    (4, 8, 1)
    """
    if not is_quoted(cell):
        return place
    before = cell[1:place]
    return min(len(before) - before.count('""'), len(unquoted(cell)))

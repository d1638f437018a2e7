"""Write tables in Markdown, and fill them into pages between the comments `NAME: begin` and `NAME: end`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path


def fill(path: Path, tables: Mapping[str, Iterable[str]]) -> None:
    """Replaces the lines between the comments of each table in a page.

    Raises:
        ValueError: if the page lacks one of the comments.
    """
    text = path.read_text(encoding="utf-8")
    for name, lines in tables.items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        before, has_begin, rest = text.partition(begin)
        _, has_end, after = rest.partition(end)
        if not has_begin or not has_end:
            raise ValueError(f"{path} lacks {begin} or {end}; it needs both")
        text = "\n".join([f"{before}{begin}", "", *lines, "", f"{end}{after}"])
    path.write_text(text, encoding="utf-8")


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Returns the lines of a table."""
    names = list(heads)
    return [_line(names), f"|{'---|' * len(names)}", *map(_line, rows)]


def shown(value: float | None) -> str:
    """Returns a figure with three digits, "-" for a missing one.

    >>> shown(0.5), shown(float("nan")), shown(None)
    ('0.500', '-', '-')
    """
    return "-" if value is None or not math.isfinite(value) else f"{value:.3f}"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"

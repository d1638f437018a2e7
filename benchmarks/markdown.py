"""Write tables in Markdown, fill them into pages between `NAME: begin` and `NAME: end`, and write figures as JSON."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def fill(path: Path, tables: Mapping[str, Iterable[str]]) -> None:
    """Replaces the lines between the comments of each table in a page.

    Raises:
        ValueError: if the page lacks one of the comments.
    """
    text = path.read_text(encoding="utf-8")
    for name, lines in tables.items():
        begin = f"<!-- {name}: begin -->"
        end = f"<!-- {name}: end -->"
        before, has_begin, rest = text.partition(begin)
        _, has_end, after = rest.partition(end)
        if not has_begin or not has_end:
            raise ValueError(f"{path} lacks {begin} or {end}; it needs both")
        text = "\n".join([f"{before}{begin}", "", *lines, "", f"{end}{after}"])
    path.write_text(text, encoding="utf-8")


def parser(text: str | None, *shared: str) -> argparse.ArgumentParser:
    """Returns a parser that shows a module's docstring, with options that several benchmarks share."""
    command_line = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    options: dict[str, dict[str, Any]] = {
        "--model": {"default": "mini"},
        "--data": {"type": Path, "required": True, "help": "gold Ratings, JSONL"},
        "--every": {"type": int, "default": 1, "metavar": "K", "help": "take only every K-th source, of all systems"},
        "--dev": {"type": Path, "required": True, "help": "gold Ratings to fit on, JSONL"},
        "--test": {"type": Path, "required": True, "help": "gold Ratings to measure on, JSONL"},
        "--json": {"type": Path, "help": "file for all figures"},
    }
    for name in shared:
        command_line.add_argument(name, **options[name])
    return command_line


def write_json(path: Path | None, figures: Mapping[str, object]) -> None:
    """Writes figures as JSON, unless there is no path."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


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


def percent(share: float | None, digits: int = 0) -> str:
    """Returns a share in percent; "" for a missing one."""
    return "" if share is None else f"{100 * share:.{digits}f}"


def order(better: float, worse: float) -> float:
    """Returns 1 if two scores are ordered right, 0.5 if they are equal, else 0."""
    return 0.5 if better == worse else float(better > worse)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"

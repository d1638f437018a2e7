"""The page of a model's figures: what it holds, and its tables in Markdown; `evaluate_mini.py` measures them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

OF_SPANS = {
    "tags.macro.f1": "macro-F1, words",
    "tokens.macro.f1": "macro-F1, tokens",
    "mpp.micro.f1": "MPP micro F1",
    "char_wmt23.f1": "char F1, WMT23",
    "char_wmt25.f1": "char F1, WMT25",
    "hsh": "HSH",
    "tsh": "TSH",
}
OF_SCORES = {
    "segment.pearson": "Pearson",
    "segment.kendall_b": "Kendall b",
    "segment.acc_eq": "acc*eq",
    "segment.pearson_by_item": "Pearson within items",
    "system.accuracy": "system accuracy",
}
Cell = tuple[float | None, float | None, float | None]
"""A figure and its interval; None where there is none."""
Row = tuple[str, str, int, dict[str, Cell]]
"""A part of the data, what is measured, segments, figures."""


@dataclass(frozen=True)
class Measured:
    """The figures of one file."""

    name: str
    n_segments: int
    scales: str
    spans: list[Row]
    scores: list[Row]


def page(model: str, found: Sequence[Measured], arguments: str) -> str:
    """Returns the tables in Markdown."""
    lines = [f"`python benchmarks/evaluate_mini.py {arguments}`, with `{model}`.", ""]
    for one in found:
        lines += [f"## {one.name}: {one.n_segments:,} segments, human scores on the scale {one.scales}", ""]
        lines += ["Spans. In brackets 95% intervals.", "", *_table(("part", "input"), OF_SPANS, one.spans), ""]
        lines += ["Scores of segments and systems.", "", *_table(("part", "metric"), OF_SCORES, one.scores), ""]
    return "\n".join(lines)


def put(text: str, tables: str, section: str) -> str:
    """Returns a page with the tables between the comments `SECTION: begin` and `SECTION: end`."""
    marks = [f"<!-- {section}: {name} -->" for name in ("begin", "end")]
    before, begin, rest = text.partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not begin or not end:
        raise ValueError(f"the page lacks {' or '.join(marks)}: must hold both")
    return f"{before}{begin}\n\n{tables}\n{end}{after}"


def _table(heads: Sequence[str], figures: Mapping[str, str], rows: Sequence[Row]) -> list[str]:
    names = [*heads, "segments", *figures.values()]
    lines = [f"| {' | '.join(names)} |", f"|{'---|' * len(names)}"]
    for part, name, n, cells in rows:
        lines.append(f"| {' | '.join([part, name, f'{n:,}', *(shown(cells.get(key)) for key in figures)])} |")
    return lines


def shown(cell: Cell | None) -> str:
    """Returns a figure with its interval, as far as they are known."""
    if cell is None or cell[0] is None:
        return "-"
    value, low, high = cell
    return f"{value:.3f}" + ("" if low is None or high is None else f" [{low:.3f}, {high:.3f}]")


def cell_of(value: float, low: float, high: float) -> Cell:
    """Returns a figure and its interval, None for what is undefined."""
    first, second, third = (one if math.isfinite(one) else None for one in (value, low, high))
    return first, second, third

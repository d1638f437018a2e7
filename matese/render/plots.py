"""Plots of how metrics agree with humans, as SVG, PNG or PDF, drawn by matplotlib (extra `plots`)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice, product
from pathlib import Path
from typing import Any

from matese import errors
from matese.render.labels import show

# Okabe and Ito's colours, which people with any colour vision tell apart.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_DASHES = ("-", "--", ":")
# Letters stay text, and the same plot is the same file.
_SETTINGS: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "matese", "font.size": 8, "axes.titlesize": 9}
ENDINGS = (".svg", ".png", ".pdf")


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot of points (x, y, name), drawn as dots, and of lines, (x, y) by name; y None interrupts a line."""

    title: str
    x_label: str
    y_label: str
    points: Sequence[tuple[float, float, str]] = ()
    lines: Mapping[str, Sequence[tuple[float, float | None]]] = field(default_factory=dict)


def check_installed() -> None:
    """Raises a UsageError if matplotlib is not installed."""
    errors.check_installed("a plot", "matplotlib", extra="plots")


def check(path: Path) -> None:
    """Raises a UsageError if a plot cannot be written to a file, by its ending or folder, or without matplotlib."""
    check_installed()
    if path.suffix not in ENDINGS:
        raise errors.UsageError(f"plot {path}: must end in {errors.one_of(ENDINGS)}")
    if not path.absolute().parent.is_dir():
        raise errors.UsageError(f"plot {path}: {path.parent} does not exist; create it first")


def save(panels: Sequence[Panel], path: Path, *, columns: int = 3) -> None:
    """Writes panels side by side to a file, in the format of its ending.

    Raises:
        UsageError: see `check`.
        OSError: if the file cannot be written.
    """
    check(path)
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

    columns = max(1, min(columns, len(panels)))
    rows = max(1, math.ceil(len(panels) / columns))
    with matplotlib.rc_context(_SETTINGS):
        width = 4.8 if any(panel.lines for panel in panels) else 3.6  # a legend stands beside its plot
        figure = Figure(figsize=(width * columns, 2.8 * rows), layout="constrained")
        for number, panel in enumerate(panels, start=1):
            axes = figure.add_subplot(rows, columns, number)
            axes.set(title=_plain(panel.title), xlabel=_plain(panel.x_label), ylabel=_plain(panel.y_label))
            styles = islice(cycle(product(_DASHES, _COLOURS)), len(panel.lines))
            for (dash, colour), (name, line) in zip(styles, panel.lines.items(), strict=True):
                values = [math.nan if y is None else y for _, y in line]
                axes.plot([x for x, _ in line], values, color=colour, linestyle=dash, label=_plain(name))
            if panel.lines:
                axes.legend(fontsize=6, loc="upper left", bbox_to_anchor=(1, 1))
            axes.margins(x=0.15 if panel.points else 0.05)  # room for the names
            axes.scatter([x for x, *_ in panel.points], [y for _, y, _ in panel.points], s=12, color=_COLOURS[0])
            labels = [
                axes.annotate(_plain(name), (x, y), (3, 2), textcoords="offset points", fontsize=5)
                for x, y, name in panel.points
            ]
            figure.draw_without_rendering()
            taken: list[Bbox] = []
            for label in labels:  # a name that would cover another one is left out
                box = label.get_window_extent()
                label.set_visible(not any(map(box.overlaps, taken)))
                taken += [box] if label.get_visible() else []
        date = {"CreationDate": None} if path.suffix == ".pdf" else {"Date": None} if path.suffix == ".svg" else {}
        figure.savefig(path, dpi=200, metadata=date)


def _plain(text: str) -> str:
    """Returns a text whose control characters are visible and whose `$` begins no formula."""
    return show(text).replace("$", r"\$")

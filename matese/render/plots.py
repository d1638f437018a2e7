"""Plots of how metrics agree with humans, as SVG: text, without another package, and sharp at every size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from matese.render.labels import show

_WIDTH, _HEIGHT = 320, 240
_LEFT, _TOP, _RIGHT, _BOTTOM = 56, 34, 16, 40
# Okabe and Ito's colours, which people with any colour vision tell apart.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_LETTER = 4.0
"""Width of a letter of a point's name, about."""
_DASHES = ("", "6 3", "2 2")


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot.

    Attributes:
        title: above it.
        x_label: below it.
        y_label: left of it.
        points: (x, y, what the point is), drawn as dots.
        lines: by name, (x, y) in order; y None interrupts a line.
    """

    title: str
    x_label: str
    y_label: str
    points: Sequence[tuple[float, float, str]] = ()
    lines: Mapping[str, Sequence[tuple[float, float | None]]] | None = None


def svg(panels: Sequence[Panel], columns: int = 3) -> str:
    """Returns panels side by side as one SVG document."""
    columns = max(1, min(columns, len(panels)))
    rows = math.ceil(len(panels) / columns)
    legend = 0 if not panels else 16 * max(len(panel.lines or {}) for panel in panels)
    height = rows * (_HEIGHT + legend)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{columns * _WIDTH}" height="{height}" '
        f'viewBox="0 0 {columns * _WIDTH} {height}" font-family="sans-serif" font-size="10">',
        f'<rect width="{columns * _WIDTH}" height="{height}" fill="white"/>',
    ]
    for number, panel in enumerate(panels):
        left, top = (number % columns) * _WIDTH, (number // columns) * (_HEIGHT + legend)
        parts += [f'<g transform="translate({left} {top})">', *_panel(panel), "</g>"]
    return "\n".join([*parts, "</svg>\n"])


def _panel(panel: Panel) -> list[str]:
    lines = panel.lines or {}
    pairs = [(x, y) for x, y, _ in panel.points]
    pairs += [(x, y) for line in lines.values() for x, y in line if y is not None]
    x_low, x_high = _range([x for x, _ in pairs])
    y_low, y_high = _range([y for _, y in pairs])

    def place(x: float, y: float) -> tuple[float, float]:
        across = (x - x_low) / (x_high - x_low) * (_WIDTH - _LEFT - _RIGHT)
        up = (y - y_low) / (y_high - y_low) * (_HEIGHT - _TOP - _BOTTOM)
        return _LEFT + across, _HEIGHT - _BOTTOM - up

    parts = _frame(panel)
    for value in _ticks(x_low, x_high):
        across = place(value, y_low)[0]
        parts.append(f'<path d="M{across:.1f} {_HEIGHT - _BOTTOM}v3" stroke="#888"/>')
        parts.append(_text(across, _HEIGHT - _BOTTOM + 13, f"{value:g}", "middle"))
    for value in _ticks(y_low, y_high):
        down = place(x_low, value)[1]
        parts.append(f'<path d="M{_LEFT} {down:.1f}h-3" stroke="#888"/>')
        parts.append(_text(_LEFT - 5, down + 3, f"{value:g}", "end"))
    dots = [place(x, y) for x, y, _ in panel.points]
    for (across, down), (_, _, name) in zip(dots, panel.points, strict=True):
        # The title is what a browser shows of the point under the pointer.
        dot = f'<circle cx="{across:.1f}" cy="{down:.1f}" r="3" fill="{_COLOURS[0]}">'
        parts.append(f"{dot}<title>{_escape(name)}</title></circle>")
    parts += _labels([(across, down, name) for (across, down), (_, _, name) in zip(dots, panel.points, strict=True)])
    for number, (name, line) in enumerate(lines.items()):
        parts += _line(number, name, [None if y is None else place(x, y) for x, y in line])
    return parts


def _labels(points: Sequence[tuple[float, float, str]]) -> list[str]:
    """Returns the names of points, each where it covers no dot, no other name and not the frame, or nowhere."""
    taken = [(across - 3, down - 3, across + 3, down + 3) for across, down, _ in points]
    parts = []
    for across, down, name in points:
        width = len(show(name)) * _LETTER
        for anchor, left, base in (
            ("start", across + 5, down + 2.5),
            ("end", across - 5 - width, down + 2.5),
            ("start", across + 4, down - 5),
            ("end", across - 4 - width, down - 5),
            ("start", across + 4, down + 9),
            ("end", across - 4 - width, down + 9),
        ):
            box = (left, base - 6, left + width, base + 1.5)
            is_within = box[0] >= _LEFT and box[2] <= _WIDTH - 2 and box[1] >= _TOP and box[3] <= _HEIGHT - _BOTTOM
            if is_within and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                parts.append(_text(left if anchor == "start" else left + width, base, name, anchor, size=7))
                break
    return parts


def _overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _ticks(low: float, high: float) -> list[float]:
    """Returns round numbers within an axis, three to seven.

    >>> _ticks(2.65, 10.35), _ticks(-0.02, 0.5)
    ([4.0, 6.0, 8.0, 10.0], [0.0, 0.2, 0.4])
    """
    rough = (high - low) / 5
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough)
    ticks = range(math.ceil(low / step), math.floor(high / step) + 1)
    # Multiples, rounded, as a running sum would end in 0.30000000000000004.
    return [float(f"{number * step:.12g}") for number in ticks]


def _frame(panel: Panel) -> list[str]:
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    down = (_TOP + _HEIGHT - _BOTTOM) / 2
    return [
        f'<rect x="{_LEFT}" y="{_TOP}" width="{_WIDTH - _LEFT - _RIGHT}" height="{_HEIGHT - _TOP - _BOTTOM}" '
        'fill="none" stroke="#888"/>',
        _text(middle, 20, panel.title, "middle", size=12),
        _text(middle, _HEIGHT - 10, panel.x_label, "middle"),
        f'<g transform="rotate(-90 12 {down})">{_text(12, down, panel.y_label, "middle")}</g>',
    ]


def _line(number: int, name: str, places: Sequence[tuple[float, float] | None]) -> list[str]:
    colour, dash = _COLOURS[number % len(_COLOURS)], _DASHES[number // len(_COLOURS) % len(_DASHES)]
    style = f'fill="none" stroke="{colour}" stroke-width="1.5" stroke-dasharray="{dash}"'
    path, is_drawing = [], False
    for place in places:
        if place is not None:
            path.append(f"{'L' if is_drawing else 'M'}{place[0]:.1f} {place[1]:.1f}")
        is_drawing = place is not None
    down = _HEIGHT + 16 * number
    legend = f'<path d="M{_LEFT} {down}h24" {style}/>{_text(_LEFT + 30, down + 3, name, "start")}'
    return [f'<path d="{" ".join(path)}" {style}/>' if path else "", legend]


def _text(x: float, y: float, text: str, anchor: str, size: int = 10) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{_escape(text)}</text>'


def _escape(text: str) -> str:
    return escape(show(text))


def _range(values: Sequence[float]) -> tuple[float, float]:
    """Returns an axis' ends: those of the values and some room, never equal."""
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    room = (high - low) * 0.05 or max(abs(low), 1.0) * 0.05
    return low - room, high + room

"""Charts as inline SVG, whose colours are classes: the page that holds them decides on light, dark and print."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from matese.errors import counted
from matese.render.labels import escaped

_WIDTH = 420
_HEIGHT = 240
_LEFT = 52
_RIGHT = 10
_TOP = 10
_BOTTOM = 36
_N_COLOURS = 7
_MOST_BINS = 26
_BAR = 22
_GAP = 10
_LABEL = 110
_STEPS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
_NARROWEST_WITH_TEXT = 26


def histogram(scores: Mapping[str, Sequence[float]], *, label: str) -> str:
    """Returns a histogram of segment scores, with one bar per system in each bin."""
    values = [value for of_system in scores.values() for value in of_system]
    low = min(values, default=0.0)
    step = next((step for step in _STEPS if -low / step <= _MOST_BINS - 1), _STEPS[-1] * math.ceil(-low / 1000))
    # A bin holds its upper edge: the topmost is that of 0 alone where all scores are whole.
    counts = {name: Counter(_bin(value, step) for value in of_system) for name, of_system in scores.items()}
    n_bins = max((number for of_system in counts.values() for number in of_system), default=0) + 1
    highest = max((n for of_system in counts.values() for n in of_system.values()), default=1)
    width = (_WIDTH - _LEFT - _RIGHT) / n_bins
    parts = _axes(highest, label)
    for position in range(n_bins):
        number = n_bins - 1 - position  # the lowest score stands on the left, as on an axis
        left = _LEFT + position * width
        if number % max(1, math.ceil(n_bins / 8)) == 0:
            parts.append(_text(left + width / 2, _HEIGHT - _BOTTOM + 14, f"{-number * step + 0.0:g}", "middle"))
        bar = width * 0.86 / max(1, len(counts))
        for order, (name, of_system) in enumerate(counts.items()):
            if n := of_system[number]:
                height = (_HEIGHT - _TOP - _BOTTOM) * n / highest
                edges = f"{-number * step + 0.0:g}" if number == 0 else f"{-number * step:g} to {(1 - number) * step:g}"
                parts.append(
                    f'<rect class="{colour(order)}" x="{left + width * 0.07 + order * bar:.1f}" '
                    f'y="{_HEIGHT - _BOTTOM - height:.1f}" width="{bar:.1f}" height="{height:.1f}">'
                    f"<title>{escaped(name)}: {counted(n, 'segment')}, score {edges}</title></rect>"
                )
    return _svg(parts, _HEIGHT, f"Histogram: {label}")


def stacked(shares: Mapping[str, Mapping[str, float]], *, label: str, classes: Sequence[str]) -> str:
    """Returns one horizontal bar per system, divided into named shares that add up to 1.

    `classes` are those of the colours of the shares.
    """
    parts = []
    full = _WIDTH - _LABEL - _RIGHT
    for order, (system, of_system) in enumerate(shares.items()):
        top = order * (_BAR + _GAP)
        left = float(_LABEL)
        short = system if len(system) <= 18 else f"{system[:17]}…"
        parts.append(f"<g><title>{escaped(system)}</title>{_text(_LABEL - 6, top + 15, short, 'end')}</g>")
        for (name, share), kind in zip(of_system.items(), classes, strict=True):
            width = full * share
            title = f"<title>{escaped(system)}: {escaped(name)} {share:.1%}</title>"
            place = f'x="{left:.1f}" y="{top}" width="{width:.1f}" height="{_BAR}"'
            parts.append(f'<rect class="{kind}" {place}>{title}</rect>')
            if width >= _NARROWEST_WITH_TEXT:
                parts.append(_text(left + width / 2, top + 15, f"{share:.0%}", "middle", f"on-{kind}"))
            left += width
    return _svg(parts, len(shares) * (_BAR + _GAP), label)


def bubbles(pairs: Sequence[tuple[float, float]], *, x_label: str, y_label: str) -> str:
    """Returns the scores of one system against those of another; the area of a dot is the number of segments."""
    values = [value for pair in pairs for value in pair]
    lowest = min(values, default=-1.0)
    highest = max([0.0, *values])
    if highest == 0:  # on the MQM scale, the best score
        lowest = min(lowest, -1.0)
    digits = 2 if highest else 1  # COMET's scores lie close together
    counts = Counter((round(x, digits), round(y, digits)) for x, y in pairs)
    low = lowest - 0.05 * (highest - lowest)
    high = highest + 0.03 * (highest - low)
    side = _HEIGHT + 60
    most = max(counts.values(), default=1)

    def place(x: float, y: float) -> tuple[float, float]:
        scale = (side - _LEFT - 20) / (high - low)
        return _LEFT + (x - low) * scale, side - 44 - (y - low) * scale

    left, bottom = place(low, low)
    right, top = place(high, high)
    parts = [f'<path class="axis" d="M{left:.1f} {top:.1f}V{bottom:.1f}H{right:.1f}"/>']
    x1, y1 = place(highest, highest)
    parts.append(f'<path class="diagonal" d="M{left:.1f} {bottom:.1f}L{x1:.1f} {y1:.1f}"/>')
    for value in (lowest, (lowest + highest) / 2, highest):
        across, down = place(value, value)
        tick = f"{value + 0.0:.3g}"
        parts += [_text(across, bottom + 14, tick, "middle"), _text(left - 5, down + 4, tick, "end")]
    for (x, y), n in sorted(counts.items(), key=lambda item: -item[1]):
        across, down = place(x, y)
        kind = "better" if y > x else "worse" if y < x else "same"
        title = f"<title>{counted(n, 'segment')}: {escaped(x_label)} {x:g}, {escaped(y_label)} {y:g}</title>"
        radius = 2.5 + 13.5 * math.sqrt(n / most)
        parts.append(f'<circle class="{kind}" cx="{across:.1f}" cy="{down:.1f}" r="{radius:.1f}">{title}</circle>')
    parts.append(_text((left + right) / 2, bottom + 32, x_label, "middle"))
    parts.append(f'<g transform="rotate(-90 12 {side / 2 - 20})">{_text(12, side / 2 - 20, y_label, "middle")}</g>')
    return _svg(parts, side, f"Scores of {y_label} against {x_label}")


def colour(number: int) -> str:
    """Returns the class of the colour of a system."""
    return f"c{number % _N_COLOURS}"


def _bin(value: float, step: float) -> int:
    """Returns the bin of a score, in steps below 0.

    >>> _bin(0.0, 1.0), _bin(-0.5, 1.0), _bin(-1.0, 1.0)
    (0, 1, 1)
    """
    return max(0, math.ceil(-value / step - 1e-9))


def _axes(highest: int, label: str) -> list[str]:
    bottom = _HEIGHT - _BOTTOM
    parts = [f'<path class="axis" d="M{_LEFT} {_TOP}V{bottom}H{_WIDTH - _RIGHT}"/>']
    for count in sorted({0, highest // 2, highest}):
        parts.append(_text(_LEFT - 5, bottom - count / highest * (bottom - _TOP) + 4, f"{count:,}", "end"))
    parts.append(_text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 6, label, "middle"))
    return parts


def _text(x: float, y: float, text: str, anchor: str, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escaped(text)}</text>'


def _svg(parts: Sequence[str], height: int, label: str) -> str:
    start = f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escaped(label)}">'
    return "\n".join([start, *parts, "</svg>"])

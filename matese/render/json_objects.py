"""Figures as nested JSON objects, for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matese.evaluation.statistics.bootstrap import Difference, Figure


def nest(leaves: Mapping[str, object]) -> dict[str, Any]:
    """Returns values with dotted names as nested objects.

    >>> nest({"system.pearson": 0.9, "system.spa": 0.8})
    {'system': {'pearson': 0.9, 'spa': 0.8}}
    """
    nested: dict[str, Any] = {}
    for name, value in leaves.items():
        *parents, last = name.split(".")
        place = nested
        for parent in parents:
            place = place.setdefault(parent, {})
        place[last] = value
    return nested


def nest_figures(figures: Mapping[str, Figure], *, with_intervals: bool) -> dict[str, Any]:
    """Returns figures as nested objects; undefined ones are null, and the interval of `f1` is `f1_interval`.

    >>> from matese.evaluation.statistics.bootstrap import Figure
    >>> nest_figures({"mpp.micro.f1": Figure(0.5, 0.4, 0.6), "hsh": Figure(math.nan)}, with_intervals=False)
    {'mpp': {'micro': {'f1': 0.5}}, 'hsh': None}
    """
    leaves: dict[str, object] = {}
    for name, figure in figures.items():
        leaves[name] = finite(figure.value)
        if with_intervals:
            leaves[f"{name}_interval"] = _interval(figure.low, figure.high)
    return nest(leaves)


def difference(figure: Difference) -> dict[str, Any]:
    """Returns a difference as an object with `difference`, `interval` and `p`."""
    ends = _interval(figure.low, figure.high)
    return {"difference": finite(figure.value), "interval": ends, "p": finite(figure.p)}


def dumps(value: Mapping[str, object]) -> str:
    """Returns an object as indented JSON that ends with a line feed."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def finite(value: float) -> float | None:
    """Returns a number, or None if it is infinite or not a number: JSON holds neither."""
    return value if math.isfinite(value) else None


def _interval(low: float, high: float) -> list[float] | None:
    return [low, high] if math.isfinite(low) and math.isfinite(high) else None

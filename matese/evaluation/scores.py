"""Scores of systems and of their segments, as numbers in arrays: what a human gave and what a metric gives.

A score that is missing is NaN in these arrays and nowhere else: a file that holds NaN is refused when it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MIN_SYSTEMS = 3
"""Fewer systems have no correlation worth its name: that of two is always 1 or -1."""

_MAD_SCALE = 1.483
_MAD_CUTOFF = 2.5


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """What one human score or one metric says of some systems.

    Attributes:
        name: how messages call it.
        systems: their names, each once.
        system: (systems,), NaN where there is none.
        segment: (systems, segments), NaN where there is none; None where only systems are scored.
        numbers: of the segments, as their test set counts them; for messages. Empty: they count from 1.
    """

    name: str
    systems: tuple[str, ...]
    system: Floats
    segment: Floats | None = None
    numbers: tuple[int | str, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.systems)) != len(self.systems):
            raise ValueError(f"{self.name} names a system twice: must score each once")
        n_systems = len(self.systems)
        is_one_each = self.system.shape == (n_systems,)
        if not is_one_each or (self.segment is not None and self.segment.shape[:-1] != (n_systems,)):
            raise ValueError(f"{self.name}: scores of other shapes than ({n_systems},) and ({n_systems}, segments)")

    def select(self, systems: Sequence[str]) -> Scores:
        """Returns the scores of these systems, in this order.

        Raises:
            ValueError: if one of them has none.
        """
        rows = {system: row for row, system in enumerate(self.systems)}
        lacking = [system for system in systems if system not in rows]
        if lacking:
            known = f"must score every system that has a human score, {', '.join(systems)}"
            raise ValueError(f"{self.name} lacks system {lacking[0]}: {known}")
        order = [rows[system] for system in systems]
        segment = None if self.segment is None else self.segment[order]
        return replace(self, systems=tuple(systems), system=self.system[order], segment=segment)

    def without_segments(self) -> Scores:
        """Returns the scores of the systems alone."""
        return replace(self, segment=None)


def from_segments(
    name: str, segments: Mapping[str, Mapping[int | str, float | None]], numbers: Sequence[int | str]
) -> Scores:
    """Returns scores whose segments are known; a system's is the mean of those that it has.

    Args:
        name: how messages call it.
        segments: of each system, the scores by the segment's number; None where there is none.
        numbers: the segments, in the order of the columns.
    """
    table = np.full((len(segments), len(numbers)), np.nan)
    for row, scores in enumerate(segments.values()):
        for column, number in enumerate(numbers):
            score = scores.get(number)
            if score is not None:
                table[row, column] = score
    return Scores(name, tuple(segments), row_means(table), table, tuple(numbers))


def row_means(table: Floats) -> Floats:
    """Returns the mean of each row without what is missing; NaN where all is. Shape: (rows, columns) to (rows,)."""
    counts = np.isfinite(table).sum(axis=1)
    sums = np.where(np.isfinite(table), table, 0.0).sum(axis=1)
    return np.asarray(np.divide(sums, counts, out=np.full(len(table), np.nan), where=counts > 0))


def match(gold: Scores, metric: Scores) -> Scores:
    """Returns the metric's scores of the systems that have a human score, in their order, each where there is one.

    Segments are matched by their place. What a human did not rate may be missing in the metric too.

    Raises:
        ValueError: if a system or a segment that a human rated has no metric score, or the segments differ in number.
    """
    chosen = metric.select(gold.systems)
    for system, human, score in zip(gold.systems, gold.system, chosen.system, strict=True):
        if np.isfinite(human) and not np.isfinite(score):
            raise ValueError(f"{metric.name} has no score of system {system}: must score what has a human score")
    if gold.segment is None or chosen.segment is None:
        return chosen.without_segments() if gold.segment is None else chosen
    n_gold, n_metric = gold.segment.shape[1], chosen.segment.shape[1]
    if n_gold != n_metric:
        raise ValueError(
            f"{metric.name} scores {n_metric:,} segments a system and {gold.name} {n_gold:,}: must be the same ones"
        )
    lacking = np.argwhere(np.isfinite(gold.segment) & ~np.isfinite(chosen.segment))
    if len(lacking):
        row, column = lacking[0]
        place = f"segment {gold.numbers[column] if gold.numbers else column + 1} of system {gold.systems[row]}"
        more = f" (and {len(lacking) - 1:,} more)" if len(lacking) > 1 else ""
        raise ValueError(f"{metric.name} lacks {place}{more}: must score every segment that has a human score")
    return chosen


def outliers(scores: Floats) -> NDArray[np.bool_]:
    """Returns which systems are outliers: further from the median than 2.5 times the median distance, times 1.483.

    Mathur et al. 2020, section 4.2. Where more than half of the systems have one score, none is an outlier.

    Args:
        scores: (systems,), human scores.
    """
    distances = np.abs(scores - np.median(scores))
    typical = _MAD_SCALE * float(np.median(distances))
    if typical == 0:
        return np.zeros(len(scores), dtype=np.bool_)
    found: NDArray[np.bool_] = distances / typical > _MAD_CUTOFF
    return found


def top_n(gold: Floats, metric: Floats, statistic: Callable[[Floats, Floats], float | None]) -> dict[int, float | None]:
    """Returns a statistic over the N best systems by human score, for N from all of them down to three.

    Ma et al. 2019. Of systems with equal scores the first are taken.

    Args:
        gold: (systems,).
        metric: (systems,).
        statistic: of the scores of some systems.
    """
    order = np.argsort(-gold, kind="stable")
    return {n: statistic(gold[order[:n]], metric[order[:n]]) for n in range(len(gold), MIN_SYSTEMS - 1, -1)}

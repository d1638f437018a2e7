"""The paired percentile bootstrap over segments: how much a figure would vary with other segments.

A resample is a row of weights: how often each segment was drawn. A figure is a function of such a row (`Statistic`).
With weight 1 for every segment it is the figure of the whole sample, with weight 0 for some segments that of the
others. Two predictions are compared on the same resamples, so their comparison is paired.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from matese.evaluation.statistics.arrays import FloatArray, IntArray

_CHUNK = 64
"""Resamples in memory at once; changing it changes the random numbers of a seed."""


class Statistic(Protocol):
    """Figures that can be computed for any sample of the segments."""

    def figures(self, weights: FloatArray) -> Mapping[str, FloatArray]:
        """Returns figures by their dotted names, NaN where undefined: (resamples, segments) to (resamples,) each."""


@dataclass(frozen=True, slots=True)
class AdditiveStatistic:
    """A statistic whose figures are functions of sums over the segments: a resample is one matrix product.

    Attributes:
        table: (segments, columns), the summands of each segment.
        aggregate: from sums, (resamples, columns), to figures.
    """

    table: FloatArray
    aggregate: Callable[[FloatArray], Mapping[str, FloatArray]]

    @classmethod
    def of_means(cls, columns: Mapping[str, npt.ArrayLike]) -> AdditiveStatistic:
        """Returns the means of values of the segments, (segments,), by their names."""
        values = [np.asarray(column, dtype=np.float64) for column in columns.values()]
        table = np.stack([np.ones(len(values[0])), *values], axis=1)
        return cls(table, lambda sums: dict(zip(columns, sums[:, 1:].T / sums[:, 0], strict=True)))

    def figures(self, weights: FloatArray) -> Mapping[str, FloatArray]:
        """See `Statistic.figures`."""
        return self.aggregate(weights @ self.table)

    def measure(self, resampled: Iterable[FloatArray] = ()) -> dict[str, Figure]:
        """Returns the figures of all segments, with intervals if there are resamples; see `draw`."""
        return measure(self, whole_sample(len(self.table)), resampled)


@dataclass(frozen=True, slots=True)
class RecomputedStatistic:
    """A statistic that is not a function of sums, for example of ranks, and is computed anew for each resample.

    `compute` takes the segments of a resample, (draws,); a segment that was drawn twice occurs twice.
    """

    compute: Callable[[IntArray], Mapping[str, float]]

    def figures(self, weights: FloatArray) -> Mapping[str, FloatArray]:
        """See `Statistic.figures`."""
        segments = np.arange(weights.shape[1])
        results = [self.compute(np.repeat(segments, row.astype(np.int64))) for row in weights]
        return {name: np.array([result[name] for result in results]) for name in results[0]}


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure and its 95% interval, if one was computed; NaN where they are undefined."""

    value: float
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True, slots=True)
class Difference(Figure):
    """A figure of a second prediction or system minus that of a first one.

    Attributes:
        p: two-sided: twice the smaller share of resamples on either side of no difference.
    """

    p: float = math.nan


def whole_sample(n_segments: int) -> FloatArray:
    """Returns the weights of the sample itself, (1, segments)."""
    return np.ones((1, n_segments))


def resamples(n: int, strata: npt.ArrayLike, *, seed: int) -> Iterator[FloatArray]:
    """Yields `n` resamples in chunks, (resamples, segments).

    Args:
        n: number of resamples.
        strata: (segments,), for example language pairs; from each stratum as many segments are drawn as it has.
        seed: of the random numbers.
    """
    _, members = np.unique(np.asarray(strata), return_inverse=True)
    groups = [np.flatnonzero(members == stratum) for stratum in range(members.max(initial=-1) + 1)]
    rng = np.random.default_rng(seed)
    for start in range(0, n, _CHUNK):
        weights = np.zeros((min(_CHUNK, n - start), len(members)))
        rows = np.arange(len(weights))[:, np.newaxis]
        for group in groups:
            drawn = rng.integers(len(group), size=(len(weights), len(group)))
            counts = np.bincount((drawn + rows * len(group)).ravel(), minlength=drawn.size)
            weights[:, group] = counts.reshape(drawn.shape)
        yield weights


def measure(statistic: Statistic, sample: FloatArray, resampled: Iterable[FloatArray] = ()) -> dict[str, Figure]:
    """Returns the figures of a sample, with intervals if there are resamples; see `draw`."""
    (drawn,) = draw([statistic], sample, resampled)
    return {name: Figure(float(values[0]), *interval(values[1:])) for name, values in drawn.items()}


def draw(
    statistics: Sequence[Statistic], sample: FloatArray, resampled: Iterable[FloatArray]
) -> list[dict[str, FloatArray]]:
    """Returns the figures of each statistic on the sample and then on the resamples, (1 + resamples,) each.

    Args:
        statistics: of the same segments.
        sample: (1, segments), weights of the sample itself.
        resampled: chunks of weights, (resamples, segments); only one chunk is in memory at a time.
    """
    chunks = [
        [statistic.figures(weights) for statistic in statistics] for weights in itertools.chain([sample], resampled)
    ]
    return [
        {name: np.concatenate([chunk[name] for chunk in of_statistic]) for name in of_statistic[0]}
        for of_statistic in zip(*chunks, strict=True)
    ]


def interval(values: FloatArray, level: float = 0.95) -> tuple[float, float]:
    """Returns the percentile interval of a figure, without the resamples in which it is undefined.

    >>> interval(np.arange(101.0), level=0.5)
    (25.0, 75.0)
    """
    defined = values[np.isfinite(values)]
    if not len(defined):
        return math.nan, math.nan
    tail = (1 - level) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return float(low), float(high)


def compare(first: FloatArray, second: FloatArray) -> Difference:
    """Returns the difference of a figure between two predictions, both as `draw` returns it."""
    differences = (second - first)[1:]
    differences = differences[np.isfinite(differences)]
    # Adding one to both counts (as if the sample itself were a resample without a difference) avoids p = 0.
    sides = (int((differences <= 0).sum()) + 1, int((differences >= 0).sum()) + 1)
    p = min(1.0, 2 * min(sides) / (len(differences) + 1)) if len(differences) else math.nan
    return Difference(float(second[0] - first[0]), *interval(differences), p)

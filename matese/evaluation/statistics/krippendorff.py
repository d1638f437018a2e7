"""Krippendorff's alpha of nominal values: agreement of raters beyond chance. 1 is perfect agreement, 0 is chance.

Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability". There may be any number of raters, and other raters for
each unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from matese.evaluation.statistics.arrays import FloatArray, IntArray, divide
from matese.evaluation.statistics.bootstrap import AdditiveStatistic


def coincidences(values: IntArray, n_values: int) -> FloatArray:
    """Returns how often each two values occur together in a unit: ids, (raters, units), to (values, values)."""
    counts = (values[:, :, np.newaxis] == np.arange(n_values)).sum(axis=0).astype(np.float64)
    # Each rater's value is paired with those of the others, not with itself.
    return np.asarray((counts.T @ counts - np.diag(counts.sum(axis=0))) / (len(values) - 1))


def alpha(matrices: FloatArray) -> FloatArray:
    """Returns alpha of coincidence matrices, (resamples, values, values) to (resamples,); NaN with one value only.

    >>> same, other = coincidences(np.array([[0, 1], [0, 1]]), 2), coincidences(np.array([[0, 1], [1, 0]]), 2)
    >>> alpha(np.array([same, other])).tolist()
    [1.0, -0.5]
    """
    marginals = matrices.sum(axis=2)
    n = marginals.sum(axis=1)
    observed = n - np.einsum("rvv->r", matrices)
    expected = divide(n**2 - (marginals**2).sum(axis=1), n - 1)
    return 1.0 - divide(observed, expected)


def statistic(segments: Sequence[IntArray], n_values: int) -> AdditiveStatistic:
    """Returns the figures `alpha.severity` (all values) and `alpha.marked` (0, "not marked", against the others).

    Each segment has values, (raters, units), from 0 to `n_values` - 1.
    """

    def figures(totals: FloatArray) -> Mapping[str, FloatArray]:
        matrices = totals.reshape(-1, n_values, n_values)
        marked = np.add.reduceat(np.add.reduceat(matrices, [0, 1], axis=1), [0, 1], axis=2)
        return {"alpha.severity": alpha(matrices), "alpha.marked": alpha(marked)}

    table = np.array([coincidences(values, n_values) for values in segments])
    return AdditiveStatistic(table.reshape(len(segments), n_values**2), figures)

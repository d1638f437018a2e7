"""Array types, and arithmetic in which NaN stands for a missing or undefined value."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


def divide(numerator: FloatArray, denominator: FloatArray, *, empty: float = np.nan) -> FloatArray:
    """Returns the quotients; `empty` where the denominator is 0.

    >>> divide(np.array([1.0, 1.0]), np.array([4.0, 0.0]), empty=1.0).tolist()
    [0.25, 1.0]
    """
    is_empty = denominator == 0
    return np.asarray(np.where(is_empty, empty, numerator / np.where(is_empty, 1.0, denominator)))


def f1(precision: FloatArray, recall: FloatArray) -> FloatArray:
    """Returns the harmonic means: 0 where both are 0, NaN where one is NaN."""
    return divide(2 * precision * recall, precision + recall, empty=0.0)


def rates(name: str, precision: FloatArray, recall: FloatArray) -> Mapping[str, FloatArray]:
    """Returns the figures `NAME.precision`, `NAME.recall` and `NAME.f1`."""
    return {f"{name}.precision": precision, f"{name}.recall": recall, f"{name}.f1": f1(precision, recall)}


def cohens_kappa(matrices: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Returns observed agreement and Cohen's kappa of confusion matrices: (matrices, labels, labels) to (matrices,)."""
    n = matrices.sum(axis=(1, 2))
    observed = divide(np.einsum("rss->r", matrices), n)
    chance = divide((matrices.sum(axis=1) * matrices.sum(axis=2)).sum(axis=1), n**2)
    return observed, divide(observed - chance, 1.0 - chance)


def pair_differences(values: FloatArray) -> FloatArray:
    """Returns the differences of all pairs of rows, in the order of `numpy.triu_indices(rows, 1)`.

    Shape: (rows, ...) to (pairs, ...). Differences with a missing value are NaN.
    """
    first, second = np.triu_indices(len(values), 1)
    with np.errstate(invalid="ignore"):
        return np.asarray(values[first] - values[second])


def moments(first: FloatArray, second: FloatArray) -> FloatArray:
    """Returns what each two values add to the sums of `pearson`; nothing where the first is missing: (..., 6)."""
    is_known = np.isfinite(first)
    x, y = (np.where(is_known, values, 0.0) for values in (first, second))
    return np.stack((is_known.astype(np.float64), x, y, x**2, y**2, x * y), axis=-1)


def pearson(totals: FloatArray) -> FloatArray:
    """Returns Pearson's correlation from sums of `moments`, (samples, 6) to (samples,); NaN where undefined."""
    n, sum_x, sum_y, sum_xx, sum_yy, sum_xy = totals.T

    def deviation(total: FloatArray, squares: FloatArray) -> FloatArray:
        """Returns n times the standard deviation; a variance below 1e-12 of the squares is rounding of constants."""
        variance = n * squares - total**2
        return np.sqrt(np.where(variance > 1e-12 * n * squares, variance, 0.0))

    scaled = divide(n * sum_xy - sum_x * sum_y, deviation(sum_x, sum_xx) * deviation(sum_y, sum_yy))
    return np.asarray(np.clip(scaled, -1.0, 1.0))


def row_means(table: FloatArray) -> FloatArray:
    """Returns the mean of the finite values of each row, NaN for a row without any: (..., columns) to (...)."""
    counts = np.isfinite(table).sum(axis=-1)
    sums = np.where(np.isfinite(table), table, 0.0).sum(axis=-1)
    return np.asarray(np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0))

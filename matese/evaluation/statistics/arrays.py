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
    result: FloatArray = np.where(is_empty, empty, numerator / np.where(is_empty, 1.0, denominator))
    return result


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


def scaled_variance(n: FloatArray, total: FloatArray, squares: FloatArray) -> FloatArray:
    """Returns n squared times the variance of values, from their number, sum and sum of squares.

    A result below 1e-12 of `n * squares` is due to rounding: the values are constant, and 0 is returned.
    """
    scaled: FloatArray = n * squares - total**2
    return np.where(scaled > 1e-12 * n * squares, scaled, 0.0)


def moments(one: FloatArray, other: FloatArray) -> FloatArray:
    """Returns what each two values add to the sums of `pearson`; nothing where the first is missing: (..., 6)."""
    is_known = np.isfinite(one)
    first, second = (np.where(is_known, values, 0.0) for values in (one, other))
    return np.stack((is_known.astype(np.float64), first, second, first**2, second**2, first * second), axis=-1)


def pearson(totals: FloatArray) -> FloatArray:
    """Returns Pearson's correlation from sums of `moments`, (samples, 6) to (samples,); NaN where undefined."""
    n, one, other, one_square, other_square, product = totals.T
    deviations = np.sqrt(scaled_variance(n, one, one_square)) * np.sqrt(scaled_variance(n, other, other_square))
    return np.asarray(np.clip(divide(n * product - one * other, deviations), -1.0, 1.0))


def row_means(table: FloatArray) -> FloatArray:
    """Returns the mean of the finite values of each row, NaN for a row without any: (..., columns) to (...)."""
    counts = np.isfinite(table).sum(axis=-1)
    sums = np.where(np.isfinite(table), table, 0.0).sum(axis=-1)
    return np.asarray(np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0))

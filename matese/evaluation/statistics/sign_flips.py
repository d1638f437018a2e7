"""The paired permutation test of two systems: the signs of the differences of their segments are flipped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from matese.evaluation.statistics.arrays import BoolArray, FloatArray, IntArray
from matese.evaluation.statistics.bootstrap import AdditiveStatistic

_MOST_EXACT = 10_000
"""Flips that are all made: those of up to 13 segments."""
_BLOCK = 100
"""Flips in memory at once."""
_ROUNDING = 1e-12
"""Rounding of sums of the same numbers in another order, as a share of the sum of their absolute values."""


def draw(n_segments: int, rng: np.random.Generator, n_flips: int) -> FloatArray:
    """Returns random signs, -1 or 1. Shape: (flips, segments)."""
    return rng.integers(0, 2, size=(n_flips, n_segments)).astype(np.float64) * 2.0 - 1.0


def p_values(scores: FloatArray, is_rated: BoolArray, signs: FloatArray) -> FloatArray:
    """Returns the p-value of "the first is better than the second" of each pair of systems.

    A pair is compared on the segments that are rated for both systems. Shape: (systems, segments) twice, (flips,
    segments) to (pairs,), in the order of `numpy.triu_indices(systems, 1)`.
    """
    every = np.arange(scores.shape[1])[np.newaxis]
    (found,) = p_values_of_samples(np.where(is_rated, scores, np.nan), every, signs)
    return np.asarray(found)


def p_values_of_samples(scores: FloatArray, drawn: IntArray, signs: FloatArray) -> FloatArray:
    """Returns the p-values of `p_values` on samples of the segments.

    Args:
        scores: (systems, segments), NaN where missing.
        drawn: (samples, places), the segment at each place of a sample.
        signs: (flips, places), the same for a place in all samples.

    Returns:
        (samples, pairs), in the order of `numpy.triu_indices(systems, 1)`.
    """
    first, second = np.triu_indices(len(scores), 1)
    is_rated = np.isfinite(scores)
    known = np.where(is_rated, scores, 0.0)
    is_complete = is_rated == is_rated.any(axis=0)
    if is_complete.all():
        # Every segment is rated for all systems or for none: the sums of a pair are differences of system sums.
        values, minuend, subtrahend = known, first, second
    else:
        is_shared = is_rated[first] & is_rated[second]
        values = np.concatenate([known[first] * is_shared, known[second] * is_shared])
        minuend, subtrahend = np.arange(len(first)), np.arange(len(first)) + len(first)
    rows = values[:, drawn]  # (rows, samples, places)
    sizes = np.abs(rows).sum(axis=2)
    slack = _ROUNDING * (sizes[minuend] + sizes[subtrahend])
    totals = rows.sum(axis=2)
    flipped = (rows.reshape(-1, rows.shape[2]) @ signs.T).reshape(*rows.shape[:2], -1)  # (rows, samples, flips)
    observed = totals[minuend] - totals[subtrahend] - slack
    exceeds = flipped[minuend] - flipped[subtrahend] >= observed[..., np.newaxis]
    return np.asarray(exceeds.mean(axis=2).T)


def permutation_test(first: FloatArray, second: FloatArray, *, n_permutations: int, seed: int) -> float:
    """Returns the two-sided p-value of "both have the same mean", (segments,) each; see `_p_value` on its exactness."""
    scores, is_rated = np.array([first, second]), np.ones((2, len(first)), dtype=bool)
    n_at_least = np.zeros(2)
    for signs in _blocks(len(first), n_permutations, seed):
        for side, rows in enumerate((scores, scores[::-1])):
            n_at_least[side] += round(p_values(rows, is_rated, signs)[0] * len(signs))
    return _p_value(n_at_least, len(first), n_permutations)


def _blocks(n_segments: int, n_permutations: int, seed: int) -> Iterator[FloatArray]:
    """Yields blocks of signs, (flips, segments): all there are of few segments, random ones of many."""
    rng = np.random.default_rng(seed)
    is_exact = 2**n_segments <= _MOST_EXACT
    total = 2**n_segments if is_exact else n_permutations
    for start in range(0, total, _BLOCK):
        numbers = np.arange(start, min(start + _BLOCK, total))
        if is_exact:
            yield (numbers[:, np.newaxis] >> np.arange(n_segments) & 1).astype(np.float64) * 2.0 - 1.0
        else:
            yield draw(n_segments, rng, len(numbers))


def _p_value(n_at_least: FloatArray, n_segments: int, n_permutations: int) -> float:
    """Returns a two-sided p-value from the numbers of flips that are at least as extreme on either side.

    It is exact if all flips were made. Of random ones, one is added to both counts, as if the observed signs were among
    those drawn, so that p is never 0.
    """
    if 2**n_segments <= _MOST_EXACT:
        return min(1.0, 2 * float(n_at_least.min()) / float(2**n_segments))
    return min(1.0, 2 * (float(n_at_least.min()) + 1) / (n_permutations + 1))


def permutation_test_of_sums(
    first: AdditiveStatistic, second: AdditiveStatistic, figure: str, *, n_permutations: int, seed: int
) -> float:
    """Returns the two-sided p-value of "both systems are alike" for a figure of sums, such as corpus BLEU.

    Segments of the two systems are swapped at random (Riezler and Maxwell 2005, "approximate randomization"), or in
    every way if they are few; for a mean, this is `permutation_test`.

    Args:
        first: statistic of one system.
        second: statistic of the other on the same segments, with the same function of the sums.
        figure: name of the figure.
        n_permutations: random swaps.
        seed: of the random numbers.
    """
    totals = [own.table.sum(0, keepdims=True) for own in (first, second)]
    observed = float(_gain(first, second, totals, figure)[0])
    slack = _ROUNDING * max(1.0, abs(observed))
    n_at_least = np.zeros(2)
    for signs in _blocks(len(first.table), n_permutations, seed):
        is_swapped = signs < 0
        moved = is_swapped @ (second.table - first.table)  # (swaps, columns)
        gains = _gain(first, second, [totals[0] + moved, totals[1] - moved], figure)
        n_at_least += [(gains >= observed - slack).sum(), (gains <= observed + slack).sum()]
    return _p_value(n_at_least, len(first.table), n_permutations)


def _gain(first: AdditiveStatistic, second: AdditiveStatistic, totals: Sequence[FloatArray], figure: str) -> FloatArray:
    """Returns a figure of the second system minus that of the first, for rows of sums."""
    gain: FloatArray = second.aggregate(totals[1])[figure] - first.aggregate(totals[0])[figure]
    return gain

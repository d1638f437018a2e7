"""The paired permutation test of two systems: the signs of the differences of their segments are flipped."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from matese.evaluation.statistics.arrays import FloatArray, IntArray

_MOST_EXACT = 10_000
"""Flips that are all made: those of up to 13 segments."""
_BLOCK = 100
"""Flips in memory at once."""
_ROUNDING = 1e-12
"""Rounding of sums of the same numbers in another order, as a share of the sum of their absolute values."""


def draw_signs(n_segments: int, rng: np.random.Generator, n_flips: int) -> FloatArray:
    """Returns random signs, -1 or 1. Shape: (flips, segments)."""
    return rng.integers(0, 2, size=(n_flips, n_segments)).astype(np.float64) * 2.0 - 1.0


def p_values(scores: FloatArray, signs: FloatArray, drawn: IntArray | None = None) -> FloatArray:
    """Returns the p-value of "the first is better than the second" of each pair of systems on samples of the segments.

    A pair is compared on the segments that are rated (not NaN) for both systems; without any, its p-value is NaN.

    Args:
        scores: (systems, segments), NaN where missing.
        signs: (flips, places), the same for a place in all samples.
        drawn: (samples, places), the segment at each place of a sample; None for one sample, all segments.

    Returns:
        (samples, pairs), in the order of `numpy.triu_indices(systems, 1)`.
    """
    drawn = np.arange(scores.shape[1])[np.newaxis] if drawn is None else drawn
    first, second = np.triu_indices(len(scores), 1)
    is_rated = np.isfinite(scores)
    is_shared = is_rated[first] & is_rated[second]
    filled = np.where(is_rated, scores, 0.0)
    if (is_rated == is_rated.any(axis=0)).all():
        # Every segment is rated for all systems or for none: the sums of a pair are differences of system sums.
        values = filled
        minuend = first
        subtrahend = second
    else:
        values = np.concatenate([filled[first] * is_shared, filled[second] * is_shared])
        minuend = np.arange(len(first))
        subtrahend = np.arange(len(first)) + len(first)
    rows = values[:, drawn]  # (rows, samples, places)
    sizes = np.abs(rows).sum(axis=2)
    slack = _ROUNDING * (sizes[minuend] + sizes[subtrahend])
    totals = rows.sum(axis=2)
    flipped = (rows.reshape(-1, rows.shape[2]) @ signs.T).reshape(*rows.shape[:2], -1)  # (rows, samples, flips)
    observed = totals[minuend] - totals[subtrahend] - slack
    exceeds = flipped[minuend] - flipped[subtrahend] >= observed[..., np.newaxis]
    return np.where(is_shared[:, drawn].any(axis=2), exceeds.mean(axis=2), np.nan).T


def two_sided_p(
    first: FloatArray,
    second: FloatArray,
    figure: Callable[[FloatArray], FloatArray] = lambda sums: sums[:, 0],
    *,
    n_permutations: int,
    seed: int,
) -> float:
    """Returns the two-sided p-value of "both systems are alike" for a mean, or a figure of sums such as corpus BLEU.

    Segments of the two systems are swapped at random (Riezler and Maxwell 2005, "approximate randomization"), or in
    every way if they are few; then p is exact. Of random swaps, one is added to both counts, as if the observed order
    were among those drawn, so that p is never 0.

    Args:
        first: what each segment of one system adds to the sums, (segments, columns), or its score, (segments,).
        second: the same of the other system.
        figure: from sums, (swaps, columns), to the figure.
        n_permutations: random swaps.
        seed: of the random numbers.
    """
    first, second = (table.reshape(len(table), -1) for table in (first, second))

    def gains(is_swapped: FloatArray) -> FloatArray:
        moved = is_swapped @ (second - first)
        return figure(second.sum(axis=0) - moved) - figure(first.sum(axis=0) + moved)

    n_segments = len(first)
    rng = np.random.default_rng(seed)
    observed = float(gains(np.zeros((1, n_segments)))[0])
    slack = _ROUNDING * max(1.0, abs(observed), *(float(np.abs(table).sum()) for table in (first, second)))
    is_exact = 2**n_segments <= _MOST_EXACT
    n_swaps = 2**n_segments if is_exact else n_permutations
    n_at_least = np.zeros(2)
    for start in range(0, n_swaps, _BLOCK):
        numbers = np.arange(start, min(start + _BLOCK, n_swaps))
        if is_exact:
            is_swapped = (numbers[:, np.newaxis] >> np.arange(n_segments) & 1) == 0
        else:
            is_swapped = draw_signs(n_segments, rng, len(numbers)) < 0
        gained = gains(is_swapped.astype(np.float64))
        n_at_least += [(gained >= observed - slack).sum(), (gained <= observed + slack).sum()]
    n_more = 0 if is_exact else 1
    return min(1.0, 2 * (float(n_at_least.min()) + n_more) / (n_swaps + n_more))

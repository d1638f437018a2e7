"""The paired permutation test of two systems: the signs of the differences of their segments are flipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from matese.evaluation.statistics.arrays import FloatArray, IntArray

_MOST_EXACT = 10_000
"""Flips that are all made: those of up to 13 segments."""
_BLOCK = 100
"""Flips in memory at once."""
_ROUNDING = 1e-12
"""Rounding of sums of the same numbers in another order, as a share of the sum of their absolute values."""


def draw(n_segments: int, rng: np.random.Generator, n_flips: int) -> FloatArray:
    """Returns random signs, -1 or 1. Shape: (flips, segments)."""
    return rng.integers(0, 2, size=(n_flips, n_segments)).astype(np.float64) * 2.0 - 1.0


def p_values(scores: FloatArray, signs: FloatArray) -> FloatArray:
    """Returns the p-value of "the first is better than the second" of each pair of systems.

    A pair is compared on the segments that are rated (not NaN) for both systems. Shape: (systems, segments), (flips,
    segments) to (pairs,), in the order of `numpy.triu_indices(systems, 1)`.
    """
    return np.asarray(p_values_of_samples(scores, np.arange(scores.shape[1])[np.newaxis], signs)[0])


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


def permutation_test(
    first: FloatArray,
    second: FloatArray,
    figure: Callable[[FloatArray], FloatArray] = lambda sums: sums[:, 0],
    *,
    n_permutations: int,
    seed: int,
) -> float:
    """Returns the two-sided p-value of "both systems are alike" for a mean, or a figure of sums such as corpus BLEU.

    Segments of the two systems are swapped at random (Riezler and Maxwell 2005, "approximate randomization"), or in
    every way if they are few.

    Args:
        first: what each segment of one system adds to the sums, (segments, columns), or its score, (segments,).
        second: the same of the other system.
        figure: from sums, (swaps, columns), to the figure.
        n_permutations: random swaps.
        seed: of the random numbers.
    """
    tables = [own.reshape(len(own), -1) for own in (first, second)]
    sums = [own.sum(axis=0) for own in tables]

    def gains(moved: FloatArray) -> FloatArray:
        return figure(sums[1] - moved) - figure(sums[0] + moved)

    observed = float(gains(np.zeros((1, len(sums[0]))))[0])
    slack = _ROUNDING * max(1.0, abs(observed), *(float(np.abs(own).sum()) for own in tables))
    n_at_least = np.zeros(2)
    for signs in _blocks(len(first), n_permutations, seed):
        found = gains((signs < 0) @ (tables[1] - tables[0]))
        n_at_least += [(found >= observed - slack).sum(), (found <= observed + slack).sum()]
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

"""Tests of whether one metric agrees better with humans than another: Williams, permutation, bootstrap; clusters.

All tests are one-sided: the p-value is that of "the first metric is no better than the second".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.stats

from matese.errors import InputError, counted
from matese.evaluation.statistics.arrays import FloatArray

N_SAMPLES = 1_000
BLOCK = 100
EARLY_MIN = 0.02
EARLY_MAX = 0.5
"""After each block of permutations, the test ends if the p-value is outside this range, as in the WMT metrics tasks
since 2022."""

Measure = Callable[[FloatArray], FloatArray]
"""From scores of a metric in several samples, (samples, systems[, segments]), to their agreement with humans,
(samples,); NaN where it is undefined."""


@dataclass(frozen=True, slots=True, eq=False)
class MetricTest:
    """The test of two metrics.

    Attributes:
        p_value: of "the first metric is no better".
        difference: figure of the first metric minus that of the second.
        samples: (samples,), differences under permutations or on bootstrap samples.
    """

    p_value: float
    difference: float
    samples: FloatArray


def williams(r_first: float, r_second: float, r_between: float, n: int) -> float:
    """Returns the one-sided p-value of Williams' test: does the first metric correlate better with human scores?

    Williams 1959, recommended for metrics by Graham and Baldwin 2014.

    Args:
        r_first: Pearson's correlation of the first metric with the human scores.
        r_second: of the second with the human scores.
        r_between: of the two metrics.
        n: number of systems or segments.

    Raises:
        InputError: if there are fewer than four.

    >>> round(williams(0.9, 0.8, 0.85, 20), 4)
    0.0509
    """
    if n < 4:
        raise InputError(f"{counted(n, 'system')}; Williams' test needs four or more")
    determinant = 1 - r_first**2 - r_second**2 - r_between**2 + 2 * r_first * r_second * r_between
    mean = (r_first + r_second) / 2
    variance = 2 * (n - 1) / (n - 3) * max(determinant, 0.0) + mean**2 * (1 - r_between) ** 3
    numerator = (r_first - r_second) * math.sqrt((n - 1) * (1 + r_between))
    if variance <= 0:  # two metrics that differ only in their scale
        return 0.5 if math.isclose(r_first, r_second, abs_tol=1e-12) else float(r_first < r_second)
    return float(scipy.stats.t.sf(numerator / math.sqrt(variance), n - 3))


def permute_scores(
    first: FloatArray, second: FloatArray, measure: Measure, *, rng: np.random.Generator, n_samples: int = N_SAMPLES
) -> MetricTest:
    """Returns the PERM-BOTH test of two metrics (Deutsch et al. 2021).

    Both are standardised; then each score is swapped with the other metric's at random.

    Args:
        first: (systems, segments), or (systems,) if only system scores are swapped.
        second: of the same shape.
        measure: agreement of such scores with humans.
        rng: random numbers.
        n_samples: permutations at most, see `EARLY_MIN`.
    """
    first = standardise(first)
    second = standardise(second)
    middle = (first + second) / 2
    half = (first - second) / 2

    def differences(half_swapped: FloatArray) -> FloatArray:
        return measure(middle + half_swapped) - measure(middle - half_swapped)

    observed = float((measure(first[np.newaxis]) - measure(second[np.newaxis]))[0])
    return _permute(lambda n: differences(half * _signs(rng, (n, *half.shape))), observed, n_samples)


def permute_credits(
    first: FloatArray, second: FloatArray, weights: FloatArray, *, rng: np.random.Generator, n_samples: int = N_SAMPLES
) -> MetricTest:
    """Returns the permutation test of a figure that is a weighted sum of verdicts on pairs, all (pairs,).

    The verdicts of the two metrics on a pair are swapped at random, so that each metric keeps its epsilon.
    """
    gains = (first - second) * weights
    gains = gains[gains != 0]  # swapping equal verdicts changes nothing
    # One sample at a time, because there may be millions of pairs.
    return _permute(
        lambda n: np.array([float(_signs(rng, gains.shape) @ gains) for _ in range(n)]), float(gains.sum()), n_samples
    )


def _signs(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Returns 1 or -1 at random: whether scores stay or are swapped."""
    return np.asarray(rng.integers(0, 2, size=shape, dtype=np.int8) * 2.0 - 1.0)


def _permute(draw: Callable[[int], FloatArray], observed: float, n_samples: int) -> MetricTest:
    """Returns the test from differences under permutations, which `draw` returns in the given number."""
    samples = np.zeros(0)
    p_value = 0.0
    while len(samples) < n_samples:
        samples = np.concatenate([samples, draw(min(BLOCK, n_samples - len(samples)))])
        # The tolerance is for rounding when nothing is swapped; NaN counts as no better.
        p_value = float(np.mean(~(samples < observed - 1e-12)))
        if not EARLY_MIN <= p_value <= EARLY_MAX:
            break
    return MetricTest(p_value, observed, samples)


def compare_samples(first: float, second: float, firsts: FloatArray, seconds: FloatArray) -> MetricTest:
    """Returns the paired bootstrap test of two figures and their values on the same samples, (samples,).

    The p-value is the share of samples in which the first is no better; those with an undefined figure do not count.
    """
    differences = firsts - seconds
    differences = differences[np.isfinite(differences)]
    return MetricTest(float((differences <= 0).mean()) if len(differences) else 1.0, first - second, differences)


def clusters(p_values: FloatArray, alpha: float = 0.05) -> list[int]:
    """Returns the cluster of each metric, from 1, as in the tables of WMT.

    A metric opens a new cluster if a metric of the current cluster is significantly better.

    Args:
        p_values: (metrics, metrics), best first; [i, j] with i < j is that of "i is no better than j".
        alpha: significance level.

    >>> clusters(np.array([[1, 0.3, 0.01], [1, 1, 0.2], [1, 1, 1]]))
    [1, 1, 2]
    """
    numbers: list[int] = []
    start = 0
    number = 1
    for metric in range(len(p_values)):
        if np.any(p_values[start:metric, metric] <= alpha):
            start = metric
            number = number + 1
        numbers.append(number)
    return numbers


def standardise(scores: FloatArray) -> FloatArray:
    """Returns the scores with mean 0 and standard deviation 1; NaN stays NaN."""
    finite = scores[np.isfinite(scores)]
    deviation = float(finite.std()) if len(finite) else 0.0
    return (scores - finite.mean()) / deviation if deviation > 0 else scores - scores

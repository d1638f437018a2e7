"""Differences between two systems on the same segments: how chance is drawn, intervals and tests."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from matese.annotation import Rating
from matese.errors import check_least
from matese.evaluation.statistics import bootstrap, permutation_test
from matese.evaluation.statistics.arrays import FloatArray
from matese.evaluation.statistics.bootstrap import AdditiveStatistic, Difference

LEAST_SEGMENTS = 2
"""Fewest segments that a bootstrap can draw from."""


@dataclass(frozen=True, slots=True)
class ResamplingOptions:
    """How chance is drawn: resamples of the bootstrap (0 for no intervals), permutations, and the seed of both."""

    n_resamples: int = 1000
    n_permutations: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        check_least(0, n_resamples=self.n_resamples, seed=self.seed)
        check_least(1, n_permutations=self.n_permutations)


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The difference of one figure between two systems, and the p-value of the permutation test."""

    bootstrap: Difference
    p_permutation: float


def compare(
    first: AdditiveStatistic, second: AdditiveStatistic, ratings: Sequence[Rating], sampling: ResamplingOptions
) -> tuple[dict[str, PairedDifference], dict[str, FloatArray]]:
    """Returns the differences of all figures, the second's minus the first's, and the same on each resample.

    Both have the same function of the sums. The segments of `ratings`, of one of the systems, are drawn.
    """
    drawn = bootstrap.draw([first, second], bootstrap.whole_sample(len(first.table)), resample(ratings, sampling))
    compared = {
        name: PairedDifference(bootstrap.compare(before, after), _permute(first, second, name, sampling))
        for (name, before), after in zip(drawn[0].items(), drawn[1].values(), strict=True)
    }
    return compared, {name: (drawn[1][name] - drawn[0][name])[1:] for name in compared}


def _permute(first: AdditiveStatistic, second: AdditiveStatistic, name: str, sampling: ResamplingOptions) -> float:
    """Returns the p-value of the permutation test of a figure; NaN where it is undefined."""

    def figure(sums: FloatArray) -> FloatArray:
        return first.aggregate(sums)[name]

    if not all(np.isfinite(figure(statistic.table.sum(axis=0, keepdims=True))) for statistic in (first, second)):
        return math.nan
    drawn = {"n_permutations": sampling.n_permutations, "seed": sampling.seed}
    return permutation_test.two_sided_p(first.table, second.table, figure, **drawn)


def resample(ratings: Sequence[Rating], sampling: ResamplingOptions) -> Iterator[FloatArray]:
    """Yields resamples of the segments; each has as many segments of each language pair as the corpus."""
    strata = [(rating.segment.key and rating.segment.key.lang_pair) or "" for rating in ratings]
    return bootstrap.resamples(sampling.n_resamples, strata, seed=sampling.seed)

"""Differences between two systems on the same segments: how chance is drawn, intervals and tests."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from matese.annotation import Rating
from matese.errors import check_least
from matese.evaluation.statistics import bootstrap, sign_flips
from matese.evaluation.statistics.arrays import FloatArray
from matese.evaluation.statistics.bootstrap import Difference

LEAST_SEGMENTS = 2
"""Fewest segments that a bootstrap can draw from."""


@dataclass(frozen=True, slots=True)
class ResamplingOptions:
    """How chance is drawn.

    Attributes:
        n_resamples: of the bootstrap; 0 for no intervals.
        n_permutations: of the permutation test.
        seed: of both.
    """

    n_resamples: int = 1000
    n_permutations: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        check_least(0, n_resamples=self.n_resamples, seed=self.seed)
        check_least(1, n_permutations=self.n_permutations)


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The difference of one figure between two systems.

    Attributes:
        bootstrap: the difference, its interval and p-value.
        p_permutation: p-value of the permutation test.
    """

    bootstrap: Difference
    p_permutation: float


def test(values: FloatArray, samples: FloatArray, sampling: ResamplingOptions) -> PairedDifference:
    """Tests a figure: (2, segments) of both systems, and its mean on the resamples, (2, resamples)."""
    first, second = values
    if not np.isfinite(values).all():
        return PairedDifference(Difference(math.nan, math.nan, math.nan, math.nan), math.nan)
    difference = bootstrap.compare(float(first.mean()), float(second.mean()), *samples)
    p = sign_flips.permutation_test(first, second, n_permutations=sampling.n_permutations, seed=sampling.seed)
    return PairedDifference(difference, p)


def resample(ratings: Sequence[Rating], sampling: ResamplingOptions) -> Iterator[FloatArray]:
    """Yields resamples of the segments; each has as many segments of each language pair as the corpus."""
    strata = [(rating.segment.key and rating.segment.key.lang_pair) or "" for rating in ratings]
    return bootstrap.resamples(sampling.n_resamples, strata, seed=sampling.seed)

"""Mean scores of systems with intervals, and whether they differ from the first system's.

Figures equal those of `comparison` on the same ratings, up to 10,000 segments; for more, intervals and p-values are
those of the normal distribution, to which the others converge. Only scores are in memory, and neither scipy nor the
matching of errors is loaded, so that every command can afford it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from matese.errors import InputError
from matese.evaluation.statistics import bootstrap, sign_flips
from matese.evaluation.statistics.arrays import FloatArray
from matese.evaluation.statistics.bootstrap import AdditiveStatistic, Figure
from matese.mqm import SystemSummary

if TYPE_CHECKING:
    from matese.evaluation.systems.quality import Basis

N_SAMPLES = 1_000
"""Resamples of the bootstrap, and permutations of the test."""
_MANY = 10_000
_Z = 1.959964
"""Standard errors of half a 95% interval."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The scores of a system.

    Attributes:
        summary: counts and segment scores.
        score: mean score of the spans.
        expected_score: mean expected score; None if a segment has none.
        rank_score: the mean that systems are ranked by.
        p: of the difference from the first system in what systems are ranked by, two-sided; None for the first, and for
            systems with another number of segments.
    """

    summary: SystemSummary
    score: Figure
    expected_score: Figure | None
    rank_score: float
    p: float | None


def standings(summaries: Sequence[SystemSummary], basis: Basis | None = None) -> list[Standing]:
    """Returns the standing of each system, in their order.

    Args:
        summaries: one per system.
        basis: what systems are ranked by; None for the expected score if all segments have one.

    Raises:
        InputError: if expected scores are asked for and missing.
    """
    has_expected = all(len(one.expected_scores) == one.n_segments for one in summaries)
    if basis == "expected" and not has_expected:
        raise InputError("not all segments have an expected score: must have one, or rank by spans")
    at = 0 if basis == "spans" else -1
    columns = [[np.array(one.scores), *([np.array(one.expected_scores)] if has_expected else [])] for one in summaries]
    found: list[Standing] = []
    for summary, own in zip(summaries, columns, strict=True):
        is_comparable = found and len(own[at]) == len(columns[0][at])
        p = _p_value(columns[0][at], own[at]) if is_comparable else None
        score, *expected = figures = [_mean(scores) for scores in own]
        found.append(Standing(summary, score, expected[0] if expected else None, figures[at].value, p))
    return found


def _p_value(first: FloatArray, second: FloatArray) -> float:
    """Returns the two-sided p-value of the paired sign-flip test."""
    if len(first) <= _MANY:
        return sign_flips.permutation_test(first, second, n_permutations=N_SAMPLES, seed=0)
    differences = first - second
    norm = math.sqrt(float(differences @ differences))  # the standard deviation of a sum with random signs
    return math.erfc(abs(float(differences.sum())) / norm / math.sqrt(2)) if norm else 1.0


def _mean(scores: FloatArray) -> Figure:
    """Returns the mean with its interval; a single segment has none."""
    if len(scores) > _MANY:
        mean, half = float(scores.mean()), _Z * float(scores.std()) / math.sqrt(len(scores))
        return Figure(mean, mean - half, min(0.0, mean + half))
    table = AdditiveStatistic(scores[:, np.newaxis], lambda totals: {"": totals[:, 0] / len(scores)})
    drawn = bootstrap.resamples(N_SAMPLES if len(scores) > 1 else 0, np.zeros(len(scores)), seed=0)
    return bootstrap.measure(table, bootstrap.once(len(scores)), drawn)[""]

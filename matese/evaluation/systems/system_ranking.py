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
from matese.evaluation.statistics import bootstrap, permutation_test
from matese.evaluation.statistics.arrays import FloatArray, IntArray
from matese.evaluation.statistics.bootstrap import AdditiveStatistic, Figure
from matese.mqm import SystemSummary

if TYPE_CHECKING:
    from matese.mqm import Basis

N_SAMPLES = 1_000
"""Resamples of the bootstrap, and permutations of the test."""
_MANY = 10_000
_Z = 1.959964
"""Standard errors of half a 95% interval."""


@dataclass(frozen=True, slots=True)
class RankedSystem:
    """The scores of a system.

    Attributes:
        summary: counts and segment scores.
        score: mean score of the spans; None if a segment was rated without spans.
        expected_score: mean expected score; None if a segment has none.
        rank_score: the mean that systems are ranked by.
        p: of the difference from the first system in what systems are ranked by, two-sided; None for the first, and for
            systems with another number of segments.
    """

    summary: SystemSummary
    score: Figure | None
    expected_score: Figure | None
    rank_score: float
    p: float | None


def rank(summaries: Sequence[SystemSummary], basis: Basis | None = None) -> list[RankedSystem]:
    """Returns the scores of each system, in their order.

    Args:
        summaries: one per system.
        basis: what systems are ranked by; None for the expected score if all segments have one.

    Raises:
        InputError: if the scores that systems are ranked by are missing.
    """
    scores_by_basis: dict[Basis, list[FloatArray]] = {}
    if all(summary.has_spans for summary in summaries):
        scores_by_basis["spans"] = [np.array(summary.scores) for summary in summaries]
    if all(len(summary.expected_scores) == summary.n_segments for summary in summaries):
        scores_by_basis["expected"] = [np.array(summary.expected_scores) for summary in summaries]
    wanted: Basis = basis or ("expected" if "expected" in scores_by_basis else "spans")
    if wanted not in scores_by_basis:
        missing, alternative = ("spans", "expected") if wanted == "spans" else ("an expected score", "spans")
        raise InputError(f"not all segments have {missing}; rank by {alternative}")
    ranked: list[RankedSystem] = []
    first = scores_by_basis[wanted][0]
    for number, summary in enumerate(summaries):
        # As in a comparison, whose systems share the segments of the first.
        sampled = summaries[0] if summary.n_segments == summaries[0].n_segments else summary
        _, strata = np.unique(sampled.lang_pairs, return_inverse=True)
        scores = scores_by_basis[wanted][number]
        p = _p_value(first, scores) if number and len(scores) == len(first) else None
        figures = {name: _mean(of_systems[number], strata) for name, of_systems in scores_by_basis.items()}
        if "expected" in figures and len(summary.lows) == len(summary.expected_scores):
            figures["expected"] = _widened(figures["expected"], np.array(summary.lows), np.array(summary.highs))
        ranked.append(RankedSystem(summary, figures.get("spans"), figures.get("expected"), figures[wanted].value, p))
    return ranked


def _p_value(first: FloatArray, second: FloatArray) -> float:
    """Returns the two-sided p-value of the paired sign-flip test."""
    if len(first) <= _MANY:
        return permutation_test.two_sided_p(first, second, n_permutations=N_SAMPLES, seed=0)
    differences = first - second
    norm = math.sqrt(float(differences @ differences))  # the standard deviation of a sum with random signs
    return math.erfc(abs(float(differences.sum())) / norm / math.sqrt(2)) if norm else 1.0


def _widened(mean: Figure, lows: FloatArray, highs: FloatArray) -> Figure:
    """Returns a mean whose interval also covers the model's uncertainty about the segments' scores.

    The model's errors are taken to have one direction in all segments: then they do not cancel out with their number,
    and the half-widths add up as independent ones. A single segment has its own interval.
    `lows` and `highs` are the ends of the intervals, (segments,).
    """
    below = mean.value - float(lows.mean())
    above = float(highs.mean()) - mean.value
    if math.isfinite(mean.low):
        below = math.hypot(below, mean.value - mean.low)
        above = math.hypot(above, mean.high - mean.value)
    return Figure(mean.value, max(mean.value - below, float(lows.min())), min(mean.value + above, float(highs.max())))


def _mean(scores: FloatArray, strata: IntArray) -> Figure:
    """Returns the mean with its interval; a single segment has none.

    `scores` are (segments,), and `strata`, the numbers of the language pairs, too: the number of segments of each
    language pair does not vary by chance.
    """
    if len(scores) > _MANY:
        mean = float(scores.mean())
        means = np.bincount(strata, scores) / np.bincount(strata)
        half = _Z * float((scores - means[strata]).std()) / math.sqrt(len(scores))
        return Figure(mean, max(mean - half, float(scores.min())), min(mean + half, float(scores.max())))
    drawn = bootstrap.resamples(N_SAMPLES if len(scores) > 1 else 0, strata, seed=0)
    return AdditiveStatistic.of_means({"": scores}).measure(drawn)[""]

"""Agreement of predicted with human scores of the same segments: correlations, errors, ties, and intervals.

An interval stands for a normal distribution around the expected score. Glushkova et al. 2021 ("Uncertainty-Aware
Machine Translation Evaluation") compare these distributions with human scores by five measures. This follows their code
(deep-spin/UA_COMET, evaluation/calibration.py and evaluate_segment_uncertainty.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from matese import mqm
from matese.annotation import Estimate
from matese.evaluation.statistics.arrays import FloatArray, IntArray, divide, moments, pearson
from matese.evaluation.statistics.bootstrap import AdditiveStatistic, RecomputedStatistic, Statistic

LEAST_VARIANCE = 0.01
"""Floor of the variance in the log-likelihood: predictions that all agree would make it infinite. In squared points of
MQM, or in squared standard deviations."""
N_LEVELS = 100
"""Confidence levels from 0 to 1 whose coverage is checked, as in UA_COMET (`NUM_BINS`)."""
_LEVELS = np.linspace(0, 1, N_LEVELS)
_Z95 = 1.959964
_SCALES = np.geomspace(0.05, 200, 333)
"""Candidates of the scale: steps of 2.5 %."""


def statistics(name: str, gold: FloatArray, predicted: FloatArray, *, has_error: bool = True) -> tuple[Statistic, ...]:
    """Returns the figures `NAME.pearson`, `spearman`, `kendall` (tau-b), `mae`, `ties.gold` and `ties.predicted`.

    A correlation is NaN if one of the two scores is constant. Ties are the share of pairs with equal scores; a segment
    that was drawn twice is no pair. Tau-b leaves out such pairs itself, because they are tied on both sides.

    Args:
        name: of the score.
        gold: (segments,).
        predicted: (segments,).
        has_error: whether both are on one scale, so that there is a mean absolute error.
    """
    centred = (scores - scores.mean() if len(scores) else scores for scores in (gold, predicted))

    def sums(totals: FloatArray) -> Mapping[str, FloatArray]:
        error = {f"{name}.mae": divide(totals[:, 6], totals[:, 0])} if has_error else {}
        return {f"{name}.pearson": pearson(totals[:, :6]), **error}

    def ranks(rows: IntArray) -> Mapping[str, float]:
        import scipy.stats  # takes longer than comparing two files, which does not need it

        both = (gold[rows], predicted[rows])
        counts = np.bincount(rows)
        n_copies = float((counts * (counts - 1)).sum() / 2)
        is_constant = any(len(np.unique(scores)) < 2 for scores in both)
        return {
            f"{name}.spearman": np.nan if is_constant else float(scipy.stats.spearmanr(*both).statistic),
            f"{name}.kendall": np.nan if is_constant else float(scipy.stats.kendalltau(*both).statistic),
            f"{name}.ties.gold": share_of_ties(both[0], n_copies),
            f"{name}.ties.predicted": share_of_ties(both[1], n_copies),
        }

    table = np.column_stack([moments(*centred), np.abs(gold - predicted)])
    return AdditiveStatistic(table, sums), RecomputedStatistic(ranks)


def share_of_ties(scores: FloatArray, n_copies: float = 0) -> float:
    """Returns the share of pairs with equal scores; NaN if there are no pairs.

    `n_copies` is the number of pairs of a segment and its own copy in a resample, which are none.

    >>> share_of_ties(np.array([0.0, 0.0, -1.0]))
    0.3333333333333333
    """
    _, counts = np.unique(scores, return_counts=True)
    n_pairs = len(scores) * (len(scores) - 1) / 2 - n_copies
    return float(((counts * (counts - 1) / 2).sum() - n_copies) / n_pairs) if n_pairs else float("nan")


class Distributions(NamedTuple):
    """The human scores, and the means and standard deviations of normal distributions, (segments,) each."""

    gold: FloatArray
    means: FloatArray
    deviations: FloatArray


def deviation(estimate: Estimate) -> float | None:
    """Returns the standard deviation of an estimate; None if it is unknown.

    Files of earlier versions have the 95 % interval only. One that was cut at an end of the MQM scale still has its
    longer side; of one that was cut at both, nothing is known.

    >>> round(deviation(Estimate(-1.0, "mqm", -2.959964, 0.0)), 6), deviation(Estimate(-1.0, "mqm", -25.0, 0.0))
    (1.0, None)
    """
    if estimate.deviation is not None or estimate.low is None or estimate.high is None:
        return estimate.deviation
    if estimate.scale == "mqm" and estimate.low <= mqm.LOWEST_SCORE and estimate.high >= 0:
        return None
    return max(estimate.value - estimate.low, estimate.high - estimate.value) / _Z95


def distributions(
    gold: FloatArray, estimates: Sequence[Estimate], *, scale: float = 1.0, is_one_unit: bool = True
) -> Distributions | None:
    """Returns the distributions that the estimates stand for; None if the deviation of a segment is unknown.

    Scores on the scale of the human scores are compared as they are. Others, such as those of COMET models, and the
    human scores are both standardised (mean 0, standard deviation 1 over the segments), because their units differ.

    Args:
        gold: (segments,), human scores.
        estimates: one per segment, on one scale.
        scale: factor of the standard deviations.
        is_one_unit: whether the human scores are on that scale.
    """
    stated = [value for value in map(deviation, estimates) if value is not None]
    if not stated or len(stated) < len(gold):
        return None
    means = np.array([estimate.value for estimate in estimates])
    deviations = scale * np.array(stated)
    if is_one_unit:
        return Distributions(gold, means, deviations)
    spread = float(means.std()) or 1.0
    gold_spread = float(gold.std()) or 1.0
    return Distributions((gold - gold.mean()) / gold_spread, (means - means.mean()) / spread, deviations / spread)


def interval_statistics(intervals: Distributions) -> tuple[Statistic, ...]:
    """Returns the figures `uncertainty.*`.

    pps: Pearson correlation of the expected and the human scores (predictive Pearson score).
    ups: Pearson correlation of the standard deviations and the distances from the human scores (uncertainty Pearson
        score).
    nll: mean negative log-likelihood of the human scores.
    ece: expected calibration error, the mean over confidence levels of |share of human scores within the interval of
        that level - level|.
    sharpness: mean variance; lower is sharper.
    scale: factor of the standard deviations that would make `ece` least, to be fitted on dev data.
    """
    gold, means, deviations = intervals
    errors = np.abs(gold - means)
    variances = deviations**2
    floored = np.maximum(variances, LEAST_VARIANCE)
    likelihoods = 0.5 * (np.log(2 * np.pi * floored) + errors**2 / floored)
    covered = errors[:, None] <= deviations[:, None] * np.where(np.isinf(_deviations()), 0.0, _deviations())
    covered[:, -1] = True  # level 1 holds every score
    of_scores = moments(gold - gold.mean(), means - means.mean())
    of_errors = moments(errors - errors.mean(), deviations - deviations.mean())
    table = np.column_stack([of_scores, of_errors, likelihoods, variances, covered])
    ratios = np.where(errors == 0, 0.0, divide(errors, deviations, empty=np.inf))
    scale = RecomputedStatistic(lambda rows: {"uncertainty.scale": best_scale(ratios[rows])})
    return AdditiveStatistic(table, _interval_figures), scale


def best_scale(ratios: FloatArray) -> float:
    """Returns the factor of the standard deviations with the least calibration error, among `_SCALES`.

    One factor for all segments, as the `std_scale` of UA_COMET without its `std_sum`. `ratios` are the distances of the
    means from the human scores in standard deviations, (segments,).
    """
    if not len(ratios):
        return float("nan")
    ordered = np.sort(ratios)
    # (scales, levels): no scale changes what levels 0 and 1 cover.
    limits = _SCALES[:, None] * _deviations()[None, 1:-1]
    covered = np.searchsorted(ordered, limits.ravel(), side="right").reshape(limits.shape) / len(ordered)
    return float(_SCALES[np.abs(covered - _LEVELS[1:-1]).sum(1).argmin()])


def _interval_figures(totals: FloatArray) -> Mapping[str, FloatArray]:
    n = totals[:, 0]
    likelihood, variance = totals.T[12:14]
    coverage = divide(totals[:, 14:], n[:, None])
    return {
        "uncertainty.pps": pearson(totals[:, :6]),
        "uncertainty.ups": pearson(totals[:, 6:12]),
        "uncertainty.nll": divide(likelihood, n),
        "uncertainty.ece": np.abs(coverage - _LEVELS).mean(axis=1),
        "uncertainty.sharpness": divide(variance, n),
    }


@cache
def _deviations() -> FloatArray:
    """Returns the standard deviations on either side of the mean that hold each level."""
    import scipy.stats

    return np.asarray(scipy.stats.norm.ppf((1 + _LEVELS) / 2))

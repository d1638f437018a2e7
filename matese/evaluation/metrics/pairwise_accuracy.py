"""Agreement of a metric with humans on pairs of systems, and on pairs of translations of one segment.

- Pairwise accuracy (Kocmi et al. 2021): the share of system pairs that both sides put in the same order. For several
  language pairs, the counts are added before they are divided.
- Soft pairwise accuracy (Thompson et al. 2024): 1 minus the mean, over system pairs, of the absolute difference between
  the p-values of the human and of the metric scores in a paired permutation test. A p-value is the share of sign flips
  of the segments' differences whose sum is at least the observed one.
- acc-eq with tie calibration (Deutsch et al. 2023): the share of pairs of translations that are right. Metric scores
  that differ by at most epsilon are a tie, which is right if the human scores are tied. Epsilon is the best one for the
  same segments, or held out: the best one for other segments.
- The tau-like statistic on daRR (Bojar et al. 2017, Ma et al. 2019): pairs of translations whose human scores differ
  by more than 25 points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from matese.evaluation.metrics.correlation import Measurement, too_few
from matese.evaluation.metrics.correlation_options import DARR_THRESHOLD, TieRule
from matese.evaluation.statistics import permutation_test
from matese.evaluation.statistics.arrays import BoolArray, FloatArray, pair_differences


def accuracy(golds: Sequence[FloatArray], metrics: Sequence[FloatArray]) -> Measurement:
    """Returns the share of pairs of systems that both sides put in the same order; `n` is the number of pairs.

    A tie agrees only with a tie. Systems without a human score do not count. Shape: (systems,) of each language pair.

    >>> accuracy([np.array([3.0, 2.0, 1.0])], [np.array([0.5, 0.7, 0.1])]).n
    3
    """
    pairs = zip(golds, metrics, strict=True)
    agreed, n = np.sum([agreements(gold, metric[:, np.newaxis]) for gold, metric in pairs], axis=(0, 2))
    if n == 0:
        return Measurement(None, 0, problem="no pairs of systems; this figure needs three systems or more")
    return Measurement(float(agreed / n), int(n))


def agreements(gold: FloatArray, metric: FloatArray, is_pair: BoolArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Returns the pairs that both sides put in the same order, and all pairs, in several samples: (samples,) each.

    Args:
        gold: (systems,), or (systems, samples) if it is not the same in all samples; NaN where missing.
        metric: (systems, samples).
        is_pair: (system pairs, samples), which pairs count; None for all.
    """
    human, score = (np.sign(pair_differences(values)) for values in (gold, metric))
    human = human if human.ndim == 2 else np.broadcast_to(human[:, np.newaxis], score.shape)
    human = human if is_pair is None else np.where(is_pair, human, np.nan)
    agreed = (human == score).sum(axis=0)  # NaN equals nothing
    return agreed.astype(np.float64), np.isfinite(human).sum(axis=0).astype(np.float64)


def soft_distances(gold: FloatArray, metric: FloatArray, signs: FloatArray) -> FloatArray:
    """Returns the absolute difference of the p-values of each pair of systems, NaN if they share no rated segment.

    Shape: (systems, segments) twice to (pairs,).
    """
    rated = (np.where(np.isfinite(gold), values, np.nan) for values in (gold, metric))
    human, score = (permutation_test.p_values(values, signs)[0] for values in rated)
    return np.asarray(np.abs(human - score))


def soft(gold: FloatArray, metric: FloatArray, signs: FloatArray) -> Measurement:
    """Returns the soft pairwise accuracy; `n` counts pairs of systems; `signs` are of `permutation_test.draw_signs`."""
    few = too_few(int(np.isfinite(gold).any(axis=1).sum()))
    if few is not None:
        return few
    distances = soft_distances(gold, metric, signs)
    defined = distances[np.isfinite(distances)]
    if not len(defined):
        return Measurement(None, 0, problem="no two systems have human scores of the same segment")
    return Measurement(1.0 - float(defined.mean()), len(defined))


N_PARTS = 5
"""Parts of the segments for a held-out epsilon."""


@dataclass(frozen=True, slots=True, eq=False)
class TieCalibration:
    """The acc-eq of one metric.

    Attributes:
        accuracy: mean over segments of the share of right pairs.
        epsilon: largest difference of two metric scores that is a tie.
        n_items: number of segments with two rated translations or more.
        verdicts: (pairs, segments), 1 for a right pair, 0 for a wrong one, NaN without human scores.
    """

    accuracy: float
    epsilon: float
    n_items: int
    verdicts: FloatArray


def acc_eq(gold: FloatArray, metric: FloatArray) -> TieCalibration | None:
    """Returns acc-eq with the best epsilon among 0 and all differences of two metric scores; of equals the smallest.

    It is undefined (None) if no segment has two rated translations. Shape: (systems, segments) twice.

    The pairs are sorted by their difference once. With growing epsilon, pairs become ties, and each one changes the
    mean accuracy by its weight: up if the human scores are tied, down if the order was right. The running sum of these
    changes is the accuracy at every epsilon, in O(n log n) for n pairs.
    """
    human = pair_differences(gold)
    difference = pair_differences(metric)
    is_pair = np.isfinite(human)
    pairs_of_item = is_pair.sum(axis=0)
    n_items = int((pairs_of_item > 0).sum())
    if n_items == 0:
        return None
    is_tied = human == 0
    is_ordered = np.sign(human) == np.sign(difference)
    # How much the accuracy changes when a pair becomes a tie.
    change = (is_tied[is_pair].astype(np.float64) - (is_ordered & ~is_tied)[is_pair]) * pair_weights(gold)[is_pair]
    distance = np.abs(difference[is_pair])
    epsilon = _best_epsilon(distance, change)
    verdicts = _verdicts(gold, metric, epsilon)
    shares = np.nansum(verdicts, axis=0)[pairs_of_item > 0] / pairs_of_item[pairs_of_item > 0]
    return TieCalibration(float(shares.mean()), epsilon, n_items, verdicts)


def acc_eq_held_out(gold: FloatArray, metric: FloatArray) -> Measurement:
    """Returns acc-eq where the epsilon of each part of the segments is the best one for the other parts.

    There are `N_PARTS` runs of neighbouring segments; `n` counts segments. Shape: (systems, segments) twice.
    """
    n_segments = gold.shape[1]
    parts = np.arange(n_segments) * N_PARTS // n_segments
    shares: list[float] = []
    for part in np.unique(parts):
        is_part = parts == part
        calibration = acc_eq(gold[:, ~is_part], metric[:, ~is_part])
        if calibration is None:
            return Measurement(None, 0, problem="too few segments with two rated translations to hold some out")
        verdicts = _verdicts(gold[:, is_part], metric[:, is_part], calibration.epsilon)
        n_pairs = np.isfinite(verdicts).sum(axis=0)
        shares += (np.nansum(verdicts, axis=0)[n_pairs > 0] / n_pairs[n_pairs > 0]).tolist()
    return Measurement(float(np.mean(shares)), len(shares))


def _verdicts(gold: FloatArray, metric: FloatArray, epsilon: float) -> FloatArray:
    """Returns 1 for a right pair, 0 for a wrong one, NaN without human scores: (pairs, segments)."""
    human = pair_differences(gold)
    difference = pair_differences(metric)
    is_tied = human == 0
    is_ordered = np.sign(human) == np.sign(difference)
    is_right = np.where(np.abs(difference) <= epsilon, is_tied, is_ordered & ~is_tied)
    return np.where(np.isfinite(human), is_right, np.nan)


def pair_weights(gold: FloatArray) -> FloatArray:
    """Returns the weight of each pair of translations in acc-eq. Shape: (systems, segments) to (pairs, segments)."""
    is_pair = np.isfinite(pair_differences(gold))
    pairs_of_item = is_pair.sum(axis=0)
    return np.asarray(is_pair / (np.maximum(pairs_of_item, 1) * max(1, int((pairs_of_item > 0).sum()))))


def _best_epsilon(distance: FloatArray, change: FloatArray) -> float:
    """Returns the epsilon with the largest sum of changes of the pairs up to this distance. Shape: (pairs,) twice."""
    order = np.argsort(distance)
    distance = distance[order]
    gain = np.cumsum(change[order])
    is_last = np.append(distance[1:] != distance[:-1], True)  # of the pairs with the same distance
    candidates = distance[is_last]
    gains = gain[is_last]
    if candidates[0] > 0:
        candidates = np.append(0.0, candidates)
        gains = np.append(0.0, gains)
    # Running sums are exact to about 1e-13.
    return float(candidates[np.argmax(gains >= gains.max() - 1e-12)])


def darr(gold: FloatArray, metric: FloatArray, threshold: float, ties: TieRule = "discordant") -> Measurement:
    """Returns the tau-like statistic; `n` is the number of pairs that it counts. Shape: (systems, segments) twice."""
    balance, n_pairs = tau_like(darr_counts(gold, metric, threshold).sum(axis=0), ties)
    if n_pairs == 0:
        problem = f"no two translations of a segment differ by more than {threshold:g} in human score"
        return Measurement(None, 0, problem=problem)
    return Measurement(float(balance / n_pairs), int(n_pairs))


def tau_like(counts: FloatArray, ties: TieRule) -> tuple[FloatArray, FloatArray]:
    """Returns the numerator and the denominator of the tau-like statistic. Shape: (..., 3), see `darr_counts`."""
    concordant, discordant, tied = counts.T
    against = discordant + (tied if ties == "discordant" else 0.0)
    return concordant - against, concordant + discordant + (0.0 if ties == "excluded" else tied)


def darr_counts(gold: FloatArray, metric: FloatArray, threshold: float = DARR_THRESHOLD) -> FloatArray:
    """Returns the numbers of concordant, discordant and tied pairs of translations of each segment, (segments, 3)."""
    human = pair_differences(gold)
    score = pair_differences(metric)
    with np.errstate(invalid="ignore"):
        is_kept = np.isfinite(human) & (np.abs(human) > threshold) & (human != 0)
    product = np.where(is_kept, np.sign(human) * np.sign(score), np.nan)
    return np.stack([(product > 0).sum(axis=0), (product < 0).sum(axis=0), (product == 0).sum(axis=0)], axis=1) * 1.0

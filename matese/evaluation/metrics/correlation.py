"""Correlations of metric scores with human scores: of systems, and of segments with three groupings.

Without a grouping, all segments of all systems are one vector. Grouped by item, the correlation is computed over the
translations of each source segment, grouped by system, over the segments of each system; the mean over the groups is
returned. Groups in which the correlation is undefined, because one side is constant, are counted and left out.

Scores without a human score (NaN) are ignored. scipy computes single correlations; the many small groups by item are
computed by numpy all at once.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
import scipy.stats

from matese.evaluation.metrics.correlation_options import Averaging, Coefficient
from matese.evaluation.metrics.score_arrays import MIN_SYSTEMS
from matese.evaluation.statistics import arrays
from matese.evaluation.statistics.arrays import BoolArray, FloatArray, IntArray, pair_differences, row_means


@dataclass(frozen=True, slots=True)
class Measurement:
    """A figure, or why it is undefined.

    Attributes:
        value: None if it is undefined.
        n: number of systems, segments or pairs that it is computed from, or of groups that it is the mean of.
        undefined: number of groups that are left out because it is undefined there.
        problem: why it is undefined; None if it is defined.
    """

    value: float | None
    n: int
    undefined: int = 0
    problem: str | None = None

    @property
    def number(self) -> float:
        """The value, NaN if it is undefined."""
        return math.nan if self.value is None else self.value


def pearson(gold: FloatArray, metric: FloatArray) -> Measurement:
    """Returns Pearson's correlation, with its sign. Shape: (scores,) twice."""
    return _of_vectors(gold, metric, "pearson")


def _of_vectors(gold: FloatArray, metric: FloatArray, kind: Coefficient) -> Measurement:
    is_known = np.isfinite(gold)
    gold = gold[is_known]
    metric = metric[is_known]
    n = len(gold)
    if n < 2:
        return Measurement(None, n, problem=f"{n} scores; this figure needs two or more")
    for name, values in (("human", gold), ("metric", metric)):
        if np.ptp(values) == 0:
            problem = f"all {n:,} {name} scores are {values[0]:g}: must differ for a correlation"
            return Measurement(None, n, problem=problem)
    if kind != "pearson":
        return Measurement(taus(gold, metric)[kind], n)
    with warnings.catch_warnings():
        # scipy warns that the correlation of nearly constant scores is inexact.
        warnings.simplefilter("ignore", scipy.stats.NearConstantInputWarning)
        return Measurement(float(scipy.stats.pearsonr(gold, metric).statistic), n)


def taus(gold: FloatArray, metric: FloatArray) -> dict[Coefficient, float]:
    """Returns Kendall's tau-b and tau-c, NaN where undefined. Shape: (scores,) twice, without missing ones."""
    return _taus_of(_pair_sums(gold, metric), gold, metric)


def resampled_taus(gold: FloatArray, metric: FloatArray, counts: IntArray) -> dict[Coefficient, float]:
    """Returns Kendall's tau-b and tau-c of all scores on a resample of the segments, NaN where undefined.

    A pair of translations counts as often as the pair was drawn: of two segments, the product of their counts, and of
    one segment, its count. A segment is never compared with its own copy, because a resample would make ties that are
    not in the data. What tau-c divides by depends on the numbers of scores and of different ones, which stay those of
    all segments.

    Args:
        gold: (systems, segments), NaN where missing.
        metric: of the same shape.
        counts: (segments,), how often each segment was drawn.
    """
    is_rated = np.isfinite(gold)
    times = np.broadcast_to(counts, gold.shape)[is_rated]
    human = gold[is_rated]
    score = metric[is_rated]
    sums = _pair_sums(np.repeat(human, times), np.repeat(score, times))
    # What copies of a segment add: their translations of different systems, and each translation with itself.
    n_copies = counts * (counts - 1.0)
    sums -= _pair_sums_by_item(gold, metric) @ n_copies
    sums[-1] -= (is_rated.sum(axis=0) * n_copies).sum() / 2
    return _taus_of(sums, human, score)


def _pair_sums(gold: FloatArray, metric: FloatArray) -> FloatArray:
    """Returns concordant minus discordant pairs, the pairs not tied on each side, and all pairs; (scores,) twice."""
    sizes = [np.unique(values, return_counts=True)[1] for values in (gold, metric)]
    n = len(gold)
    n_pairs = n * (n - 1) / 2
    untied = [n_pairs - (size * (size - 1)).sum() / 2 for size in sizes]
    is_defined = min(untied, default=0.0) > 0
    balance = scipy.stats.kendalltau(gold, metric).statistic * math.sqrt(math.prod(untied)) if is_defined else 0.0
    return np.array([balance, *untied, n_pairs], dtype=np.float64)


def _pair_sums_by_item(gold: FloatArray, metric: FloatArray) -> FloatArray:
    """Returns `_pair_sums` of the translations of each segment. Shape: (systems, segments) twice to (4, segments)."""
    human, score = (np.sign(pair_differences(values)) for values in (gold, metric))
    is_pair = np.isfinite(human)  # (system pairs, segments)
    human, score = (np.where(is_pair, signs, 0.0) for signs in (human, score))
    of_pairs = (human * score, np.abs(human), np.abs(score), is_pair.astype(np.float64))
    return np.stack([of_pair.sum(axis=0) for of_pair in of_pairs])


def _taus_of(sums: FloatArray, gold: FloatArray, metric: FloatArray) -> dict[Coefficient, float]:
    """Returns tau-b and tau-c from `_pair_sums` of (a resample of) these scores, (scores,)."""
    balance, untied_gold, untied_metric, n_pairs = sums
    if min(untied_gold, untied_metric) < 0.5:  # no pair, apart from rounding
        return {"b": math.nan, "c": math.nan}
    n = len(gold)
    classes = min(len(np.unique(values)) for values in (gold, metric))
    # tau-c is 2 balance / (n^2 (classes - 1) / classes), where n (n - 1) / 2 pairs are compared.
    scale = (n - 1) / n * classes / (classes - 1)
    return {"b": float(balance / math.sqrt(untied_gold * untied_metric)), "c": float(balance / n_pairs * scale)}


def of_systems(gold: FloatArray, metric: FloatArray) -> Measurement:
    """Returns Pearson's correlation of system scores; it is undefined for fewer than three. Shape: (systems,) twice."""
    return too_few(int(np.isfinite(gold).sum())) or pearson(gold, metric)


def too_few(n_systems: int) -> Measurement | None:
    """Returns an undefined figure if there are fewer than three systems, else None."""
    if n_systems >= MIN_SYSTEMS:
        return None
    rated = f"{n_systems} system{'' if n_systems == 1 else 's'} with a human score"
    return Measurement(None, n_systems, problem=f"{rated}; this figure needs three or more")


def of_segments(gold: FloatArray, metric: FloatArray, *, grouping: Averaging, kind: Coefficient) -> Measurement:
    """Returns a correlation of segment scores; see the module for the groupings. Shape: (systems, segments) twice."""
    if grouping == "none":
        return _of_vectors(gold.ravel(), metric.ravel(), kind)
    if grouping == "system":
        values = np.array([_of_vectors(human, score, kind).number for human, score in zip(gold, metric, strict=True)])
        n_groups = int(np.isfinite(gold).any(axis=1).sum())
    else:
        values = pearson_by_item(gold, metric) if kind == "pearson" else kendall_by_item(gold, metric, kind)
        n_groups = int((np.isfinite(gold).sum(axis=0) > 1).sum())
    defined = values[np.isfinite(values)]
    if len(defined) == 0:
        problem = "in every group the human or the metric scores are all equal: must differ"
        return Measurement(None, 0, n_groups, problem)
    return Measurement(float(defined.mean()), len(defined), n_groups - len(defined))


def pearson_by_item(gold: FloatArray, metric: FloatArray) -> FloatArray:
    """Returns Pearson's correlation over the systems; NaN if undefined. Shape: (systems, segments) to (segments,)."""
    rated = (np.where(np.isfinite(gold), values, np.nan) for values in (gold, metric))
    # Centred, because sums of squares far from zero lose digits.
    human, score = (values - row_means(values.T) for values in rated)
    correlations = arrays.pearson(arrays.moments(human, score).sum(axis=0))
    return np.where(
        _is_constant(gold, np.isfinite(gold)) | _is_constant(metric, np.isfinite(gold)), np.nan, correlations
    )


def pdp(gold: FloatArray, metric: FloatArray) -> Measurement:
    """Returns Pairwise Difference Pearson (DiIanni and Deutsch 2025, arXiv 2509.25546). Shape: (systems, segments).

    That is Pearson's correlation of the differences between two translations of a segment, over all pairs of
    translations of all segments. Each pair counts in both orders, so that the order of the systems does not matter.
    """
    sums = pdp_sums(gold, metric)
    value = float(pdp_of_sums(sums.sum(axis=0)))
    n_rated = np.isfinite(gold).sum(axis=0)
    n_pairs = int((n_rated * (n_rated - 1) // 2).sum())
    if not math.isfinite(value):
        return Measurement(None, n_pairs, problem="in every segment the human or the metric scores are all equal")
    return Measurement(value, n_pairs)


def pdp_sums(gold: FloatArray, metric: FloatArray) -> FloatArray:
    """Returns what each segment adds to PDP: (systems, segments) twice to (segments, 3).

    Over pairs in both orders, the products of differences add up to twice the number of translations times the sum of
    the products of the scores, centred in their segment.
    """
    is_rated = np.isfinite(gold)

    def centred(values: FloatArray) -> FloatArray:
        rated = np.where(is_rated, values, np.nan)
        return np.where(is_rated & ~_is_constant(values, is_rated), rated - row_means(rated.T), 0.0)

    human = centred(gold)
    score = centred(metric)
    products = np.stack([human * score, human * human, score * score], axis=-1)
    return np.asarray(2 * is_rated.sum(axis=0)[:, np.newaxis] * products.sum(axis=0))


def pdp_of_sums(sums: FloatArray) -> FloatArray:
    """Returns PDP from sums over segments: (..., 3) to (...,), NaN where it is undefined."""
    return arrays.divide(sums[..., 0], np.sqrt(sums[..., 1] * sums[..., 2]))


def kendall_by_item(gold: FloatArray, metric: FloatArray, variant: Coefficient) -> FloatArray:
    """Returns Kendall's tau over the systems; NaN if undefined. Shape: (systems, segments) twice to (segments,)."""
    balance, untied_human, untied_score, _ = _pair_sums_by_item(gold, metric)
    undefined = np.full(gold.shape[1], np.nan)
    is_defined = (untied_human > 0) & (untied_score > 0)
    if variant == "b":
        norms = np.sqrt(untied_human * untied_score)
        return np.asarray(np.divide(balance, norms, out=undefined, where=is_defined))
    is_rated = np.isfinite(gold)
    classes = np.minimum(_n_classes(gold, is_rated), _n_classes(metric, is_rated))
    n_systems = is_rated.sum(axis=0)
    return np.asarray(np.divide(2 * balance * classes, n_systems**2 * (classes - 1), out=undefined, where=is_defined))


def _is_constant(values: FloatArray, is_rated: BoolArray) -> BoolArray:
    """Shape: (systems, segments) to (segments,)."""
    lowest = np.where(is_rated, values, np.inf).min(axis=0)
    highest = np.where(is_rated, values, -np.inf).max(axis=0)
    return np.asarray(lowest >= highest)


def _n_classes(values: FloatArray, is_rated: BoolArray) -> IntArray:
    """Returns the number of different scores of each segment. Shape: (systems, segments) to (segments,)."""
    ordered = np.sort(np.where(is_rated, values, np.inf), axis=0)
    is_new = (ordered[1:] != ordered[:-1]) & np.isfinite(ordered[1:])
    return np.asarray(is_new.sum(axis=0) + 1)

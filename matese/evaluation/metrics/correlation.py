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

from matese.evaluation.metrics.correlation_options import Grouping, Kind
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


def _of_vectors(gold: FloatArray, metric: FloatArray, kind: Kind) -> Measurement:
    gold, metric = gold[np.isfinite(gold)], metric[np.isfinite(gold)]
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


def taus(gold: FloatArray, metric: FloatArray) -> dict[Kind, float]:
    """Returns Kendall's tau-b and tau-c, NaN where undefined. Shape: (scores,) twice, without missing ones."""
    tau_b = float(scipy.stats.kendalltau(gold, metric).statistic) if len(gold) > 1 else math.nan
    counts = [np.unique(values, return_counts=True)[1] for values in (gold, metric)]
    n, classes = len(gold), min(map(len, counts))
    untied = [(n * n - (sizes * sizes).sum()) / 2 for sizes in counts]
    tau_c = tau_b * math.sqrt(math.prod(untied)) * 2 * classes / (n * n * (classes - 1)) if classes > 1 else math.nan
    return {"b": tau_b, "c": tau_c}


def of_systems(gold: FloatArray, metric: FloatArray) -> Measurement:
    """Returns Pearson's correlation of system scores; it is undefined for fewer than three. Shape: (systems,) twice."""
    return too_few(int(np.isfinite(gold).sum())) or pearson(gold, metric)


def too_few(n_systems: int) -> Measurement | None:
    """Returns an undefined figure if there are fewer than three systems, else None."""
    if n_systems >= MIN_SYSTEMS:
        return None
    rated = f"{n_systems} system{'' if n_systems == 1 else 's'} with a human score"
    return Measurement(None, n_systems, problem=f"{rated}; this figure needs three or more")


def of_segments(gold: FloatArray, metric: FloatArray, *, grouping: Grouping, kind: Kind) -> Measurement:
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


def kendall_by_item(gold: FloatArray, metric: FloatArray, variant: Kind) -> FloatArray:
    """Returns Kendall's tau over the systems; NaN if undefined. Shape: (systems, segments) twice to (segments,)."""
    human, score = (np.sign(pair_differences(values)) for values in (gold, metric))
    is_pair = np.isfinite(human)  # (system pairs, segments)
    score = np.where(is_pair, score, 0.0)
    human = np.where(is_pair, human, 0.0)
    balance = (human * score).sum(axis=0)  # concordant minus discordant pairs
    untied_human, untied_score = np.abs(human).sum(axis=0), np.abs(score).sum(axis=0)
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

"""The bootstrap of metrics: all figures of all metrics on the same samples of the segments.

What a segment adds to a figure is computed once and added as often as the segment was drawn: moments for Pearson's
correlation, the segment's own value for means over segments, and what two segments add together for Kendall's tau
(`statistics.kendall`). Only soft pairwise accuracy, whose sign flips belong to places in a sample instead of segments,
is computed from the scores of each sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from matese.evaluation.metrics import correlation, metric_figures, pairwise_accuracy
from matese.evaluation.metrics.options import DEFAULTS, CorrelationOptions, TieRule
from matese.evaluation.metrics.scores import MIN_SYSTEMS, LangPairScores
from matese.evaluation.statistics import kendall, sign_flips
from matese.evaluation.statistics.arrays import (
    FloatArray,
    column_means,
    divide,
    moments,
    pair_differences,
    pearson,
)
from matese.evaluation.statistics.bootstrap import resamples

_CHUNK, _MAX_SCORES = 16, 8_000_000
"""Samples, and scores of pairs, in memory at once in soft pairwise accuracy."""


def samples(
    pair: LangPairScores, *, n_samples: int, options: CorrelationOptions = DEFAULTS
) -> dict[str, dict[str, FloatArray]]:
    """Returns the figures of each metric on the same bootstrap samples.

    Segments are drawn with replacement, and the score of a system is the mean of its drawn segments. If only systems
    are scored, systems are drawn. The epsilon of acc-eq stays that of all segments.

    Args:
        pair: human scores and metrics.
        n_samples: number of samples.
        options: how figures are computed.

    Returns:
        (samples,) by metric and figure, NaN where undefined.
    """
    gold = pair.gold.segment
    by_systems = _weights(len(pair.gold.systems), n_samples, options)
    tables = {
        name: np.where(np.isfinite(gold), metric.segment, np.nan)
        for name, metric in pair.metrics.items()
        if gold is not None and metric.segment is not None
    }
    weights = np.zeros((n_samples, 0)) if gold is None else _weights(gold.shape[1], n_samples, options)
    soft = {} if gold is None else _soft(gold, tables, weights, metric_figures.sign_flips(pair, options))
    found: dict[str, dict[str, FloatArray]] = {}
    for name, metric in pair.metrics.items():
        if gold is None or name not in tables:
            found[name] = _drawn_systems(pair.gold.system, metric.system, by_systems)
            continue
        human, score = (_system_means(table, weights) for table in (gold, tables[name]))
        found[name] = {
            **system_figures(human, score),
            "system.spa": soft[name],
            **SegmentStatistics.of(gold, tables[name], options).figures(weights),
        }
    return found


@dataclass(frozen=True, slots=True, eq=False)
class SegmentStatistics:
    """What each segment adds to the figures of segments.

    Attributes:
        gold: (systems, segments), NaN where missing.
        metric: (systems, segments), NaN where `gold` is.
        by_item: values of the figures that are means over segments, (segments,), NaN where undefined.
        darr: (segments, 3), concordant, discordant and tied pairs.
        darr_ties: what a tie of the metric is in daRR.
    """

    gold: FloatArray
    metric: FloatArray
    by_item: Mapping[str, FloatArray]
    darr: FloatArray
    darr_ties: TieRule

    @classmethod
    def of(cls, gold: FloatArray, metric: FloatArray, options: CorrelationOptions) -> SegmentStatistics:
        """Returns the statistics of a metric."""
        by_item = {
            "pearson_by_item": correlation.pearson_by_item(gold, metric),
            "kendall_b_by_item": correlation.kendall_by_item(gold, metric, "b"),
            "kendall_c_by_item": correlation.kendall_by_item(gold, metric, "c"),
        }
        calibration = pairwise_accuracy.acc_eq(gold, metric)
        if calibration is not None:
            by_item["acc_eq"] = column_means(calibration.verdicts)
        darr = pairwise_accuracy.darr_counts(gold, metric, options.darr_threshold)
        return cls(gold, metric, by_item, darr, options.darr_ties)

    def figures(self, weights: FloatArray) -> dict[str, FloatArray]:
        """Returns the figures on each sample, (samples,).

        Args:
            weights: (samples, segments), how often each segment was drawn.
        """
        found = {name: _mean(weights, values) for name, values in self.by_item.items()}
        by_system = np.stack([pearson(weights @ one) for one in moments(self.gold, self.metric)])
        # Centred, because sums of squares far from zero lose digits.
        centred = (values - np.nanmean(values) for values in (self.gold, self.metric))
        whole = moments(*centred).sum(axis=0)
        found |= {"pearson": pearson(weights @ whole), "pearson_by_system": column_means(by_system)}
        found |= kendall.kendall(self.gold, self.metric, weights)
        found["darr"] = divide(*pairwise_accuracy.tau_like(weights @ self.darr, self.darr_ties))
        return {f"segment.{name}": values for name, values in found.items()}


def _weights(n_units: int, n_samples: int, options: CorrelationOptions) -> FloatArray:
    """Returns how often each unit was drawn, (samples, units)."""
    drawn = list(resamples(n_samples, np.zeros(n_units), seed=options.seed))
    return np.concatenate(drawn) if drawn else np.zeros((0, n_units))


def _drawn_systems(gold: FloatArray, metric: FloatArray, weights: FloatArray) -> dict[str, FloatArray]:
    """Returns the figures if systems are drawn. Shape: (systems,) twice, (samples, systems) to (samples,)."""
    drawn = np.stack([np.repeat(np.arange(len(gold)), row.astype(np.int64)) for row in weights])
    return system_figures(gold[drawn].T, metric[drawn].T)


def _system_means(table: FloatArray, weights: FloatArray) -> FloatArray:
    """Returns means of drawn segments. Shape: (systems, segments), (samples, segments) to (systems, samples)."""
    is_rated = np.isfinite(table)
    return divide(np.where(is_rated, table, 0.0) @ weights.T, is_rated.astype(np.float64) @ weights.T)


def system_figures(gold: FloatArray, metric: FloatArray) -> dict[str, FloatArray]:
    """Returns the figures of systems on several samples, (samples,).

    Args:
        gold: (systems, samples), or (systems,) if it is the same in all samples; NaN where missing.
        metric: (systems, samples).
    """
    gold = gold if gold.ndim == 2 else np.broadcast_to(gold[:, np.newaxis], metric.shape)
    is_enough = np.isfinite(gold).sum(axis=0) >= MIN_SYSTEMS
    human, score = (np.sign(pair_differences(values)) for values in (gold, metric))
    agreed, pairs = (human == score).sum(axis=0), np.isfinite(human).sum(axis=0)
    return {
        "system.pearson": np.where(is_enough, correlation.pearson_by_item(gold, metric), np.nan),
        "system.accuracy": np.where(is_enough, divide(agreed.astype(float), pairs.astype(float)), np.nan),
    }


def _soft(
    gold: FloatArray, tables: Mapping[str, FloatArray], weights: FloatArray, signs: FloatArray
) -> dict[str, FloatArray]:
    """Returns the soft pairwise accuracy of each metric, (samples,), from the scores of each sample."""
    places = np.arange(gold.shape[1])
    found: dict[str, list[FloatArray]] = {name: [] for name in tables}
    size = max(1, min(_CHUNK, _MAX_SCORES // max(1, gold.size * len(gold))))
    for start in range(0, len(weights), size):
        chunk = weights[start : start + size].astype(np.int64)
        drawn = np.stack([np.repeat(places, row) for row in chunk])  # (samples, segments)
        human = sign_flips.p_values_of_samples(gold, drawn, signs)
        is_enough = np.isfinite(gold)[:, drawn].any(axis=2).sum(axis=0) >= MIN_SYSTEMS
        for name, table in tables.items():
            distances = np.abs(human - sign_flips.p_values_of_samples(table, drawn, signs))
            mean = distances.sum(axis=1) / max(1, distances.shape[1])  # a single system has no pairs
            found[name].append(np.where(is_enough, 1.0 - mean, np.nan))
    return {name: np.concatenate(values) if values else np.zeros(0) for name, values in found.items()}


def _mean(weights: FloatArray, values: FloatArray) -> FloatArray:
    """Returns the means of the values of the drawn segments, (samples,); NaN where none is defined."""
    is_defined = np.isfinite(values)
    return divide(weights @ np.where(is_defined, values, 0.0), weights @ is_defined.astype(np.float64))

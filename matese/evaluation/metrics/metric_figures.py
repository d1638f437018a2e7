"""All figures of one metric in one language pair, by dotted names such as `system.pearson` or `segment.acc_eq`.

The bootstrap draws the same segments for all metrics. What a segment adds to a figure is computed once and added as
often as the segment was drawn: moments for Pearson's correlation, the segment's own value for means over segments.
Kendall's tau and soft pairwise accuracy are computed from the scores of each sample.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from matese.evaluation.metrics import correlation, pairwise_accuracy
from matese.evaluation.metrics.correlation import Measurement
from matese.evaluation.metrics.correlation_options import CORRELATIONS, DEFAULTS, Coefficient, CorrelationFigures
from matese.evaluation.metrics.score_arrays import MIN_SYSTEMS, LangPairScores, Scores
from matese.evaluation.statistics import permutation_test
from matese.evaluation.statistics.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    divide,
    moments,
    pair_differences,
    pearson,
    row_means,
)
from matese.evaluation.statistics.bootstrap import resamples

MetricFigures = Mapping[str, Measurement]
_CHUNK = 16
_MAX_SCORES = 8_000_000
"""Samples, and scores of pairs, in memory at once in soft pairwise accuracy."""


def sign_flips(pair: LangPairScores, options: CorrelationFigures) -> FloatArray:
    """Returns the sign flips of soft pairwise accuracy, the same for all metrics. Shape: (flips, segments)."""
    n_segments = 0 if pair.gold.segment is None else pair.gold.segment.shape[1]
    return permutation_test.draw_signs(n_segments, np.random.default_rng(options.seed), options.samples)


def measure(
    gold: Scores, metric: Scores, signs: FloatArray, options: CorrelationFigures = DEFAULTS
) -> dict[str, Measurement]:
    """Returns the figures of systems and of segments, as far as both sides have such scores."""
    figures = of_systems(gold.system, metric.system) if np.isfinite(metric.system).all() else {}
    if gold.segment is not None and metric.segment is not None:
        figures["system.spa"] = pairwise_accuracy.soft(gold.segment, metric.segment, signs)
        figures |= of_segments(gold.segment, metric.segment, options)
        calibration = pairwise_accuracy.acc_eq(gold.segment, metric.segment)
        if calibration is None:
            problem = "no segment has two rated translations: acc_eq compares those of one segment"
            figures["segment.acc_eq"] = Measurement(None, 0, problem=problem)
        else:
            figures["segment.acc_eq"] = Measurement(calibration.accuracy, calibration.n_items)
            figures["segment.epsilon"] = Measurement(calibration.epsilon, calibration.n_items)
            figures["segment.acc_eq_held_out"] = pairwise_accuracy.acc_eq_held_out(gold.segment, metric.segment)
    return figures


def of_ranks(pair: LangPairScores, metric: Scores, options: CorrelationFigures = DEFAULTS) -> dict[str, Measurement]:
    """Returns daRR, the only figure of ranked pairs of translations; see `LangPairScores.ranked`."""
    assert pair.gold.segment is not None
    assert metric.segment is not None
    # The ranks are 1 and 0, and the pairs have been chosen already.
    return {"segment.darr": pairwise_accuracy.darr(pair.gold.segment, metric.segment, 0, options.darr_ties)}


def of_systems(gold: FloatArray, metric: FloatArray) -> dict[str, Measurement]:
    """Returns the figures of system scores. Shape: (systems,) twice."""
    few = correlation.too_few(int(np.isfinite(gold).sum()))
    return {
        "system.pearson": correlation.of_systems(gold, metric),
        "system.accuracy": few or pairwise_accuracy.accuracy([gold], [metric]),
    }


def of_segments(
    gold: FloatArray,
    metric: FloatArray,
    options: CorrelationFigures,
    names: Collection[str] = (*CORRELATIONS, "segment.pdp", "segment.darr"),
) -> dict[str, Measurement]:
    """Returns figures of segment scores, except acc-eq. Shape: (systems, segments) twice."""
    measured = {}
    for name in names:
        if name == "segment.darr":
            measured[name] = pairwise_accuracy.darr(gold, metric, options.darr_threshold, options.darr_ties)
        elif name == "segment.pdp":
            measured[name] = correlation.pdp(gold, metric)
        else:
            kind, grouping = CORRELATIONS[name]
            measured[name] = correlation.of_segments(gold, metric, grouping=grouping, kind=kind)
    return measured


def samples(
    pair: LangPairScores, *, n_samples: int, options: CorrelationFigures = DEFAULTS
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
    if pair.ranked is not None:
        return _ranked_samples(pair, n_samples, options)
    by_systems = _weights(len(pair.gold.systems), n_samples, options)
    tables = {
        name: np.where(np.isfinite(gold), metric.segment, np.nan)
        for name, metric in pair.metrics.items()
        if gold is not None and metric.segment is not None
    }
    weights = np.zeros((n_samples, 0)) if gold is None else _weights(gold.shape[1], n_samples, options)
    soft = {} if gold is None else _soft(gold, tables, weights, sign_flips(pair, options))
    figures: dict[str, dict[str, FloatArray]] = {}
    for name, metric in pair.metrics.items():
        if gold is None or name not in tables:
            figures[name] = _drawn_systems(pair.gold.system, metric.system, by_systems)
            continue
        human, score = (_means(table, weights) for table in (gold, tables[name]))
        figures[name] = {
            **system_figures(human, score),
            "system.spa": soft[name],
            **_of_drawn_segments(gold, tables[name], weights, options),
        }
    return figures


def _ranked_samples(
    pair: LangPairScores, n_samples: int, options: CorrelationFigures
) -> dict[str, dict[str, FloatArray]]:
    """Returns daRR of each metric on the same samples of ranked pairs."""
    assert pair.gold.segment is not None
    counts = {
        name: pairwise_accuracy.darr_counts(pair.gold.segment, metric.segment, 0)
        for name, metric in pair.metrics.items()
        if metric.segment is not None
    }
    drawn: dict[str, list[FloatArray]] = {name: [] for name in counts}
    for weights in resamples(n_samples, np.zeros(pair.gold.segment.shape[1]), seed=options.seed):
        for name, table in counts.items():
            drawn[name].append(divide(*pairwise_accuracy.tau_like(weights @ table, options.darr_ties)))
    return {name: {"segment.darr": np.concatenate(values)} for name, values in drawn.items()}


def _of_drawn_segments(
    gold: FloatArray, metric: FloatArray, weights: FloatArray, options: CorrelationFigures
) -> dict[str, FloatArray]:
    """Returns the figures of segments on each sample: (systems, segments) twice, (samples, segments) to (samples,)."""
    by_item = {
        "pearson_by_item": correlation.pearson_by_item(gold, metric),
        "kendall_b_by_item": correlation.kendall_by_item(gold, metric, "b"),
        "kendall_c_by_item": correlation.kendall_by_item(gold, metric, "c"),
    }
    calibration = pairwise_accuracy.acc_eq(gold, metric)
    if calibration is not None:
        by_item["acc_eq"] = row_means(calibration.verdicts.T)
    figures = {name: _means(values[np.newaxis], weights)[0] for name, values in by_item.items()}
    by_system = np.stack([pearson(weights @ summands) for summands in moments(gold, metric)])
    # Centred, because sums of squares far from zero lose digits.
    whole = moments(*(values - np.nanmean(values) for values in (gold, metric))).sum(axis=0)
    figures |= {"pearson": pearson(weights @ whole), "pearson_by_system": row_means(by_system.T)}
    figures["pdp"] = correlation.pdp_of_sums(weights @ correlation.pdp_sums(gold, metric))
    darr = pairwise_accuracy.darr_counts(gold, metric, options.darr_threshold)
    figures["darr"] = divide(*pairwise_accuracy.tau_like(weights @ darr, options.darr_ties))
    drawn = [_taus(gold, metric, row.astype(np.int64)) for row in weights]
    figures |= {name: np.array([sample[name] for sample in drawn]) for name in (drawn[0] if drawn else ())}
    return {f"segment.{name}": values for name, values in figures.items()}


def _taus(gold: FloatArray, metric: FloatArray, counts: IntArray) -> dict[str, float]:
    """Returns Kendall's tau-b and tau-c on a sample, of all scores as one vector and as the mean over systems."""
    whole = correlation.resampled_taus(gold, metric, counts)
    of_system = [
        correlation.resampled_taus(human[np.newaxis], score[np.newaxis], counts)
        for human, score in zip(gold, metric, strict=True)
    ]
    kinds: tuple[Coefficient, ...] = ("b", "c")
    means = {kind: float(row_means(np.array([taus[kind] for taus in of_system]))) for kind in kinds}
    return {f"kendall_{k}": whole[k] for k in kinds} | {f"kendall_{k}_by_system": means[k] for k in kinds}


def _weights(n_units: int, n_samples: int, options: CorrelationFigures) -> FloatArray:
    """Returns how often each unit was drawn, (samples, units)."""
    drawn = list(resamples(n_samples, np.zeros(n_units), seed=options.seed))
    return np.concatenate(drawn) if drawn else np.zeros((0, n_units))


def _drawn_systems(gold: FloatArray, metric: FloatArray, weights: FloatArray) -> dict[str, FloatArray]:
    """Returns the figures if systems are drawn. Shape: (systems,) twice, (samples, systems) to (samples,)."""
    drawn = np.stack([np.repeat(np.arange(len(gold)), row.astype(np.int64)) for row in weights])
    # A system is not compared with its own copy: they would agree that they are equal.
    is_pair = pair_differences(drawn.T.astype(np.float64)) != 0
    return system_figures(gold[drawn].T, metric[drawn].T, is_pair)


def _means(table: FloatArray, weights: FloatArray) -> FloatArray:
    """Returns means of drawn segments, NaN without any: (rows, segments), (samples, segments) to (rows, samples)."""
    is_rated = np.isfinite(table)
    return divide(np.where(is_rated, table, 0.0) @ weights.T, is_rated.astype(np.float64) @ weights.T)


def system_figures(gold: FloatArray, metric: FloatArray, is_pair: BoolArray | None = None) -> dict[str, FloatArray]:
    """Returns the figures of systems on samples, (samples,).

    Args:
        gold: (systems,), or (systems, samples).
        metric: (systems, samples).
        is_pair: (system pairs, samples), the pairs that count in the accuracy; None for all.
    """
    gold = gold if gold.ndim == 2 else np.broadcast_to(gold[:, np.newaxis], metric.shape)
    is_enough = np.isfinite(gold).sum(axis=0) >= MIN_SYSTEMS
    return {
        "system.pearson": np.where(is_enough, correlation.pearson_by_item(gold, metric), np.nan),
        "system.accuracy": np.where(is_enough, divide(*pairwise_accuracy.agreements(gold, metric, is_pair)), np.nan),
    }


def _soft(
    gold: FloatArray, tables: Mapping[str, FloatArray], weights: FloatArray, signs: FloatArray
) -> dict[str, FloatArray]:
    """Returns the soft pairwise accuracy of each metric, (samples,), from the scores of each sample."""
    places = np.arange(gold.shape[1])
    accuracies: dict[str, list[FloatArray]] = {name: [] for name in tables}
    size = max(1, min(_CHUNK, _MAX_SCORES // max(1, gold.size * len(gold))))
    for start in range(0, len(weights), size):
        chunk = weights[start : start + size].astype(np.int64)
        drawn = np.stack([np.repeat(places, row) for row in chunk])  # (samples, segments)
        human = permutation_test.p_values(gold, signs, drawn)
        is_enough = np.isfinite(gold)[:, drawn].any(axis=2).sum(axis=0) >= MIN_SYSTEMS
        for name, table in tables.items():
            distances = np.abs(human - permutation_test.p_values(table, signs, drawn))
            accuracies[name].append(np.where(is_enough, 1.0 - row_means(distances), np.nan))
    return {name: np.concatenate(values) if values else np.zeros(0) for name, values in accuracies.items()}

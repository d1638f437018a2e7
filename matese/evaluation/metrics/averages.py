"""Figures of several language pairs together: pooled pairwise accuracy, and the averages of the WMT metrics tasks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from matese.evaluation.metrics import metric_ranking, pairwise_accuracy, significance
from matese.evaluation.metrics.correlation import Measurement
from matese.evaluation.metrics.correlation_options import (
    DEFAULTS,
    SEGMENT_FIGURES,
    SYSTEM_FIGURES,
    CorrelationFigures,
)
from matese.evaluation.metrics.metric_figures import MetricFigures
from matese.evaluation.metrics.metric_ranking import PairTest
from matese.evaluation.metrics.score_arrays import LangPairScores
from matese.evaluation.metrics.significance import MetricTest
from matese.evaluation.statistics.arrays import FloatArray, divide

WMT23 = ("system.pearson", "segment.pearson", "segment.acc_eq")
WMT24 = ("system.spa", "segment.acc_eq")


def pool(
    pairs: Sequence[LangPairScores], figures: Mapping[str, Mapping[str, MetricFigures]]
) -> dict[str, MetricFigures]:
    """Returns the pooled figures, by metric, of the metrics that score all language pairs.

    `system.accuracy` is computed from the added counts. `average.wmt23` (Freitag et al. 2023) is the weighted mean of
    this accuracy, with the number of language pairs as weight, and of each pair's system Pearson, segment Pearson (both
    as (r + 1) / 2) and acc-eq, with weight 1. `average.wmt24` (Freitag et al. 2024, also used in 2025) is the mean of
    each pair's soft pairwise accuracy and acc-eq. `macro.` and the name of a figure of language pairs is its mean over
    them.
    """
    names = [name for name in pairs[0].metrics if all(name in pair.metrics for pair in pairs)]
    golds = [pair.gold.system for pair in pairs]
    pooled: dict[str, MetricFigures] = {}
    for name in names:
        total = pairwise_accuracy.accuracy(golds, [pair.metrics[name].system for pair in pairs])
        parts = [figures[pair.lang_pair][name] for pair in pairs]
        if any("system.accuracy" not in part or part["system.accuracy"].value is None for part in parts):
            problem = "a language pair has no pairwise accuracy; the total needs that of every language pair"
            total = Measurement(None, total.n, problem=problem)
        pooled[name] = {
            "system.accuracy": total,
            "average.wmt23": _average([(total.number, len(parts)), *_weighted(parts, WMT23)]),
            "average.wmt24": _average(_weighted(parts, WMT24)),
            **{f"macro.{figure}": _mean(parts, figure) for figure in (*SYSTEM_FIGURES, *SEGMENT_FIGURES)},
        }
    return pooled


def to_unit(name: str, value: float) -> float:
    """Returns a figure on a scale from 0 to 1: a correlation r as (r + 1) / 2, an accuracy unchanged."""
    return value if name.rsplit(".", 1)[1] in {"accuracy", "spa", "acc_eq"} else (value + 1) / 2


def pooled_accuracy_test(pairs: Sequence[LangPairScores], options: CorrelationFigures = DEFAULTS) -> PairTest:
    """Returns the permutation test of the pooled pairwise accuracy; system scores are swapped."""
    gold = [pair.gold.system for pair in pairs]
    ends = np.cumsum([len(systems) for systems in gold])[:-1]

    def measure(systems: FloatArray) -> FloatArray:
        parts = zip(gold, np.split(systems, ends, axis=1), strict=True)
        agreed, pairs = np.sum([pairwise_accuracy.agreements(human, part.T) for human, part in parts], axis=0)
        return divide(agreed, pairs)

    def test(*names: str) -> MetricTest:
        first, second = (np.concatenate([pair.metrics[name].system for pair in pairs]) for name in names)
        rng = metric_ranking.random_generator(options, "pooled", "system.accuracy")
        return significance.permute_scores(first, second, measure, rng=rng, n_samples=options.samples)

    return test


def average_test(pairs: Sequence[LangPairScores], figure: str, options: CorrelationFigures = DEFAULTS) -> PairTest:
    """Returns the test of "average.wmt23" or "average.wmt24", from the permutations of its parts.

    Where the test of a part ended early, its samples are repeated from the start, as in mt-metrics-eval.
    """
    is_wmt23 = figure == "average.wmt23"
    # A difference of correlations is halved by (r + 1) / 2.
    tests = [
        (metric_ranking.significance_test(pair, name, options), to_unit(name, 1) - to_unit(name, 0))
        for pair in pairs
        for name in (WMT23 if is_wmt23 else WMT24)
    ]
    total = float(len(tests))
    if is_wmt23:
        tests.append((pooled_accuracy_test(pairs, options), float(len(pairs))))
        total += len(pairs)

    def test(first: str, second: str) -> MetricTest:
        parts = [(test_of_part(first, second), weight / total) for test_of_part, weight in tests]
        length = max(len(part.samples) for part, _ in parts)
        samples = sum(np.resize(part.samples, length) * weight for part, weight in parts)
        difference = math.fsum(part.difference * weight for part, weight in parts)
        # As in the tests of single figures, NaN counts as no better.
        return MetricTest(float(np.mean(~(samples < difference - 1e-12))), difference, np.asarray(samples))

    return test


def _weighted(parts: Sequence[MetricFigures], names: Sequence[str]) -> list[tuple[float, float]]:
    """Returns figures of each language pair on a scale from 0 to 1, NaN where undefined, with weight 1."""
    return [(to_unit(name, part[name].number) if name in part else math.nan, 1.0) for part in parts for name in names]


def _mean(parts: Sequence[MetricFigures], figure: str) -> Measurement:
    """Returns the mean of a figure over the language pairs."""
    return _average([(part[figure].number if figure in part else math.nan, 1.0) for part in parts])


def _average(parts: Sequence[tuple[float, float]]) -> Measurement:
    if any(math.isnan(value) for value, _ in parts):
        return Measurement(None, len(parts), problem="a part of the average is undefined; the average needs all parts")
    total = math.fsum(value * weight for value, weight in parts)
    return Measurement(total / math.fsum(weight for _, weight in parts), len(parts))

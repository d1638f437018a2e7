"""Metrics in the order of one figure, in clusters of metrics that are not significantly different."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from matese.errors import InputError
from matese.evaluation.metrics import correlation, metric_figures, pairwise_accuracy
from matese.evaluation.metrics.correlation import Measurement
from matese.evaluation.metrics.options import CORRELATIONS, DEFAULTS, CorrelationOptions
from matese.evaluation.metrics.scores import LangPairScores, Scores
from matese.evaluation.statistics import significance
from matese.evaluation.statistics.arrays import FloatArray, row_means
from matese.evaluation.statistics.significance import MetricTest

PairTest = Callable[[str, str], MetricTest]
"""Tests whether the first metric, by name, agrees better with humans than the second."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Metrics, best first.

    Attributes:
        metrics: names of the metrics whose figure is defined.
        clusters: of each metric, from 1; None without a test.
        p_values: (metrics, metrics), [i, j] with i < j is the p-value of "i is no better than j"; NaN elsewhere.
    """

    metrics: tuple[str, ...]
    clusters: tuple[int, ...] | None
    p_values: FloatArray


def rank(
    values: Mapping[str, float | None],
    test: PairTest | None,
    alpha: float = 0.05,
    advance: Callable[[], None] = lambda: None,
) -> Ranking:
    """Returns the metrics in the order of their figure, in clusters.

    Args:
        values: figure of each metric; higher is better.
        test: of a better metric against a worse one; None for no clusters.
        alpha: significance level.
        advance: is called when a metric has been compared with all others.
    """
    defined = {name: value for name, value in values.items() if value is not None}
    names = sorted(defined, key=lambda name: (-defined[name], name))
    p_values = np.full((len(names), len(names)), np.nan)
    if test is None:
        return Ranking(tuple(names), None, p_values)
    for better in range(len(names)):
        for worse in range(better + 1, len(names)):
            p_values[better, worse] = test(names[better], names[worse]).p_value
        advance()
    return Ranking(tuple(names), tuple(significance.clusters(p_values, alpha)), p_values)


def significance_test(pair: LangPairScores, figure: str, options: CorrelationOptions = DEFAULTS) -> PairTest:
    """Returns the test of two metrics of a language pair by one figure.

    Args:
        pair: the language pair.
        figure: its name.
        options: `test`, `n_samples`, and how the figure is computed; "bootstrap" is `bootstrap_test`.

    Raises:
        InputError: if the test is not for this figure, or a metric lacks the scores that it needs.
    """
    if options.test == "williams":
        if figure not in ("system.pearson", "segment.pearson"):
            raise InputError(f"Williams' test of {figure}: must be of system.pearson or segment.pearson")
        return lambda first, second: _williams(pair, figure, first, second)
    if figure in ("system.spa", "segment.acc_eq"):
        return _verdict_test(pair, figure, options)
    measure = _measure(pair.gold, figure, options)

    def test(first: str, second: str) -> MetricTest:
        rng = random_generator(options, pair.lang_pair, figure)
        one, other = (_permuted(pair, name, figure, options) for name in (first, second))
        return significance.permute_scores(one, other, measure, rng=rng, n_samples=options.n_samples)

    return test


def bootstrap_test(values: Mapping[str, float | None], samples: Mapping[str, FloatArray]) -> PairTest:
    """Returns the paired bootstrap test.

    Args:
        values: figure of each metric.
        samples: figure of each metric on the same bootstrap samples, (samples,), NaN where undefined.
    """

    def test(first: str, second: str) -> MetricTest:
        one, other = (math.nan if value is None else value for value in (values[first], values[second]))
        return significance.compare_samples(one, other, samples[first], samples[second])

    return test


def random_generator(options: CorrelationOptions, *place: str) -> np.random.Generator:
    """Returns random numbers that are the same for all metrics, and others for each language pair and figure."""
    return np.random.default_rng([options.seed, zlib.crc32(" ".join(place).encode())])


def _williams(pair: LangPairScores, figure: str, first: str, second: str) -> MetricTest:
    gold, one, other = (_vector(scores, figure) for scores in (pair.gold, pair.metrics[first], pair.metrics[second]))
    is_rated = np.isfinite(gold)
    pairs = ((gold, one), (gold, other), (one, other))
    found = [correlation.pearson(left[is_rated], right[is_rated]).value for left, right in pairs]
    r_first, r_second, r_between = (math.nan if value is None else value for value in found)
    p_value = significance.williams(r_first, r_second, r_between, int(is_rated.sum()))
    return MetricTest(p_value, r_first - r_second, np.empty(0))


def _vector(scores: Scores, figure: str) -> FloatArray:
    return scores.system if figure.startswith("system") else _segments(scores).ravel()


def _segments(scores: Scores) -> FloatArray:
    if scores.segment is None:
        raise InputError(f"{scores.name} has no segment scores: must have them for this test")
    return scores.segment


def _permuted(pair: LangPairScores, name: str, figure: str, options: CorrelationOptions) -> FloatArray:
    """Returns the scores of a metric that a permutation swaps."""
    if figure.startswith("system.") and options.test != "perm-both":
        return pair.metrics[name].system
    return np.where(np.isfinite(_segments(pair.gold)), _segments(pair.metrics[name]), np.nan)


def _measure(gold: Scores, figure: str, options: CorrelationOptions) -> significance.Measure:
    """Returns a figure as a function of such scores in several samples."""
    if figure.startswith("system."):
        if options.test != "perm-both":
            return lambda systems: metric_figures.system_figures(gold.system, systems.T)[figure]
        means = row_means(_segments(gold))
        return lambda matrices: metric_figures.system_figures(means, row_means(matrices).T)[figure]
    rated = _segments(gold)

    def of_segments(matrix: FloatArray) -> float:
        if figure == "segment.darr":
            return _value(pairwise_accuracy.darr(rated, matrix, options.darr_threshold, options.darr_ties))
        kind, grouping = CORRELATIONS[figure]
        return _value(correlation.of_segments(rated, matrix, grouping=grouping, kind=kind))

    return lambda matrices: np.array([of_segments(one) for one in matrices])


def _value(found: Measurement) -> float:
    return math.nan if found.value is None else found.value


def _verdict_test(pair: LangPairScores, figure: str, options: CorrelationOptions) -> PairTest:
    """Returns the test that swaps verdicts on pairs; the verdicts of each metric are computed once."""
    gold = _segments(pair.gold)
    segments = {name: metric.segment for name, metric in pair.metrics.items() if metric.segment is not None}
    if figure == "system.spa":
        signs = metric_figures.sign_flips(pair, options)
        verdicts = {
            name: 1.0 - pairwise_accuracy.soft_distances(gold, metric, signs) for name, metric in segments.items()
        }
        n_pairs = len(gold) * (len(gold) - 1) // 2
        weights = np.full(n_pairs, 1.0 / max(1, n_pairs))
    else:
        found = {name: pairwise_accuracy.acc_eq(gold, metric) for name, metric in segments.items()}
        verdicts = {name: np.nan_to_num(one.verdicts).ravel() for name, one in found.items() if one is not None}
        weights = pairwise_accuracy.pair_weights(gold).ravel()

    def test(first: str, second: str) -> MetricTest:
        rng = random_generator(options, pair.lang_pair, figure)
        return significance.permute_credits(
            verdicts[first], verdicts[second], weights, rng=rng, n_samples=options.n_samples
        )

    return test

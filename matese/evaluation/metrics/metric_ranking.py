"""Metrics in the order of one figure, in clusters of metrics that are not significantly different."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from matese.errors import InputError
from matese.evaluation.metrics import correlation, metric_figures, pairwise_accuracy, significance
from matese.evaluation.metrics.correlation_options import DEFAULTS, CorrelationFigures
from matese.evaluation.metrics.score_arrays import LangPairScores, Scores
from matese.evaluation.metrics.significance import MetricTest
from matese.evaluation.statistics.arrays import FloatArray, pair_differences, row_means

PairTest = Callable[[str, str], MetricTest]
"""Tests whether the first metric, by name, agrees better with humans than the second."""


@dataclass(frozen=True, slots=True, eq=False)
class MetricRanking:
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
) -> MetricRanking:
    """Returns the metrics in the order of their figure, in clusters unless there is no test.

    `advance` is called when a metric has been compared with all others.
    """
    defined = {name: value for name, value in values.items() if value is not None}
    names = sorted(defined, key=lambda name: (-defined[name], name))
    p_values = np.full((len(names), len(names)), np.nan)
    if test is None:
        return MetricRanking(tuple(names), None, p_values)
    for better in range(len(names)):
        for worse in range(better + 1, len(names)):
            p_values[better, worse] = test(names[better], names[worse]).p_value
        advance()
    return MetricRanking(tuple(names), tuple(significance.clusters(p_values, alpha)), p_values)


def significance_test(pair: LangPairScores, figure: str, options: CorrelationFigures = DEFAULTS) -> PairTest:
    """Returns the test of two metrics of a language pair by one figure; for "bootstrap" see `bootstrap_test`.

    Raises:
        InputError: if the test is not for this figure, or a metric lacks the scores that it needs.
    """
    if options.significance == "williams":
        if figure not in ("system.pearson", "segment.pearson"):
            raise InputError(f"Williams' test is not defined for {figure}; rank by system.pearson or segment.pearson")
        return lambda first, second: _williams(pair, figure, first, second)
    if figure in ("system.spa", "segment.acc_eq"):
        return _verdict_test(pair, figure, options)
    of_systems = figure.startswith("system.") and options.significance != "perm-both"
    gold = pair.gold.system if of_systems else _segments(pair.gold)

    def swapped(name: str) -> FloatArray:
        """Returns the scores of a metric that a permutation swaps."""
        metric = pair.metrics[name]
        return metric.system if of_systems else np.where(np.isfinite(gold), _segments(metric), np.nan)

    def measure(samples: FloatArray) -> FloatArray:
        """Returns the figure for such scores in several samples."""
        if figure.startswith("system."):
            human, metric = (gold, samples) if of_systems else (row_means(gold), row_means(samples))
            return metric_figures.system_figures(human, metric.T)[figure]
        return np.array(
            [metric_figures.of_segments(gold, sample, options, [figure])[figure].number for sample in samples]
        )

    def test(first: str, second: str) -> MetricTest:
        rng = random_generator(options, pair.lang_pair, figure)
        return significance.permute_scores(swapped(first), swapped(second), measure, rng=rng, n_samples=options.samples)

    return test


def bootstrap_test(values: Mapping[str, float | None], samples: Mapping[str, FloatArray]) -> PairTest:
    """Returns the paired bootstrap test from each metric's figure, and its values on the same samples, (samples,)."""
    figures = {name: math.nan if value is None else value for name, value in values.items()}

    def test(first: str, second: str) -> MetricTest:
        return significance.compare_samples(figures[first], figures[second], samples[first], samples[second])

    return test


def random_generator(options: CorrelationFigures, *place: str) -> np.random.Generator:
    """Returns random numbers that are the same for all metrics, and others for each language pair and figure."""
    return np.random.default_rng([options.seed, zlib.crc32(" ".join(place).encode())])


def _williams(pair: LangPairScores, figure: str, first: str, second: str) -> MetricTest:
    def scores_of(scores: Scores) -> FloatArray:
        return scores.system if figure == "system.pearson" else _segments(scores).ravel()

    gold = scores_of(pair.gold)
    first_scores = scores_of(pair.metrics[first])
    second_scores = scores_of(pair.metrics[second])
    is_rated = np.isfinite(gold)

    def correlate(left: FloatArray, right: FloatArray) -> float:
        return correlation.pearson(left[is_rated], right[is_rated]).number

    r_first = correlate(gold, first_scores)
    r_second = correlate(gold, second_scores)
    r_between = correlate(first_scores, second_scores)
    p_value = significance.williams(r_first, r_second, r_between, int(is_rated.sum()))
    return MetricTest(p_value, r_first - r_second, np.empty(0))


def _segments(scores: Scores) -> FloatArray:
    if scores.segment is None:
        raise InputError(f"{scores.name} has no segment scores; this test needs them")
    return scores.segment


def _verdict_test(pair: LangPairScores, figure: str, options: CorrelationFigures) -> PairTest:
    """Returns the test that swaps verdicts on pairs; the verdicts of each metric are computed once."""
    gold = _segments(pair.gold)
    segments = {name: metric.segment for name, metric in pair.metrics.items() if metric.segment is not None}
    if figure == "system.spa":
        signs = metric_figures.sign_flips(pair, options)
        verdicts = {
            name: np.nan_to_num(1.0 - pairwise_accuracy.soft_distances(gold, metric, signs))
            for name, metric in segments.items()
        }
        is_pair = np.isfinite(pair_differences(gold)).any(axis=1)
        weights = np.asarray(is_pair / max(1, int(is_pair.sum())), dtype=np.float64)
    else:
        calibrated = {name: pairwise_accuracy.acc_eq(gold, metric) for name, metric in segments.items()}
        verdicts = {
            name: np.nan_to_num(calibration.verdicts).ravel()
            for name, calibration in calibrated.items()
            if calibration is not None
        }
        weights = pairwise_accuracy.pair_weights(gold).ravel()

    def test(first: str, second: str) -> MetricTest:
        rng = random_generator(options, pair.lang_pair, figure)
        n_samples = options.samples
        return significance.permute_credits(verdicts[first], verdicts[second], weights, rng=rng, n_samples=n_samples)

    return test

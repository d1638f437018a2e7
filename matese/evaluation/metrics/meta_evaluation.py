"""How well metrics agree with humans: figures, intervals and rankings, and the figures of the N best systems."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from matese.errors import InputError
from matese.evaluation.metrics import (
    averages,
    correlation,
    metric_figures,
    pairwise_accuracy,
    ranking,
    scores,
)
from matese.evaluation.metrics.metric_figures import MetricFigures
from matese.evaluation.metrics.options import DEFAULTS, CorrelationOptions
from matese.evaluation.metrics.ranking import PairTest, Ranking
from matese.evaluation.metrics.scores import LangPairScores
from matese.evaluation.statistics import bootstrap
from matese.evaluation.statistics.arrays import FloatArray

POOLED = "pooled"
"""Name of the figures of all language pairs together, beside the names of language pairs."""

Interval = tuple[float, float]
TopN = Mapping[str, Mapping[int, float | None]]
"""Figures "pearson" and "accuracy" of the N best systems, by N."""


@dataclass(frozen=True, slots=True)
class MetaEvaluation:
    """How well the metrics of some language pairs agree with humans.

    Attributes:
        options: how figures and rankings were computed.
        pairs: scores of each language pair.
        figures: by language pair or `POOLED`, and metric.
        intervals: by language pair, metric and figure; empty without a bootstrap.
        rankings: by language pair; `POOLED` if metrics are ranked by a pooled figure.
        top_n: by language pair and metric.
    """

    options: CorrelationOptions
    pairs: tuple[LangPairScores, ...]
    figures: Mapping[str, Mapping[str, MetricFigures]]
    intervals: Mapping[str, Mapping[str, Mapping[str, Interval]]]
    rankings: Mapping[str, Ranking]
    top_n: Mapping[str, Mapping[str, TopN]]


def correlate(
    pairs: Sequence[LangPairScores],
    options: CorrelationOptions = DEFAULTS,
    *,
    advance: Callable[[], None] = lambda: None,
    report: Callable[[MetaEvaluation, str], None] = lambda found, lang_pair: None,
) -> MetaEvaluation:
    """Returns the figures of all metrics and their rankings.

    Args:
        pairs: scores of each language pair.
        options: how figures and rankings are computed.
        advance: is called for each metric of each language pair, when its figures are known and when it is ranked.
        report: is called with what is known, and the language pair or `POOLED` that is complete.

    Raises:
        InputError: if no metric has the figure that orders the metrics, or the test is not for this figure.
    """
    figures: dict[str, Mapping[str, MetricFigures]] = {}
    for pair in pairs:
        signs = metric_figures.sign_flips(pair, options)
        own = figures[pair.lang_pair] = {}
        for name, metric in pair.metrics.items():
            own[name] = metric_figures.measure(pair.gold, metric, signs, options)
            advance()
    figures[POOLED] = averages.pool(pairs, figures)
    top_n = {pair.lang_pair: _top_n(pair) for pair in pairs}
    rankings: dict[str, Ranking] = {}
    intervals: dict[str, Mapping[str, Mapping[str, Interval]]] = {}
    found = MetaEvaluation(options, tuple(pairs), figures, intervals, rankings, top_n)
    is_average = options.rank_by.startswith("average.")
    is_pooled = is_average or options.rank_by == "system.accuracy"
    ranked = [*([] if is_average else (pair.lang_pair for pair in pairs)), *([POOLED] if is_pooled else [])]
    values = {name: _values(figures[name], options.rank_by) for name in ranked}
    if all(value is None for of_pair in values.values() for value in of_pair.values()):
        raise _nothing_to_rank(figures, options.rank_by)
    for pair in pairs:
        samples = _samples(pair, options)
        if options.n_bootstrap is not None:
            intervals[pair.lang_pair] = {name: intervals_of(one) for name, one in samples.items()}
        if pair.lang_pair in values:
            own_values = values[pair.lang_pair]
            test = _test(pair, options, own_values, samples)
            rankings[pair.lang_pair] = ranking.rank(own_values, test, options.alpha, advance)
        report(found, pair.lang_pair)
    if is_pooled:
        rankings[POOLED] = ranking.rank(values[POOLED], _pooled_test(pairs, options), options.alpha)
    if is_pooled or len(pairs) > 1:
        report(found, POOLED)
    return found


def intervals_of(samples: Mapping[str, FloatArray]) -> dict[str, Interval]:
    """Returns the 95% percentile interval of each figure that has one."""
    found = {name: bootstrap.interval(values) for name, values in samples.items()}
    return {name: bounds for name, bounds in found.items() if all(map(math.isfinite, bounds))}


def _nothing_to_rank(figures: Mapping[str, Mapping[str, MetricFigures]], rank_by: str) -> InputError:
    measured = [one[rank_by] for of_pair in figures.values() for one in of_pair.values() if rank_by in one]
    why = next((one.problem for one in measured if one.problem), "the scores do not allow it")
    return InputError(f"no metric has {rank_by} ({why}): must be another figure, see --rank-by")


def _values(figures: Mapping[str, MetricFigures], name: str) -> dict[str, float | None]:
    return {metric: one[name].value if name in one else None for metric, one in figures.items()}


def _samples(pair: LangPairScores, options: CorrelationOptions) -> Mapping[str, Mapping[str, FloatArray]]:
    """Returns bootstrap samples of all figures, if intervals or the test need them; both use the same."""
    n_samples = options.n_bootstrap or (options.n_samples if options.test == "bootstrap" else None)
    return {} if n_samples is None else metric_figures.samples(pair, n_samples=n_samples, options=options)


def _test(
    pair: LangPairScores,
    options: CorrelationOptions,
    values: Mapping[str, float | None],
    samples: Mapping[str, Mapping[str, FloatArray]],
) -> PairTest | None:
    if options.test == "none":
        return None
    if options.test == "bootstrap":
        own = {name: one[options.rank_by] for name, one in samples.items() if options.rank_by in one}
        return ranking.bootstrap_test(values, own)
    return ranking.significance_test(pair, options.rank_by, options)


def _pooled_test(pairs: Sequence[LangPairScores], options: CorrelationOptions) -> PairTest | None:
    # The other tests are for one language pair; without a test there are no clusters, as the table shows.
    if options.test != "permutation":
        return None
    if options.rank_by == "system.accuracy":
        return averages.pooled_accuracy_test(pairs, options)
    return averages.average_test(pairs, options.rank_by, options)


def _top_n(pair: LangPairScores) -> dict[str, TopN]:
    gold = pair.gold.system
    if not np.isfinite(gold).all():
        return {}
    statistics: Mapping[str, Callable[[FloatArray, FloatArray], float | None]] = {
        "pearson": lambda human, score: correlation.of_systems(human, score).value,
        "accuracy": lambda human, score: pairwise_accuracy.accuracy([human], [score]).value,
    }
    return {
        name: {key: scores.top_n(gold, metric.system, statistic) for key, statistic in statistics.items()}
        for name, metric in pair.metrics.items()
        if np.isfinite(metric.system).all()
    }

"""How well metrics agree with humans: figures, intervals and rankings, and the figures of the N best systems."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from matese.errors import InputError, counted, one_of
from matese.evaluation.metrics import averages, correlation, metric_figures, metric_ranking, pairwise_accuracy
from matese.evaluation.metrics.correlation_options import DEFAULTS, POOLED, RANKED_FIGURES, CorrelationFigures
from matese.evaluation.metrics.metric_figures import MetricFigures
from matese.evaluation.metrics.metric_ranking import MetricRanking, PairTest
from matese.evaluation.metrics.score_arrays import MIN_SYSTEMS, LangPairScores, Scores
from matese.evaluation.statistics import bootstrap, pass_fail
from matese.evaluation.statistics.arrays import FloatArray, IntArray
from matese.evaluation.statistics.pass_fail import PassPoint

Interval = tuple[float, float]
TopN = Mapping[str, Mapping[int, float | None]]
"""Figures "pearson" and "accuracy" of the N best systems and `TOP_N_TAUS` of their segments, by N."""
_SHOWN = 5
"""Language pairs in the short form of a result."""
TOP_N_TAUS = ("darr", "kendall_b_by_item")
"""Kendall's tau of segments, as in figure 3 of Rei et al. 2020: of direct assessments, and of any human scores."""


@dataclass(frozen=True, slots=True)
class MetaEvaluation:
    """How well the metrics of some language pairs agree with humans.

    Figures, intervals, rankings and `top_n` are by language pair or `POOLED`, and then by metric. There are no
    intervals without a bootstrap, and metrics are ranked by a pooled figure or within each language pair. `pairs` may
    hold a single domain of a language pair, too, under its own name; such parts are not pooled.
    """

    options: CorrelationFigures
    pairs: tuple[LangPairScores, ...]
    figures: Mapping[str, Mapping[str, MetricFigures]]
    intervals: Mapping[str, Mapping[str, Mapping[str, Interval]]]
    rankings: Mapping[str, MetricRanking]
    top_n: Mapping[str, Mapping[str, TopN]]

    def __repr__(self) -> str:
        """Returns what is compared, and where the figures are."""
        names = list(dict.fromkeys(metric for pair in self.pairs for metric in pair.metrics))
        compared = f"{counted(len(names), 'metric')} in {', '.join(pair.lang_pair for pair in self.pairs[:_SHOWN])}"
        best = [
            f"{name}: {ranking.metrics[0]}" for name, ranking in list(self.rankings.items())[:_SHOWN] if ranking.metrics
        ]
        details = "see .figures[lang_pair][metric][name], .rankings, .intervals, .top_n"
        return f"<MetaEvaluation of {compared}; best by {self.options.ranked_by}: {', '.join(best)}; {details}>"

    @property
    def n_pooled(self) -> int:
        """Number of language pairs, without the single domains."""
        return len(_whole(self.pairs))


def correlate(
    pairs: Sequence[LangPairScores],
    options: CorrelationFigures = DEFAULTS,
    *,
    advance: Callable[[], None] = lambda: None,
    report: Callable[[MetaEvaluation, str], None] = lambda evaluation, lang_pair: None,
) -> MetaEvaluation:
    """Returns the figures of all metrics and their rankings.

    `advance` is called for each metric of each language pair when its figures are known and when it is ranked, `report`
    with what is known, and the language pair or `POOLED` that is complete.

    Raises:
        InputError: if no metric has the figure that orders the metrics, or the test is not for this figure.
    """
    figures: dict[str, Mapping[str, MetricFigures]] = {}
    for pair in pairs:
        of_metrics = figures[pair.lang_pair] = {}
        signs = None if pair.ranked is not None else metric_figures.sign_flips(pair, options)
        for name, metric in pair.metrics.items():
            of_metrics[name] = (
                metric_figures.of_ranks(pair, metric, options)
                if signs is None
                else metric_figures.measure(pair.gold, metric, signs, options)
            )
            advance()
    whole = _whole(pairs)
    figures[POOLED] = averages.pool(whole, figures)
    rankings: dict[str, MetricRanking] = {}
    intervals: dict[str, Mapping[str, Mapping[str, Interval]]] = {}
    evaluation = MetaEvaluation(
        options, tuple(pairs), figures, intervals, rankings, {pair.lang_pair: _top_n(pair, options) for pair in pairs}
    )
    rank_by = options.ranked_by
    is_average = options.ranked_by.startswith("average.")
    is_pooled = is_average or rank_by == "system.accuracy"
    ranked = [*([] if is_average else (pair.lang_pair for pair in pairs)), *([POOLED] if is_pooled else [])]
    values = _values({lang_pair: figures[lang_pair] for lang_pair in ranked}, rank_by)
    for pair in pairs:
        # Intervals and the test by bootstrap use the same samples.
        n_samples = options.bootstrap or (options.samples if options.significance == "bootstrap" else 0)
        samples = metric_figures.samples(pair, n_samples=n_samples, options=options) if n_samples else {}
        if options.bootstrap is not None:
            intervals[pair.lang_pair] = {name: intervals_of(by_figure) for name, by_figure in samples.items()}
        if pair.lang_pair in values:
            of_pair = values[pair.lang_pair]
            test = _test(pair, options, of_pair, samples)
            rankings[pair.lang_pair] = metric_ranking.rank(of_pair, test, options.alpha, advance)
        report(evaluation, pair.lang_pair)
    if is_pooled:
        rankings[POOLED] = metric_ranking.rank(values[POOLED], _pooled_test(whole, options), options.alpha)
    if is_pooled or len(whole) > 1:
        report(evaluation, POOLED)
    return evaluation


def _whole(pairs: Sequence[LangPairScores]) -> list[LangPairScores]:
    return [pair for pair in pairs if pair.domain is None]


def pass_curves(pair: LangPairScores, good: float) -> dict[str, tuple[PassPoint, ...]]:
    """Returns the decisions at every threshold of each metric that scores segments; see `pass_fail`.

    Args:
        pair: human scores and metrics.
        good: least human score of a good translation.
    """
    gold = pair.gold.segment
    if gold is None:
        return {}
    is_rated = np.isfinite(gold)
    return {
        name: pass_fail.curve(gold[is_rated] >= good, metric.segment[is_rated])
        for name, metric in pair.metrics.items()
        if metric.segment is not None and np.isfinite(metric.segment[is_rated]).all()
    }


def intervals_of(samples: Mapping[str, FloatArray]) -> dict[str, Interval]:
    """Returns the 95% percentile interval of each figure that has one."""
    intervals = {name: bootstrap.interval(values) for name, values in samples.items()}
    return {name: bounds for name, bounds in intervals.items() if all(map(math.isfinite, bounds))}


def _values(figures: Mapping[str, Mapping[str, MetricFigures]], name: str) -> dict[str, dict[str, float | None]]:
    """Returns the figure that orders the metrics, by language pair and metric; raises an InputError if none has it."""
    measured = {
        lang_pair: {metric: by_name[name] for metric, by_name in of_metrics.items() if name in by_name}
        for lang_pair, of_metrics in figures.items()
    }
    every = [figure for of_pair in measured.values() for figure in of_pair.values()]
    if all(figure.value is None for figure in every):
        reason = next((figure.problem for figure in every if figure.problem), "the scores do not allow it")
        by_metric = [by_name for of_metrics in figures.values() for by_name in of_metrics.values()]
        alternatives = [
            alternative
            for alternative in RANKED_FIGURES
            if any(by_name[alternative].value is not None for by_name in by_metric if alternative in by_name)
        ]
        advice = "no other figure can rank them either"
        if alternatives:
            advice = f"rank the metrics by --rank-by {one_of(alternatives)}"
        raise InputError(f"no metric has {name} ({reason}); {advice}")
    return {
        lang_pair: {metric: figure.value for metric, figure in of_pair.items()}
        for lang_pair, of_pair in measured.items()
    }


def _test(
    pair: LangPairScores,
    options: CorrelationFigures,
    values: Mapping[str, float | None],
    samples: Mapping[str, Mapping[str, FloatArray]],
) -> PairTest | None:
    if options.significance == "none":
        return None
    if options.significance == "bootstrap":
        if options.ranked_by.startswith("system."):
            _check_same_units(pair)
        of_figure = {
            name: by_figure[options.ranked_by] for name, by_figure in samples.items() if options.ranked_by in by_figure
        }
        return metric_ranking.bootstrap_test(values, of_figure)
    # Ranked pairs are 1 and 0, and have been chosen already.
    if pair.ranked is not None:
        options = replace(options, darr_threshold=0)
    return metric_ranking.significance_test(pair, options.ranked_by, options)


def _check_same_units(pair: LangPairScores) -> None:
    """Raises an InputError if segments are drawn for some metrics, and systems for those that score systems only."""
    lacking = [name for name, metric in pair.metrics.items() if metric.segment is None]
    if pair.gold.segment is not None and 0 < len(lacking) < len(pair.metrics):
        problem = f"{lacking[0]} has no segment scores, which the bootstrap draws for the others"
        raise InputError(f"{pair.lang_pair}: {problem}; choose another test, or leave it out")


def _pooled_test(pairs: Sequence[LangPairScores], options: CorrelationFigures) -> PairTest | None:
    # The other tests are for one language pair; without a test there are no clusters, as the table shows.
    if options.significance != "permutation":
        return None
    if options.ranked_by == "system.accuracy":
        return averages.pooled_accuracy_test(pairs, options)
    return averages.average_test(pairs, options.ranked_by, options)


def _top_n(pair: LangPairScores, options: CorrelationFigures) -> dict[str, TopN]:
    """Returns the figures of the N best systems by human score (Ma et al. 2019); of equal ones, the first are taken."""
    if pair.ranked is not None:
        return _top_n_of_ranks(pair, options)
    gold = pair.gold.system
    order = np.argsort(-gold, kind="stable")
    sizes = range(len(gold), MIN_SYSTEMS - 1, -1)
    return {
        name: {
            figure: {n: statistic(order[:n]) for n in sizes}
            for figure, statistic in _statistics_of_rows(pair.gold, metric, options).items()
        }
        for name, metric in pair.metrics.items()
        if np.isfinite(gold).all() and np.isfinite(metric.system).all()
    }


def _top_n_of_ranks(pair: LangPairScores, options: CorrelationFigures) -> dict[str, TopN]:
    """Returns daRR of the pairs of the N systems that win the largest share of their pairs."""
    n_pairs = Counter(system for both in pair.ranked_pairs for system in both)
    n_won = Counter(better for better, _ in pair.ranked_pairs)
    systems = sorted(n_pairs, key=lambda system: -n_won[system] / n_pairs[system])
    human = pair.gold.segment
    assert human is not None  # ranks are of segments

    def darr(scores: FloatArray, best: Collection[str]) -> float | None:
        columns = [number for number, both in enumerate(pair.ranked_pairs) if all(system in best for system in both)]
        return pairwise_accuracy.darr(human[:, columns], scores[:, columns], 0, options.darr_ties).value

    sizes = range(len(systems), MIN_SYSTEMS - 1, -1)
    return {
        name: {"darr": {n: darr(metric.segment, systems[:n]) for n in sizes}}
        for name, metric in pair.metrics.items()
        if metric.segment is not None
    }


def _statistics_of_rows(
    gold: Scores, metric: Scores, options: CorrelationFigures
) -> dict[str, Callable[[IntArray], float | None]]:
    """Returns figures of some of the systems, by their rows; those of segments if both sides have segment scores."""
    statistics: dict[str, Callable[[IntArray], float | None]] = {
        "pearson": lambda rows: correlation.of_systems(gold.system[rows], metric.system[rows]).value,
        "accuracy": lambda rows: pairwise_accuracy.accuracy([gold.system[rows]], [metric.system[rows]]).value,
    }
    human = gold.segment
    score = metric.segment
    if human is None or score is None:
        return statistics

    def of_segments(name: str) -> Callable[[IntArray], float | None]:
        return lambda rows: metric_figures.of_segments(human[rows], score[rows], options, [name])[name].value

    return statistics | {figure: of_segments(f"segment.{figure}") for figure in TOP_N_TAUS}

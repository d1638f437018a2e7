"""The agreement of metrics with humans as tables, as one JSON object, and as plots."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from matese.errors import counted
from matese.evaluation.metrics import averages, meta_evaluation
from matese.evaluation.metrics.correlation_options import POOLED, POOLED_FIGURES
from matese.evaluation.statistics import pass_fail
from matese.files import abridged
from matese.render.json_objects import finite, nest
from matese.render.labels import show
from matese.render.plots import Panel
from matese.render.tables import Table
from matese.version import __version__

if TYPE_CHECKING:
    from matese.evaluation.metrics.correlation import Measurement
    from matese.evaluation.metrics.meta_evaluation import MetaEvaluation, TopN
    from matese.evaluation.metrics.metric_ranking import MetricRanking
    from matese.evaluation.metrics.score_arrays import LangPairScores

_COLUMNS = (
    "system.pearson",
    "system.accuracy",
    "system.spa",
    "segment.pearson",
    "segment.kendall_b",
    "segment.acc_eq",
)
_TOP_N = {
    "accuracy": "pairwise accuracy",
    "pearson": "Pearson",
    "darr": "daRR of segments",
    "kendall_b_by_item": "tau-b of the translations of a segment",
}


def in_words(evaluation: MetaEvaluation, lang_pair: str) -> str:
    """Returns which metric agrees best with people, and which do not differ significantly; "" if none is ranked."""
    ranking = evaluation.rankings.get(lang_pair)
    rank_by = evaluation.options.ranked_by
    if ranking is None or not ranking.metrics:
        return ""
    best = ranking.metrics[0]
    value = _cell(evaluation.figures[lang_pair][best].get(rank_by), None)
    sentence = f"{show(best)} agrees best with people: {rank_by} {value}"
    if ranking.clusters is None or len(ranking.metrics) == 1:
        return f"{sentence}.\n"
    alike = [show(name) for name, cluster in zip(ranking.metrics, ranking.clusters, strict=True) if cluster == 1][1:]
    margin = f"not significantly better than {abridged(alike)}" if alike else "significantly better than all others"
    return f"{sentence}, {margin}.\n"


def text(evaluation: MetaEvaluation, lang_pair: str) -> Iterator[object]:
    """Yields the tables of a language pair or of "pooled", each after its caption, and what the figures say."""
    words = in_words(evaluation, lang_pair)
    for number, drawn in enumerate(tables(evaluation, lang_pair)):
        yield f"{drawn.caption}\n{words if number == 0 else ''}"
        yield drawn


def tables(evaluation: MetaEvaluation, lang_pair: str) -> list[Table]:
    """Returns the tables of a language pair or of "pooled", with captions."""
    macro = macro_table(evaluation) if lang_pair == POOLED else None
    tables_or_none = (table(evaluation, lang_pair), macro, pass_table(evaluation, lang_pair))
    return [drawn for drawn in tables_or_none if drawn is not None]


def table(evaluation: MetaEvaluation, lang_pair: str) -> Table:
    """Returns the table of a language pair or of "pooled": figures that a metric has. Its caption names the pair."""
    title = f"{evaluation.n_pooled} language pairs pooled"
    for pair in evaluation.pairs:
        if pair.lang_pair == lang_pair:
            reference = "" if pair.reference is None else f", {pair.reference}"
            systems = pair.gold.systems if pair.ranked is None else pair.ranked
            title = f"{lang_pair}: {counted(len(systems), 'system')}{reference}"
    figures = evaluation.figures[lang_pair]
    rank_by = evaluation.options.ranked_by
    columns = POOLED_FIGURES if lang_pair == POOLED else _COLUMNS
    has_column = rank_by in columns or lang_pair == POOLED or rank_by.startswith("average.")
    columns = columns if has_column else (*columns, rank_by)
    names = [name for name in columns if any(_has_value(of_metric.get(name)) for of_metric in figures.values())]
    ranking = evaluation.rankings.get(lang_pair)
    header = ["metric", "cluster", *(f"{name} *" if ranking and name == rank_by else name for name in names)]
    rows = []
    for cluster, metric in _order(figures, ranking, columns[0]):
        intervals = evaluation.intervals.get(lang_pair, {}).get(metric, {})
        cells = (_cell(figures[metric].get(name), intervals.get(name)) for name in names)
        rows.append([metric, cluster, *cells])
    return Table(header, rows, title)


def macro_table(evaluation: MetaEvaluation) -> Table | None:
    """Returns the figure that orders the metrics, or the parts of an average, by language pair; None for one pair."""
    pairs = [pair.lang_pair for pair in evaluation.pairs if pair.domain is None]
    rank_by = evaluation.options.ranked_by
    if len(pairs) < 2:
        return None
    parts = {"average.wmt23": averages.WMT23, "average.wmt24": averages.WMT24}.get(rank_by, (rank_by,))
    # A pooled accuracy is no mean of those of the language pairs.
    mean = rank_by if rank_by.startswith("average.") else f"macro.{rank_by}"
    pooled = evaluation.figures[POOLED]
    columns = [(lang_pair, part) for lang_pair in pairs for part in parts]
    rows = [
        [metric, _cell(pooled[metric][mean], None)]
        + [_cell(evaluation.figures[lang_pair][metric].get(part), None) for lang_pair, part in columns]
        for _, metric in _order(pooled, None, mean)
    ]
    names = (f"{lang_pair} {part}" if len(parts) > 1 else lang_pair for lang_pair, part in columns)
    header = ["metric", "mean", *names]
    return Table(header, rows, f"{rank_by} by language pair")


def pass_table(evaluation: MetaEvaluation, lang_pair: str) -> Table | None:
    """Returns the threshold of each metric with the highest F1 of good translations; None without `good`, or pooled."""
    good = evaluation.options.good
    pair = next((pair for pair in evaluation.pairs if pair.lang_pair == lang_pair), None)
    if good is None or pair is None:
        return None
    rows = []
    for metric, points in meta_evaluation.pass_curves(pair, good).items():
        if (best := pass_fail.best(points)) is not None:
            values = (best.precision, best.recall, best.f1, best.passed)
            rows.append([metric, f"{best.threshold:.4f}", *(f"{value:.4f}" for value in values)])
    title = f"{lang_pair}: good translations have a human score of {good:g} or more; threshold with the highest F1"
    return Table(["metric", "threshold", "precision", "recall", "f1", "passed"], rows, title)


def _order(
    figures: Mapping[str, Mapping[str, Measurement]], ranking: MetricRanking | None, otherwise: str
) -> Iterator[tuple[str, str]]:
    """Yields cluster and metric, best first; metrics that are not ranked come last, ordered by another figure."""
    ranked = () if ranking is None else ranking.metrics
    clusters: Sequence[object] = [""] * len(ranked) if ranking is None or ranking.clusters is None else ranking.clusters
    yield from zip(map(str, clusters), ranked, strict=True)

    def value(metric: str) -> float:
        figure = figures[metric].get(otherwise)
        return -math.inf if figure is None or figure.value is None else figure.value

    for metric in sorted(figures, key=value, reverse=True):
        if metric not in ranked:
            yield "-" if ranking is not None else "", metric


def _has_value(figure: Measurement | None) -> bool:
    return figure is not None and figure.value is not None


def _cell(figure: Measurement | None, interval: tuple[float, float] | None) -> str:
    if figure is None or figure.value is None:
        return "-"
    return f"{figure.value:.4f}" + ("" if interval is None else f" [{interval[0]:.3f}, {interval[1]:.3f}]")


def signatures(evaluation: MetaEvaluation) -> str:
    """Returns a line for each metric that has a signature; with that of each language pair where they differ."""
    lines = [f"{metric}: {text}" for pair in evaluation.pairs for metric, text in pair.signatures.items()]
    return "".join(f"{show(line)}\n" for line in dict.fromkeys(lines))


def undefined(evaluation: MetaEvaluation) -> Iterator[str]:
    """Yields why figures of the tables are undefined."""
    for lang_pair, figures in evaluation.figures.items():
        if lang_pair == POOLED and evaluation.n_pooled == 1:
            continue
        lacking: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for metric, of_metric in figures.items():
            reasons: dict[str, list[str]] = {}
            for name in POOLED_FIGURES if lang_pair == POOLED else _COLUMNS:
                problem = of_metric[name].problem if name in of_metric else None
                if problem:
                    reasons.setdefault(problem, []).append(name)
            for problem, names in reasons.items():
                lacking.setdefault((problem, tuple(names)), []).append(show(metric))
        for (problem, names_of_figures), metrics in lacking.items():
            yield f"{lang_pair} {abridged(metrics)}: no {', '.join(names_of_figures)}: {problem}"


def to_json(evaluation: MetaEvaluation) -> dict[str, Any]:
    """Returns all results as one object, whose keys docs/research/correlate.md lists."""
    return {
        "version": __version__,
        "settings": asdict(evaluation.options),
        "lang_pairs": {
            pair.lang_pair: {
                "gold": pair.gold.name,
                "domain": pair.domain,
                "reference": pair.reference,
                "systems": list(pair.gold.systems if pair.ranked is None else pair.ranked),
                "segments": _n_segments(pair),
                "pairs": None if pair.ranked is None or pair.gold.segment is None else pair.gold.segment.shape[1],
                "left_out": dict(pair.left_out),
            }
            for pair in evaluation.pairs
        },
        "metrics": _metrics(evaluation),
        "rankings": {
            name: {
                "figure": evaluation.options.ranked_by,
                "test": None if ranking.clusters is None else evaluation.options.significance,
                "metrics": list(ranking.metrics),
                "clusters": None if ranking.clusters is None else list(ranking.clusters),
                "p_values": [[finite(value) for value in row] for row in ranking.p_values.tolist()],
            }
            for name, ranking in evaluation.rankings.items()
        },
    }


def _n_segments(pair: LangPairScores) -> int | None:
    """Returns the number of segments, of ranks those with a pair; None if only systems are scored."""
    if pair.gold.segment is None:
        return None
    return pair.gold.segment.shape[1] if pair.ranked is None else len(set(pair.gold.numbers))


def _metrics(evaluation: MetaEvaluation) -> dict[str, dict[str, object]]:
    metrics: dict[str, dict[str, object]] = {}
    pairs = {pair.lang_pair: pair for pair in evaluation.pairs}
    for lang_pair, figures in evaluation.figures.items():
        for metric, of_metric in figures.items():
            node: dict[str, object] = nest({name: figure.value for name, figure in of_metric.items()})
            node["n"] = nest({name: figure.n for name, figure in of_metric.items()})
            node["undefined"] = nest({name: figure.undefined for name, figure in of_metric.items() if figure.undefined})
            node["problems"] = nest({name: figure.problem for name, figure in of_metric.items() if figure.problem})
            if lang_pair in evaluation.intervals:
                bounds = evaluation.intervals[lang_pair].get(metric, {})
                node["intervals"] = nest({name: list(ends) for name, ends in bounds.items()})
            if lang_pair in pairs:
                if (good := evaluation.options.good) is not None:
                    points = meta_evaluation.pass_curves(pairs[lang_pair], good).get(metric, ())
                    node["pass"] = [{name: finite(value) for name, value in asdict(point).items()} for point in points]
                node["top_n"] = evaluation.top_n[lang_pair].get(metric, {})
                node["name"] = pairs[lang_pair].full_names.get(metric, metric)
                node["signature"] = pairs[lang_pair].signatures.get(metric)
            metrics.setdefault(metric, {})[lang_pair] = node
    return metrics


def plots(evaluation: MetaEvaluation) -> dict[str, Sequence[Panel]]:
    """Returns panels by the name of their file: human by metric scores of systems; figures of the N best systems."""
    panels: dict[str, Sequence[Panel]] = {}
    for pair in evaluation.pairs:
        name = pair.lang_pair
        if pair.ranked is not None:  # no scores of systems
            lines = _lines(evaluation.top_n[name], "darr")
            panels[f"{name}.top-n"] = [Panel(f"{name}: the N systems that win most", "N", _TOP_N["darr"], lines=lines)]
            continue
        gold = pair.gold
        of_systems = {
            metric: zip(scores.system.tolist(), gold.system.tolist(), gold.systems, strict=True)
            for metric, scores in pair.metrics.items()
        }
        panels[f"{name}.systems"] = [
            Panel(f"{metric}, {name}", metric, "human score", [row for row in rows if all(map(math.isfinite, row[:2]))])
            for metric, rows in of_systems.items()
        ]
        if (good := evaluation.options.good) is not None:
            curves = meta_evaluation.pass_curves(pair, good)
            drawn: dict[str, Sequence[tuple[float, float | None]]] = {
                metric: [(point.recall, point.precision) for point in points if point.recall == point.recall]
                for metric, points in curves.items()
            }
            title = f"{name}: human score {good:g} or more"
            panels[f"{name}.pass"] = [Panel(title, "recall", "precision", lines=drawn)]
        panels[f"{name}.top-n"] = [
            Panel(f"{name}: the N best systems", "N", title, lines=lines)
            for key, title in _TOP_N.items()
            if (lines := _lines(evaluation.top_n[name], key)) or key in ("accuracy", "pearson")
        ]
    return panels


def _lines(top_n: Mapping[str, TopN], key: str) -> dict[str, Sequence[tuple[float, float | None]]]:
    """Returns a figure of the N best systems by metric, without metrics for which it is never defined."""
    lines = {metric: [*top[key].items()] for metric, top in top_n.items() if key in top}
    return {metric: line for metric, line in lines.items() if any(value is not None for _, value in line)}

"""The agreement of metrics with humans as tables, as one JSON object, and as plots."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from matese.render.json_objects import nest
from matese.render.labels import show
from matese.render.plots import Panel
from matese.render.tables import Table
from matese.version import __version__

if TYPE_CHECKING:
    from matese.evaluation.metrics.correlation import Measurement
    from matese.evaluation.metrics.meta_evaluation import MetaEvaluation
    from matese.evaluation.metrics.ranking import Ranking
    from matese.evaluation.metrics.scores import LangPairScores, Scores

_POOLED = "pooled"
_COLUMNS = (
    "system.pearson",
    "system.accuracy",
    "system.spa",
    "segment.pearson",
    "segment.kendall_b",
    "segment.acc_eq",
)
_POOLED_COLUMNS = ("system.accuracy", "average.wmt23", "average.wmt24")


def table(found: MetaEvaluation, lang_pair: str) -> Table:
    """Returns the table of a language pair or of "pooled"; its caption names the pair."""
    title = f"{len(found.pairs)} language pairs pooled"
    for one in found.pairs:
        if one.lang_pair == lang_pair:
            about = f"{lang_pair}: {len(one.gold.systems)} systems"
            title = about if one.reference is None else f"{about}, {one.reference}"
    figures, rank_by = found.figures[lang_pair], found.options.rank_by
    columns = _POOLED_COLUMNS if lang_pair == _POOLED else _COLUMNS
    has_column = rank_by in columns or lang_pair == _POOLED or rank_by.startswith("average.")
    shown = columns if has_column else (*columns, rank_by)
    ranking = found.rankings.get(lang_pair)
    header = ["metric", "cluster", *(f"{name} *" if ranking and name == rank_by else name for name in shown)]
    rows = []
    for cluster, metric in _order(figures, ranking, shown[0]):
        intervals = found.intervals.get(lang_pair, {}).get(metric, {})
        cells = (_cell(figures[metric].get(name), intervals.get(name)) for name in shown)
        rows.append([metric, cluster, *cells])
    return Table(header, rows, title)


def _order(
    figures: Mapping[str, Mapping[str, Measurement]], ranking: Ranking | None, otherwise: str
) -> Iterator[tuple[str, str]]:
    """Yields cluster and metric, best first; metrics that are not ranked come last, ordered by another figure."""
    ranked = () if ranking is None else ranking.metrics
    clusters = None if ranking is None else ranking.clusters
    for place, metric in enumerate(ranked):
        yield "" if clusters is None else str(clusters[place]), metric

    def value(metric: str) -> float:
        found = figures[metric].get(otherwise)
        return -math.inf if found is None or found.value is None else found.value

    for metric in sorted(figures, key=value, reverse=True):
        if metric not in ranked:
            yield "-" if ranking is not None else "", metric


def _cell(one: Measurement | None, interval: tuple[float, float] | None) -> str:
    if one is None or one.value is None:
        return "-"
    bounds = "" if interval is None else f" [{interval[0]:.3f}, {interval[1]:.3f}]"
    return f"{one.value:.4f}{bounds}"


def signatures(found: MetaEvaluation) -> str:
    """Returns a line for each metric that has a signature; with that of each language pair where they differ."""
    lines = [f"{metric}: {text}" for pair in found.pairs for metric, text in pair.signatures.items()]
    return "".join(f"{show(line)}\n" for line in dict.fromkeys(lines))


def undefined(found: MetaEvaluation) -> Iterator[str]:
    """Yields why figures of the tables are undefined."""
    for lang_pair, figures in found.figures.items():
        if lang_pair == _POOLED and len(found.pairs) == 1:
            continue
        reasons: dict[tuple[str, str], list[str]] = {}
        for metric, of_metric in figures.items():
            for name in _POOLED_COLUMNS if lang_pair == _POOLED else _COLUMNS:
                problem = of_metric[name].problem if name in of_metric else None
                if problem:
                    reasons.setdefault((metric, problem), []).append(name)
        for (metric, problem), names in reasons.items():
            yield f"{lang_pair} {metric}: no {', '.join(names)}: {problem}"


def to_json(found: MetaEvaluation) -> dict[str, Any]:
    """Returns all results as one object, whose keys docs/correlate.md lists."""
    return {
        "version": __version__,
        "settings": asdict(found.options),
        "lang_pairs": {pair.lang_pair: _about(pair) for pair in found.pairs},
        "metrics": _metrics(found),
        "rankings": {name: _ranking(one, found) for name, one in found.rankings.items()},
    }


def _about(one: LangPairScores) -> dict[str, object]:
    return {
        "gold": one.gold.name,
        "reference": one.reference,
        "systems": list(one.gold.systems),
        "segments": None if one.gold.segment is None else one.gold.segment.shape[1],
        "left_out": dict(one.left_out),
    }


def _metrics(found: MetaEvaluation) -> dict[str, dict[str, object]]:
    metrics: dict[str, dict[str, object]] = {}
    pairs = {pair.lang_pair: pair for pair in found.pairs}
    for lang_pair, figures in found.figures.items():
        for metric, of_metric in figures.items():
            node: dict[str, object] = nest({name: one.value for name, one in of_metric.items()})
            node["n"] = nest({name: one.n for name, one in of_metric.items()})
            node["undefined"] = nest({name: one.undefined for name, one in of_metric.items() if one.undefined})
            node["problems"] = nest({name: one.problem for name, one in of_metric.items() if one.problem})
            if lang_pair in found.intervals:
                bounds = found.intervals[lang_pair].get(metric, {})
                node["intervals"] = nest({name: list(one) for name, one in bounds.items()})
            if lang_pair in pairs:
                node["top_n"] = found.top_n[lang_pair].get(metric, {})
                node["name"] = pairs[lang_pair].full_names.get(metric, metric)
                node["signature"] = pairs[lang_pair].signatures.get(metric)
            metrics.setdefault(metric, {})[lang_pair] = node
    return metrics


def _ranking(ranking: Ranking, found: MetaEvaluation) -> dict[str, object]:
    return {
        "figure": found.options.rank_by,
        "test": None if ranking.clusters is None else found.options.test,
        "metrics": list(ranking.metrics),
        "clusters": None if ranking.clusters is None else list(ranking.clusters),
        "p_values": [[None if math.isnan(value) else float(value) for value in row] for row in ranking.p_values],
    }


def plots(found: MetaEvaluation) -> dict[str, Sequence[Panel]]:
    """Returns panels by the name of their file: human by metric scores of systems; figures of the N best systems."""
    drawn: dict[str, Sequence[Panel]] = {}
    for one in found.pairs:
        drawn[f"{one.lang_pair}.systems"] = [
            Panel(
                f"{metric}, {one.lang_pair}",
                metric,
                "human score",
                [row for row in _rows(one, scores) if math.isfinite(row[0]) and math.isfinite(row[1])],
            )
            for metric, scores in one.metrics.items()
        ]
        drawn[f"{one.lang_pair}.top-n"] = [
            Panel(
                f"{one.lang_pair}: the N best systems",
                "N",
                title,
                lines={metric: [*top[key].items()] for metric, top in found.top_n[one.lang_pair].items()},
            )
            for key, title in (("accuracy", "pairwise accuracy"), ("pearson", "Pearson"))
        ]
    return drawn


def _rows(one: LangPairScores, scores: Scores) -> list[tuple[float, float, str]]:
    return list(zip(scores.system.tolist(), one.gold.system.tolist(), one.gold.systems, strict=True))

"""What `matese correlate` shows: tables, JSON, plots, and why some figures are missing."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import matese
from matese.cli.correlate_run import POOLED, Asked, Found
from matese.cli.scored import Loaded
from matese.render import plots as drawing
from matese.render.visible import show

if TYPE_CHECKING:
    from matese.evaluation.correlation import Statistic
    from matese.evaluation.metrics import Figures, Settings
    from matese.evaluation.ranking import Ranking

_COLUMNS = (
    "system.pearson",
    "system.accuracy",
    "system.spa",
    "segment.pearson",
    "segment.kendall_b",
    "segment.acc_eq",
)
_POOLED_COLUMNS = ("system.accuracy", "average.wmt23", "average.wmt24")


def tables(loaded: Sequence[Loaded], found: Found, asked: Asked) -> str:
    """Returns a table for each language pair, and one of what is pooled where there are several."""
    from rich.console import Console

    console = Console(file=io.StringIO(), width=140, no_color=True)
    for one in loaded:
        systems = len(one.pair.gold.systems)
        about = f"{one.pair.name}: {systems} systems" + ("" if one.reference is None else f", {one.reference}")
        _print_table(console, show(about), one.pair.name, found, asked, _COLUMNS)
    if len(loaded) > 1 or POOLED in found.rankings:
        _print_table(console, f"{len(loaded)} language pairs pooled", POOLED, found, asked, _POOLED_COLUMNS)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def _print_table(
    console: object, title: str, lang_pair: str, found: Found, asked: Asked, columns: Sequence[str]
) -> None:
    from rich.console import Console
    from rich.table import Table

    assert isinstance(console, Console)
    figures = found.figures[lang_pair]
    is_averaged = asked.rank_by.startswith("average.")
    shown = columns if asked.rank_by in columns or lang_pair == POOLED or is_averaged else (*columns, asked.rank_by)
    ranking = found.rankings.get(lang_pair)
    table = Table(title=title)
    table.add_column("cluster", justify="right")
    table.add_column("metric")
    for name in shown:
        table.add_column(name + (" *" if ranking is not None and name == asked.rank_by else ""), justify="right")
    for cluster, metric in _order(figures, ranking, shown[0]):
        cells = [
            _cell(figures[metric].get(name), found.intervals.get(lang_pair, {}).get(metric, {}).get(name))
            for name in shown
        ]
        table.add_row(cluster, show(metric), *cells)
    console.print(table)


def _order(figures: Mapping[str, Figures], ranking: Ranking | None, otherwise: str) -> Iterator[tuple[str, str]]:
    """Yields cluster and metric, best first; those that are not ranked come last, in the order of another figure."""
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


def _cell(one: Statistic | None, interval: tuple[float, float] | None) -> str:
    if one is None or one.value is None:
        return "-"
    bounds = "" if interval is None else f" [{interval[0]:.3f}, {interval[1]:.3f}]"
    return f"{one.value:.4f}{bounds}"


def notices(found: Found) -> Iterator[str]:
    """Yields why figures of the tables are undefined."""
    for lang_pair, figures in found.figures.items():
        reasons: dict[tuple[str, str], list[str]] = {}
        for metric, of_metric in figures.items():
            for name in _POOLED_COLUMNS if lang_pair == POOLED else _COLUMNS:
                problem = of_metric[name].problem if name in of_metric else None
                # An average says so only where there are several language pairs to average.
                if problem and (lang_pair != POOLED or len(found.figures) > 2):
                    reasons.setdefault((metric, problem), []).append(name)
        for (metric, problem), names in reasons.items():
            yield f"{lang_pair} {metric}: no {', '.join(names)}: {problem}"


def to_json(loaded: Sequence[Loaded], found: Found, asked: Asked, settings: Settings) -> str:
    """Returns all results as one object; docs/correlate.md has its keys."""
    whole = {
        "version": matese.__version__,
        "settings": {**asdict(settings), **asdict(asked)},
        "lang_pairs": {one.pair.name: _about(one) for one in loaded},
        "metrics": _metrics(loaded, found),
        "rankings": {name: _ranking(one, asked) for name, one in found.rankings.items()},
    }
    return json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _about(one: Loaded) -> dict[str, object]:
    segment = one.pair.gold.segment
    return {
        "gold": one.pair.gold.name.removesuffix(f" ({one.pair.name})"),
        "reference": one.reference,
        "systems": list(one.pair.gold.systems),
        "segments": None if segment is None else segment.shape[1],
        "left_out": dict(one.left_out),
    }


def _metrics(loaded: Sequence[Loaded], found: Found) -> dict[str, dict[str, object]]:
    metrics: dict[str, dict[str, object]] = {}
    of_pair = {one.pair.name: one for one in loaded}
    for lang_pair, figures in found.figures.items():
        for metric, of_metric in figures.items():
            node: dict[str, object] = _nested({name: one.value for name, one in of_metric.items()})
            node["n"] = _nested({name: one.n for name, one in of_metric.items()})
            node["undefined"] = _nested({name: one.undefined for name, one in of_metric.items() if one.undefined})
            node["problems"] = _nested({name: one.problem for name, one in of_metric.items() if one.problem})
            if lang_pair in found.intervals:
                bounds = found.intervals[lang_pair].get(metric, {})
                node["intervals"] = _nested({name: list(one) for name, one in bounds.items()})
            if lang_pair in of_pair:
                about = of_pair[lang_pair]
                node["top_n"] = found.top_n[lang_pair].get(metric, {})
                node["name"] = about.full_names.get(metric, metric)
                node["signature"] = about.signatures.get(metric)
            metrics.setdefault(metric, {})[lang_pair] = node
    return metrics


def _nested(flat: Mapping[str, object]) -> dict[str, object]:
    """Returns {"system": {"pearson": x}} for {"system.pearson": x}."""
    nested: dict[str, dict[str, object]] = {}
    for name, value in flat.items():
        level, _, key = name.partition(".")
        nested.setdefault(level, {})[key] = value
    return dict(nested)


def _ranking(ranking: Ranking, asked: Asked) -> dict[str, object]:
    return {
        "figure": asked.rank_by,
        "test": None if ranking.clusters is None else asked.test,
        "metrics": list(ranking.metrics),
        "clusters": None if ranking.clusters is None else list(ranking.clusters),
        "p_values": [[None if math.isnan(value) else float(value) for value in row] for row in ranking.p_values],
    }


def plots(loaded: Sequence[Loaded], found: Found) -> dict[str, str]:
    """Returns the plots by the names of their files."""
    drawn: dict[str, str] = {}
    for one in loaded:
        gold, name = one.pair.gold, one.pair.name
        panels = []
        for metric, scores in one.pair.metrics.items():
            rows = zip(scores.system.tolist(), gold.system.tolist(), gold.systems, strict=True)
            points = [(x, y, system) for x, y, system in rows if math.isfinite(x) and math.isfinite(y)]
            panels.append(drawing.Panel(f"{metric}, {name}", metric, "human score", points))
        drawn[f"{name}.systems.svg"] = drawing.svg(panels)
        top = found.top_n[name]
        titles = {"accuracy": "pairwise accuracy", "pearson": "Pearson"}
        best = [
            drawing.Panel(
                f"{name}: the N best systems",
                "N",
                title,
                lines={
                    metric: [(float(n), value) for n, value in of_metric[key].items()]
                    for metric, of_metric in top.items()
                },
            )
            for key, title in titles.items()
        ]
        drawn[f"{name}.top-n.svg"] = drawing.svg(best, columns=2)
    return drawn

"""The evaluation of a prediction as text and as one JSON object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from matese.render import tables
from matese.render.json_objects import nest_differences, nest_figures
from matese.render.labels import show
from matese.render.tables import Table, decimal, interval

if TYPE_CHECKING:
    from matese.evaluation.spans.evaluation import Evaluation, Group, PredictionFigures
    from matese.evaluation.spans.pair_statistics import FigureOptions

_OF_GROUPS = ("mpp.micro.precision", "mpp.micro.recall", "mpp.micro.f1", "char_wmt25.f1", "hsh", "tsh", "score.pearson")
_OF_CATEGORIES = (
    *("tsh", "mpp.micro.recall", "hsh", "mpp.micro.precision"),
    *("category.precision", "category.recall", "category.f1"),
)


def text(found: Evaluation) -> Iterator[object]:
    """Yields a heading and the tables of all figures, of the groups, and of the differences."""
    one = found.predicted
    yield f"{_heading(found)}\n\n"
    ceiling = None if found.ceiling is None else found.ceiling.figures
    for table in (tables.rates, tables.other_figures):
        if (made := table(one.figures, with_intervals=found.options.n_resamples > 0, ceiling=ceiling)).rows:
            yield made
    if found.ceiling is not None:
        n_ratings = f"{found.ceiling.n_segments:,}"
        yield f"raters: each of {n_ratings} ratings against the other raters of its segment, merged\n\n"
    if one.bins:
        rows = [
            [f"{row.low:.1f} .. {row.high:.1f}", f"{row.n:,}", decimal(row.confidence), decimal(row.precision)]
            for row in one.bins
        ]
        yield Table(["confidence", "spans", "mean", "hit"], rows)
    for grouping, groups in found.groups.items():
        yield _group_table(grouping, groups)
    if found.versus is not None:
        rows = [[name, decimal(one.value), interval(one), decimal(one.p)] for name, one in found.differences.items()]
        yield Table([f"minus {show(found.versus.name)}", "difference", "95% interval", "p"], rows)


def _heading(found: Evaluation) -> str:
    one = found.predicted
    segments = f"{one.n_segments:,} segments"
    sides = ((found.gold, one.n_spans.gold), (one.name, one.n_spans.predicted))
    if without := [show(name) for name, n_spans in sides if n_spans is None]:
        verb = "has" if len(without) == 1 else "have"
        return f"{segments}; {' and '.join(without)} {verb} no spans, so only scores are compared"
    return (
        f"{segments}, {one.n_spans.gold:,} gold spans in {show(found.gold)}, {one.n_spans.predicted:,} predicted in "
        f"{show(one.name)}; tags by {show(found.options.tagging.unit)}"
    )


def _group_table(grouping: str, groups: Mapping[str, Group]) -> Table:
    wanted = _OF_CATEGORIES if grouping == "category" else _OF_GROUPS
    shown = [key for key in wanted if any(key in group.figures for group in groups.values())]
    shown = shown or ["expected_score.pearson"]
    rows = [
        [
            name,
            *("-" if n is None else f"{n:,}" for n in (group.n_segments, group.n_spans.gold, group.n_spans.predicted)),
            *(decimal(group.figures[key].value) for key in shown),
        ]
        for name, group in groups.items()
    ]
    return Table([grouping, "segments", "gold", "predicted", *shown], rows)


def to_json(found: Evaluation) -> dict[str, Any]:
    """Returns all figures as one object, whose keys docs/evaluation.md lists."""
    whole = _prediction(found.predicted, found)
    if found.groups:
        whole["by"] = {
            grouping: {
                name: {
                    "segments": group.n_segments,
                    "spans": {"gold": group.n_spans.gold, "predicted": group.n_spans.predicted},
                    **nest_figures(group.figures, with_intervals=found.options.n_resamples > 0),
                }
                for name, group in groups.items()
            }
            for grouping, groups in found.groups.items()
        }
    if found.ceiling is not None:
        figures = nest_figures(found.ceiling.figures, with_intervals=False)
        whole["ceiling"] = {"ratings": found.ceiling.n_segments, **figures}
    if found.versus is not None:
        whole["versus"] = _prediction(found.versus, found)
        whole["difference"] = nest_differences(found.differences)
    return whole


def settings(options: FigureOptions) -> dict[str, Any]:
    """Returns how figures were computed."""
    return {
        "unit": options.tagging.unit,
        "weights": options.weights.name,
        "severity_penalty": options.severity_penalty,
        "severity_weights": options.severity_weights,
        "bootstrap": options.n_resamples,
        "seed": options.seed,
        **({} if options.interval_scale == 1 else {"interval_scale": options.interval_scale}),
    }


def _prediction(one: PredictionFigures, found: Evaluation) -> dict[str, Any]:
    whole: dict[str, Any] = {
        "gold": found.gold,
        "predicted": one.name,
        "raters": list(one.raters),
        "settings": settings(found.options),
        "segments": one.n_segments,
        "spans": asdict(one.n_spans),
        **nest_figures(one.figures, with_intervals=found.options.n_resamples > 0),
    }
    if one.confusion:
        whole["tags"]["confusion"] = {
            "tags": list(found.options.tagging.names),
            "gold_by_predicted": [list(row) for row in one.confusion],
        }
    if one.bins:
        whole["calibration"]["bins"] = [asdict(row) for row in one.bins]
    return whole

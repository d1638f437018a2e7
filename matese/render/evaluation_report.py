"""The evaluation of a prediction as text and as one JSON object."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from matese.errors import counted
from matese.evaluation.spans.figure_texts import DECISIVE, MAIN
from matese.evaluation.statistics import pass_fail
from matese.render import tables
from matese.render.json_objects import difference, finite, nest, nest_figures
from matese.render.labels import percent, show
from matese.render.tables import Table, decimal, interval, p_equals, p_value

if TYPE_CHECKING:
    from matese.evaluation.spans.evaluation import Evaluation, PredictionFigures
    from matese.evaluation.spans.pair_statistics import FigureOptions
    from matese.evaluation.statistics.bootstrap import Figure

_ALPHA = 0.05
_OF_GROUPS = ("mpp.micro.precision", "mpp.micro.recall", "mpp.micro.f1", "char_wmt25.f1", "hsh", "tsh", "score.pearson")
_OF_SENTINELS = (
    "mpp.micro.f1",
    "mp.micro.f1",
    "em.micro.f1",
    "char_wmt23.f1",
    "char_wmt25.f1",
    "soft.f1",
    "hsh",
    "tsh",
)
_OF_PASSES = ("threshold", "precision", "recall", "f1", "passed")
_OF_CATEGORIES = (
    *("tsh", "mpp.micro.recall", "hsh", "mpp.micro.precision"),
    *("category.precision", "category.recall", "category.f1"),
)


def text(evaluation: Evaluation, *, is_all: bool = False) -> Iterator[object]:
    """Yields what the figures say, a table of the main ones, and what was asked for; with `is_all`, all figures."""
    predicted = evaluation.predicted
    ceiling = evaluation.ceiling
    yield "\n".join([_heading(evaluation), _origin(evaluation), *_in_words(evaluation)]) + "\n\n"
    yield _main_table(evaluation)
    if ceiling is not None:
        n_ratings = counted(ceiling.n_segments, "rating")
        yield f"raters: each of {n_ratings} against the other raters of its segment, merged\n\n"
    yield from _requested(evaluation)
    if not is_all:
        yield tables.MORE
        return
    with_intervals = evaluation.options.figures.bootstrap > 0
    of_raters = None if ceiling is None else ceiling.figures
    yield from tables.of_figures(predicted.figures, with_intervals=with_intervals, ceiling=of_raters)
    if predicted.bins:
        rows = [
            [f"{row.low:.1f} .. {row.high:.1f}", f"{row.n:,}", decimal(row.confidence), decimal(row.precision)]
            for row in predicted.bins
        ]
        yield Table(["confidence", "spans", "mean", "hit"], rows)
    if evaluation.versus is not None:
        rows = [
            [name, decimal(figure.value), interval(figure), p_value(figure.p)]
            for name, figure in evaluation.differences.items()
        ]
        yield Table([f"minus {show(evaluation.versus.name)}", "difference", "95% interval", "p"], rows)


def main_figures(evaluation: Evaluation) -> dict[str, Figure]:
    """Returns the figures of the prediction that are always shown."""
    figures = evaluation.predicted.figures
    return {key: figures[key] for key in MAIN if key in figures}


def _main_table(evaluation: Evaluation) -> Table:
    """Returns the main figures with their intervals, those of the raters, and the difference from the other one."""
    figures = main_figures(evaluation)
    with_intervals = evaluation.options.figures.bootstrap > 0
    ceiling = evaluation.ceiling
    versus = evaluation.versus
    header = ["", show(evaluation.predicted.name), *(["95% interval"] if with_intervals else [])]
    header += [] if ceiling is None else ["raters"]
    header += [] if versus is None else [show(versus.name), "difference", *(["p"] if with_intervals else [])]
    rows = []
    for key, figure in figures.items():
        row = [f"{key}: {MAIN[key]}", decimal(figure.value), *([interval(figure)] if with_intervals else [])]
        if ceiling is not None:
            row.append(decimal(ceiling.figures[key].value) if key in ceiling.figures else "-")
        if versus is not None:
            difference = evaluation.differences.get(key)
            row.append(decimal(versus.figures[key].value) if key in versus.figures else "-")
            row.append("-" if difference is None else f"{difference.value:+.4f}")
            row += [] if not with_intervals else ["-" if difference is None else p_value(difference.p)]
        rows.append(row)
    return Table(header, rows)


def _requested(evaluation: Evaluation) -> Iterator[Table]:
    """Yields the tables of the groups, of the sentinels and of good translations, as far as they were asked for."""
    predicted = evaluation.predicted
    for grouping, groups in evaluation.groups.items():
        wanted = _OF_CATEGORIES if grouping == "category" else _OF_GROUPS
        keys = [key for key in wanted if any(key in group.figures for group in groups.values())]
        keys = keys or ["expected_score.pearson"]
        rows = []
        for name, group in groups.items():
            counts = (group.n_segments, group.n_spans.gold, group.n_spans.predicted)
            figures = (decimal(group.figures[key].value) for key in keys)
            rows.append([name, *("-" if n is None else f"{n:,}" for n in counts), *figures])
        yield Table([grouping, "segments", "gold", "predicted", *keys], rows)
    if evaluation.sentinels:
        compared = {"prediction": predicted.figures, **evaluation.sentinels}
        rows = [[name, *(decimal(figures[key].value) for key in _OF_SENTINELS)] for name, figures in compared.items()]
        yield Table(["sentinel", *_OF_SENTINELS], rows)
    if evaluation.pass_curves:
        best = {name: pass_fail.best(points) for name, points in evaluation.pass_curves.items()}
        rows = [
            [name, *(decimal(getattr(point, key)) for key in _OF_PASSES)]
            for name, point in best.items()
            if point is not None
        ]
        yield Table([f"good: {evaluation.options.figures.good:g} or more", *_OF_PASSES], rows)


def _heading(evaluation: Evaluation) -> str:
    predicted = evaluation.predicted
    gold = show(evaluation.gold)
    prediction = show(predicted.name)
    n_spans = predicted.n_spans
    segments = counted(predicted.n_segments, "segment")
    if without := [name for name, n in ((gold, n_spans.gold), (prediction, n_spans.predicted)) if n is None]:
        verb = "has" if len(without) == 1 else "have"
        return f"{segments}; {' and '.join(without)} {verb} no spans, so only scores are compared"
    return (
        f"{segments}, {n_spans.gold:,} gold spans in {gold}, {n_spans.predicted:,} predicted in {prediction}; "
        f"tags by {show(evaluation.options.tagging.unit)}"
    )


def _origin(evaluation: Evaluation) -> str:
    """Returns the weights of the MQM scores, how gold ratings were merged, and who predicted."""
    merged = f"; {show(evaluation.gold)} merged by {evaluation.merge}" if evaluation.merge else ""
    of_both = [evaluation.predicted, *([evaluation.versus] if evaluation.versus else [])]
    raters = "".join(
        f"; {show(prediction.name)} by {show(' '.join(prediction.raters))}"
        for prediction in of_both
        if any(prediction.raters)
    )
    return f"MQM scores with the weights {show(evaluation.options.weights.name)}{merged}{raters}"


def _in_words(evaluation: Evaluation) -> Iterator[str]:
    """Yields the first figures as sentences, for readers who do not know their names."""
    predicted = evaluation.predicted
    figures = predicted.figures
    gold = show(evaluation.gold)
    prediction = show(predicted.name)
    n_spans = predicted.n_spans
    if n_spans.gold and n_spans.predicted is not None:
        hits = _share(figures["tsh"].value, n_spans.gold)
        yield f"Of {counted(n_spans.gold, 'error')} marked in {gold}, {prediction} finds {hits}, at least in part."
    if n_spans.predicted and n_spans.gold is not None:
        hits = _share(figures["hsh"].value, n_spans.predicted)
        yield f"Of {counted(n_spans.predicted, 'error')} marked in {prediction}, {hits} overlap one in {gold}."
    if "error_free.mcc" in figures:
        precision, recall = (figures[f"error_free.{rate}"].value for rate in ("precision", "recall"))
        if math.isfinite(precision) and math.isfinite(recall):
            yield (
                f"Of the segments that {prediction} labels as free of errors, {percent(precision)} are so in "
                f"{gold}; of all that are, it labels {percent(recall)}."
            )
    if evaluation.versus is not None:
        yield _versus_in_words(evaluation)


def _versus_in_words(evaluation: Evaluation) -> str:
    """Returns how the prediction differs from the other one in the first of the main figures that decide."""
    versus = evaluation.versus
    assert versus is not None
    key = next((key for key in DECISIVE if key in evaluation.differences), next(iter(evaluation.differences)))
    difference = evaluation.differences[key]
    names = (show(evaluation.predicted.name), show(versus.name))
    if not math.isfinite(difference.value):
        return f"{names[0]} and {names[1]} cannot be compared in {key}, which is undefined."
    word = "better than" if difference.value > 0 else "worse than" if difference.value < 0 else "as good as"
    claim = f"{names[0]} is {word} {names[1]} in {MAIN.get(key, key)} ({key}): {difference.value:+.3f}"
    if not math.isfinite(difference.p):
        return f"{claim}; --bootstrap 1000 tests whether that is chance."
    is_certain = difference.p <= _ALPHA
    surely = "significantly" if is_certain else "not significantly"
    ends = f"95 % {difference.low:.3f} to {difference.high:.3f}"
    return f"{claim} ({ends}, {p_equals(difference.p)}: {surely} different)."


def _share(share: float, n: int) -> str:
    """Returns a part of a number, as in "45 (38 %)"."""
    return f"{round(share * n):,} ({percent(share)})"


def to_json(evaluation: Evaluation) -> dict[str, Any]:
    """Returns all figures as one object, whose keys docs/research/evaluation.md lists."""
    whole = _prediction(evaluation.predicted, evaluation)
    if evaluation.groups:
        whole["by"] = {
            grouping: {
                name: {
                    "segments": group.n_segments,
                    "spans": {"gold": group.n_spans.gold, "predicted": group.n_spans.predicted},
                    **nest_figures(group.figures, with_intervals=evaluation.options.figures.bootstrap > 0),
                }
                for name, group in groups.items()
            }
            for grouping, groups in evaluation.groups.items()
        }
    if evaluation.pass_curves:
        whole["pass"] = {
            name: [{key: finite(value) for key, value in asdict(point).items()} for point in points]
            for name, points in evaluation.pass_curves.items()
        }
    if evaluation.sentinels:
        whole["sentinels"] = {
            name: nest_figures(of_sentinel, with_intervals=False) for name, of_sentinel in evaluation.sentinels.items()
        }
    if evaluation.ceiling is not None:
        figures = nest_figures(evaluation.ceiling.figures, with_intervals=False)
        whole["ceiling"] = {"ratings": evaluation.ceiling.n_segments, **figures}
    if evaluation.versus is not None:
        whole["versus"] = _prediction(evaluation.versus, evaluation)
        whole["difference"] = nest({name: difference(figure) for name, figure in evaluation.differences.items()})
    return whole


def settings(options: FigureOptions) -> dict[str, Any]:
    """Returns how figures were computed."""
    return {
        "unit": options.tagging.unit,
        "weights": options.weights.name,
        "severity_penalty": options.figures.severity_penalty,
        "severity_weights": options.figures.severity_weights,
        "bootstrap": options.figures.bootstrap,
        "seed": options.figures.seed,
        **({} if options.figures.interval_scale == 1 else {"interval_scale": options.figures.interval_scale}),
    }


def _prediction(prediction: PredictionFigures, evaluation: Evaluation) -> dict[str, Any]:
    whole: dict[str, Any] = {
        "gold": evaluation.gold,
        "predicted": prediction.name,
        "raters": list(prediction.raters),
        "settings": {**settings(evaluation.options), **({"merge": evaluation.merge} if evaluation.merge else {})},
        "segments": prediction.n_segments,
        "spans": asdict(prediction.n_spans),
        **nest_figures(prediction.figures, with_intervals=evaluation.options.figures.bootstrap > 0),
    }
    if prediction.confusion:
        gold_by_predicted = [list(row) for row in prediction.confusion]
        whole["tags"]["confusion"] = {
            "tags": list(evaluation.options.tagging.names),
            "gold_by_predicted": gold_by_predicted,
        }
    if prediction.bins:
        whole["calibration"]["bins"] = [asdict(row) for row in prediction.bins]
    return whole

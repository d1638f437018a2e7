r"""Compare a model's spans and scores with human ratings, and with BLEU, chrF, TER and optionally BERTScore.

    python -m benchmarks.quality --data data/prepared/{dev,wmt22-test,bio-test,esa-test}.jsonl \
        --json benchmarks/results/quality-mini.json

Only segments with a reference and a human score are used, so that all kinds of input and all baselines are measured on
the same segments. Of several references, the first is read; of several raters, the first counts.

Spans: `matese evaluate` on the model's tokens, the number of spans per segment of the model and of the raters, and the
share of segments without a human mark that the model marks. Scores: `matese correlate` for the expected score and for
the score of the spans, by test set and language pair; "all" is the mean over these, and the share of all pairs of
systems that have the same order as in the raters' scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import matese
from benchmarks import markdown
from matese import mqm
from matese.annotation import Estimate, Rating, SegmentKey
from matese.evaluation.metrics.correlation_options import EMBEDDING_BASELINES, SACREBLEU_BASELINES
from matese.formats.tables import jsonl
from matese.model.model_input import with_inputs
from matese.tasks import baselines as metrics

OF_SPANS = {
    "tags.macro.precision": "P",
    "tags.macro.recall": "R",
    "tags.macro.f1": "F1",
    "hsh": "HSH",
    "tsh": "TSH",
    "spans": "spans per segment",
    "gold_spans": "of the raters",
    "marked_free": "marked though free of errors",
}
OF_SCORES = {
    "segment.pearson": "Pearson",
    "segment.kendall_b": "Kendall b",
    "segment.acc_eq": "acc*eq",
    "system.accuracy": "pairs of systems",
}
Figures = dict[str, float | None]
ALL = "all"


def main() -> None:
    """Prints the tables in Markdown and writes all figures as JSON."""
    parser = markdown.parser(__doc__, "--model", "--every", "--json")
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="gold Ratings, JSONL")
    parser.add_argument("--inputs", nargs="+", help="kinds of input to measure; default: all that the model reads")
    parser.add_argument("--encoder", help="also measure BERTScore and YiSi-like with this encoder")
    arguments = parser.parse_args()
    annotator = matese.load(arguments.model)
    figures: dict[str, Any] = {"model": annotator.name, "every": arguments.every, "tests": {}}
    print(f"Model: `{annotator.name}`.")
    for path in arguments.data:
        golds = choose(jsonl.read(path), arguments.every)
        predictions = {
            inputs: list(annotator.annotate_segments(with_inputs(gold.segment, inputs) for gold in golds))
            for inputs in arguments.inputs or annotator.config.texts.inputs
        }
        spans = {inputs: measure_spans(golds, predicted, arguments.model) for inputs, predicted in predictions.items()}
        scores = measure_scores(golds, predictions, arguments.encoder)
        figures["tests"][path.stem] = {"segments": len(golds), "spans": spans, "scores": scores}
        print(f"\n## {path.stem}: {len(golds):,} segments\n")
        print(*_table("input", OF_SPANS, spans), "", sep="\n")
        rows = {f"{part} | {metric}": row for part, metrics in scores.items() for metric, row in metrics.items()}
        print(*_table("part | metric", OF_SCORES, rows), sep="\n", flush=True)
    markdown.write_json(arguments.json, figures)


def choose(ratings: Iterator[Rating], every: int = 1) -> list[Rating]:
    """Returns the first usable rating of each segment, for every K-th source."""
    usable: dict[SegmentKey, Rating] = {}
    for number, rating in enumerate(ratings):
        key = rating.segment.key
        if key is None or None in (rating.errors, rating.overall) or not rating.segment.references:
            continue
        if key.index is None:  # some rows of WMT22 whose text is not in the test set
            key = replace(key, index=10**6 + number)
        usable.setdefault(key, replace(rating, segment=replace(rating.segment, key=key)))
    sources = sorted({rating.segment.source or "" for rating in usable.values()})
    taken = set(sources[::every])
    return [rating for rating in usable.values() if (rating.segment.source or "") in taken]


def measure_spans(golds: Sequence[Rating], predicted: Sequence[Rating], unit: str) -> Figures:
    """Returns the figures of the model's spans; `unit` names the model, whose tokens are the units of the tags."""
    figures = matese.evaluate(golds, predicted, figures=matese.SpanFigures(unit=unit)).figures
    free = [not mqm.score(gold) for gold in golds]
    return {
        **{name: figures[name].value for name in OF_SPANS if name in figures},
        "spans": fmean(len(rating.errors or ()) for rating in predicted),
        "gold_spans": fmean(len(rating.errors or ()) for rating in golds),
        "marked_free": fmean(
            bool(mqm.score(rating)) for rating, is_free in zip(predicted, free, strict=True) if is_free
        ),
    }


def measure_scores(
    golds: Sequence[Rating], predictions: Mapping[str, Sequence[Rating]], encoder: str | None = None
) -> dict[str, dict[str, Figures]]:
    """Returns the figures of each metric by test set and language pair, then those of "all"."""
    metric_ratings: dict[str, list[Rating]] = {}
    for inputs, predicted in predictions.items():
        metric_ratings[f"{inputs}, expected score"] = [replace(rating, errors=None) for rating in predicted]
        metric_ratings[f"{inputs}, score"] = scored(golds, [mqm.score(rating) for rating in predicted])
    metric_ratings |= {name: scored(golds, values) for name, values in baselines(golds, encoder).items()}
    return correlations(golds, metric_ratings)


def correlations(golds: Sequence[Rating], metrics: Mapping[str, Sequence[Rating]]) -> dict[str, dict[str, Figures]]:
    """Returns the figures of each metric by test set and language pair, then those of "all"."""
    by_part = matese.correlate(
        gold=[replace(gold, errors=None) for gold in golds],
        metric=metrics,
        figures=matese.CorrelationFigures(rank_by="segment.pearson", samples=1, significance="none"),
    ).figures
    parts: dict[str, dict[str, Figures]] = {
        part: {
            metric: {name: figures[name].value for name in OF_SCORES if name in figures}
            for metric, figures in by_metric.items()
        }
        for part, by_metric in by_part.items()
    }
    pooled = parts.pop("pooled")
    total: dict[str, Figures] = {}
    for metric in metrics:
        means = {name: _mean(part[metric].get(name) for part in parts.values()) for name in OF_SCORES}
        total[metric] = means | pooled[metric]
    return {**parts, ALL: total}


def _mean(values: Iterable[float | None]) -> float | None:
    finite = [value for value in values if value is not None and math.isfinite(value)]
    return fmean(finite) if finite else None


def scored(golds: Sequence[Rating], values: Sequence[float]) -> list[Rating]:
    """Returns ratings of the gold ratings' segments with these scores."""
    return [
        Rating(gold.segment, None, None, estimate=Estimate(value, "z"))
        for gold, value in zip(golds, values, strict=True)
    ]


def baselines(
    golds: Sequence[Rating], encoder: str | None = None, *, names: Sequence[str] = tuple(SACREBLEU_BASELINES)
) -> dict[str, list[float]]:
    """Returns sentence BLEU, chrF and TER (negated) against the first reference; BERTScore with an encoder."""
    segments = [replace(gold.segment, references=gold.segment.references[:1]) for gold in golds]
    all_metrics = metrics.make_baselines([*names, *([] if encoder is None else EMBEDDING_BASELINES)], encoder=encoder)
    return {
        scores.name: scores.segments[ALL].tolist() for metric in all_metrics for scores in metric.score({ALL: segments})
    }


def _table(first: str, names: Mapping[str, str], rows: Mapping[str, Figures]) -> list[str]:
    return markdown.table(
        [*first.split(" | "), *names.values()],
        [[*title.split(" | "), *(markdown.shown(row.get(name)) for name in names)] for title, row in rows.items()],
    )


if __name__ == "__main__":
    main()

r"""Print Tables 1 to 5 and Figure 2 of Perrella et al. 2022 for any models, with the published rows.

    python -m benchmarks.paper --models runs/xlmr-large/model runs/xlmr-large-source/model \
        --spans data/prepared/dev.jsonl --train data/prepared/train.jsonl --figure figure2.png
    python -m benchmarks.paper --models runs/xlmr-large-2020/model --scores $MATESE_DATA
    python -m benchmarks.paper --run small --train data/prepared/train.jsonl --spans data/prepared/dev.jsonl \
        --scores $MATESE_DATA --every 20

--run first trains the paper's systems on the ratings of --train, in runs/paper-small or runs/paper-full; models that
exist there are not trained again. `full` takes the paper's encoders with the settings in `configs/matese`, for a GPU.
`small` has the same layouts with two layers of random weights and few steps: it takes minutes on a processor core and
shows that everything runs. MONO and RoBERTa learn, and are measured on, one language pair.

Table 1: how many tokens of the model have each tag. Tables 2 to 4: precision, recall and F1, averaged over the five
tags on the model's tokens, HSH and TSH, in percent.
Table 5: correlation of the score of the spans with the official scores of the WMT21 metrics task, on newstest2021
without and with human translations among the systems, and on TED talks; `benchmarks.wmt21` says what is scored against
which reference. It is comparable for models trained on newstest2020 alone (`python -m data_prep prepare --test-sets
newstest2020`), without --every and --held-out. Figure 2: the share of the translations with 0, 1, 2, ... spans, of the
raters and the models, in the training and in the test data.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import matese
from benchmarks import markdown, wmt21
from benchmarks.quality import baselines, choose, measure_spans, scored
from benchmarks.wmt21 import LANG_PAIRS
from data_prep import datasets
from data_prep.store import Store
from matese import mqm
from matese.annotation import Rating, SegmentKey
from matese.evaluation.metrics.metric_figures import MetricFigures
from matese.evaluation.spans import rating_pairs
from matese.files import write_lines
from matese.formats.tables import jsonl
from matese.model.model_input import with_inputs
from matese.render import plots
from matese.tasks import tag_units

OF_SPANS = {"tags.macro.precision": "P", "tags.macro.recall": "R", "tags.macro.f1": "F1", "hsh": "HSH", "tsh": "TSH"}
OF_SCORES = {"system.pearson": "Table 5a, Pearson of systems", "segment.kendall_b": "Table 5b, Kendall of segments"}
COLUMNS = {"w/o HT": ("newstest2021", False), "w/ HT": ("newstest2021", True), "TED": ("ted2021", False)}
"""Of Table 5: the test set, and whether the human translations that WMT21 scores are among the systems."""
PUBLISHED_SPANS = {
    "Tables 2 and 4, both language pairs": {
        "XLM-R large, reference": "47.38 38.40 41.72 57.73 46.08",
        "XLM-R base, reference": "46.64 34.12 37.93 58.01 38.70",
        "mBART, reference": "47.97 31.94 36.01 55.85 32.66",
        "XLM-R large, source": "49.34 34.53 38.89 59.89 36.84",
    },
    "Table 3, en-de": {"ALL": "43.03 33.09 35.89 54.35 44.54", "MONO": "43.98 30.64 33.52 56.56 39.67"},
    "Table 3, zh-en": {
        "ALL": "47.86 39.39 42.63 59.90 47.04",
        "MONO": "50.85 38.51 42.77 63.51 44.38",
        "RoBERTa": "51.49 37.91 42.41 64.33 42.81",
    },
}
PUBLISHED_SCORES = {
    "system.pearson": {
        "best submission of each column": ".938 .823 .818 .834 .727 .421",
        "second best": ".937 .822 .802 .628 .619 .403",
        "MaTESe": ".946 .863 .621 .636 .701 .017",
        "MaTESe-QE": ".910 .806 .584 .502 .600 .056",
    },
    "segment.kendall_b": {
        "best submission of each column": ".267 .256 .290 .402 .390 .248",
        "second best": ".266 .254 .285 .401 .388 .241",
        "MaTESe": ".323 .310 .271 .358 .346 .257",
        "MaTESe-QE": ".288 .277 .210 .343 .332 .196",
    },
}
RUNS = {
    "xlmr-large": "xlmr-large",
    "xlmr-base": "xlmr-base",
    "mbart": "mbart",
    "xlmr-large-source": "xlmr-large-source",
    "xlmr-large-en-de": "xlmr-large",
    "xlmr-large-zh-en": "xlmr-large",
    "roberta-large-zh-en": "roberta-large",
}
"""Configurations of the systems that `--run` trains; one whose name ends in a language pair learns this pair only."""
_SMALL = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 128}
_SMALL_ENCODERS = {
    "mbart": {
        "model_type": "mbart",
        "d_model": 64,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
        "encoder_ffn_dim": 128,
        "decoder_ffn_dim": 128,
    },
    "roberta-large": {"model_type": "roberta", **_SMALL},
}
"""Encoders of `--run small`; all others are those of XLM-R."""
_TOLD = 1000
"""Number of segments after which a model's progress is shown again."""
Predictions = Mapping[str, Sequence[Rating]]
"""Predicted ratings of the gold ratings' segments, by model and kind of input."""


def main() -> None:
    """Prints the tables in Markdown and writes the figure."""
    parser = markdown.parser(__doc__, "--every")
    parser.add_argument("--models", nargs="*", default=["mini"], help="none: only chrF in Table 5")
    parser.add_argument(
        "--run", choices=("small", "full"), help="train the paper's systems on --train, beside --models"
    )
    parser.add_argument("--steps", type=int, default=40, help="of each system of --run small")
    parser.add_argument("--spans", type=Path, help="gold Ratings of Tables 2 to 4 and Figure 2, JSONL; default: none")
    parser.add_argument("--scores", type=Path, metavar="DIR", help="folder of the raw files; default: no Table 5")
    text = "Table 5: only sources that the models of this repository are not trained on"
    parser.add_argument("--held-out", action="store_true", help=text)
    parser.add_argument("--train", type=Path, help="gold Ratings of the training data, for --run and Figure 2")
    parser.add_argument("--figure", type=Path, help="file for Figure 2: SVG, PNG or PDF")
    arguments = parser.parse_args()
    if arguments.run is not None:
        if arguments.train is None:
            parser.error("--run needs --train FILE")
        arguments.models = list(trained(arguments.run, arguments.train, arguments.every, n_steps=arguments.steps))
    if arguments.spans is not None:
        _print_spans(arguments)
    if arguments.scores is not None:
        _print_scores(arguments)


def trained(size: str, path: Path, every: int, *, n_steps: int) -> Iterator[str]:
    """Yields the directories of the paper's systems, each trained if it is not there."""
    folder = Path("runs") / f"paper-{size}"
    ratings: list[Rating] = []
    for name, config_name in RUNS.items():
        output = folder / name
        if not (output / "model").exists():
            ratings = ratings or choose(jsonl.read(path), every)
            data = folder / f"{name}.jsonl"
            data.parent.mkdir(parents=True, exist_ok=True)
            write_lines(data, (jsonl.dumps(rating) for rating in ratings if _reads(name, _key(rating).lang_pair)))
            _tell(f"training {output}")
            settings = small_settings(config_name, n_steps) if size == "small" else []
            matese.train([str(data)], config=f"configs/matese/{config_name}.yaml", output=str(output), set=settings)
        yield str(output / "model")


def small_settings(config_name: str, n_steps: int) -> list[str]:
    """Returns the settings that replace an encoder by a small one of random weights, for a few steps on a processor."""
    encoder = _SMALL_ENCODERS.get(config_name, {"model_type": "xlm-roberta", **_SMALL})
    return [
        f"encoder={json.dumps(encoder | {'max_position_embeddings': 514})}",
        f"tokenizer={Path(matese.__file__).parent / 'models' / 'mini'}",
        f"training.max_steps={n_steps}",
        "training.learning_rate=1.0e-3",
        "training.encoder_learning_rate=null",
        "training.batch_tokens=2048",
        "training.precision=float32",
    ]


def _reads(system: str, lang_pair: str | None) -> bool:
    """Whether a system of `--run` learns a language pair, and is measured on it; any other model is."""
    return not system.endswith(LANG_PAIRS) or system.endswith(lang_pair or "none")


def _system(prediction: str) -> str:
    """Returns the name in `RUNS` of a model with a kind of input; "" for other models.

    >>> _system("runs/paper-small/xlmr-base/model, reference"), _system("mini, source")
    ('xlmr-base', '')
    """
    return Path(prediction.partition(", ")[0]).parent.name


def _print_spans(arguments: argparse.Namespace) -> None:
    """Prints Tables 2 to 4 and Figure 2."""
    golds = _of_pairs(choose(jsonl.read(arguments.spans), arguments.every))
    predicted = predictions(golds, arguments.models)
    units = {name: model for model in arguments.models for name in predicted if name.startswith(f"{model}, ")}
    for title, published in PUBLISHED_SPANS.items():
        print(f"\n{title}\n", *of_spans(title, published, golds, predicted, units), sep="\n")
    for model in arguments.models:
        print(f"\nTable 1, test: tokens of {model} by tag\n", *tags_of(golds, model), sep="\n")
    shares = {"test": shares_of(golds, predicted)}
    if arguments.train is not None:
        golds = _of_pairs(choose(jsonl.read(arguments.train), arguments.every))
        for model in arguments.models:
            print(f"\nTable 1, training: tokens of {model} by tag\n", *tags_of(golds, model), sep="\n")
        shares = {"training": shares_of(golds, predictions(golds, arguments.models)), **shares}
    for data, lines in shares.items():
        print(f"\nFigure 2, {data}: share of the translations by number of spans\n", *bars(lines), sep="\n")
    if arguments.figure is not None:
        labels = ("spans", "share of translations")
        panels = [plots.Panel(f"Error spans, {data}", *labels, lines=lines) for data, lines in shares.items()]
        plots.save(panels, arguments.figure)


def _print_scores(arguments: argparse.Namespace) -> None:
    """Prints Table 5, with chrF, whose figures need no model."""
    _tell("reading the official scores and the texts")
    golds = wmt21.read(Store(arguments.scores), arguments.every, only_held_out=arguments.held_out)
    print(
        f"\nTable 5: {len(golds.ratings):,} translations with official scores. Left out: {golds.n_without_text:,} "
        f"whose text and {golds.n_without_reference:,} whose standard reference is not published with the ratings."
    )
    _tell(f"chrF of {len(golds.ratings):,} translations")
    scores = baselines(golds.ratings, names=["chrf"])
    predicted = predictions(golds.ratings, arguments.models)
    scores |= {name: list(map(mqm.score, ratings)) for name, ratings in predicted.items()}
    figures = columns_of_scores(golds.ratings, scores)
    for figure_name, title in OF_SCORES.items():
        print(f"\n{title}\n", *of_scores(figure_name, figures, list(scores)), sep="\n")


def predictions(golds: Sequence[Rating], models: Sequence[str]) -> dict[str, list[Rating]]:
    """Returns the predictions of each model with each kind of input; tells how many there are so far."""
    predicted: dict[str, list[Rating]] = {}
    for model in models:
        annotator = matese.load(model)
        for inputs in annotator.config.texts.inputs:
            name = f"{model}, {inputs}"
            segments = (with_inputs(gold.segment, inputs) for gold in golds)
            predicted[name] = ratings = []
            for number, rating in enumerate(annotator.annotate_segments(segments)):
                if number % _TOLD == 0:
                    _tell(f"{name}: {number:,} of {len(golds):,}")
                ratings.append(rating)
    return predicted


def of_spans(
    title: str, published: Mapping[str, str], golds: Sequence[Rating], predicted: Predictions, units: Mapping[str, str]
) -> list[str]:
    """Returns Tables 2 and 4, or Table 3 of the language pair at the end of the title."""
    rows = [[f"published: {name}", *row.split()] for name, row in published.items()]
    is_in = [title.endswith(("both language pairs", _key(gold).lang_pair or "")) for gold in golds]
    for name, ratings in predicted.items():
        kept = [pair for pair, is_chosen in zip(zip(golds, ratings, strict=True), is_in, strict=True) if is_chosen]
        pairs = [pair for pair in LANG_PAIRS if title.endswith(("both language pairs", pair))]
        if kept and all(_reads(_system(name), pair) for pair in pairs):
            figures = measure_spans([gold for gold, _ in kept], [rating for _, rating in kept], units[name])
            percent = [100 * (math.nan if (value := figures[key]) is None else value) for key in OF_SPANS]
            rows.append([name, *("-" if math.isnan(value) else f"{value:.2f}" for value in percent)])
    return markdown.table(["", *OF_SPANS.values()], rows)


Columns = Mapping[str, Mapping[str, MetricFigures]]
"""The figures of each metric in each column of Table 5, by column and metric; a metric without figures is missing."""


def columns_of_scores(golds: Sequence[Rating], scores: Mapping[str, Sequence[float]]) -> Columns:
    """Returns all figures of Tables 5a and 5b; `scores` are those of each metric, of the golds' segments."""
    columns: dict[str, Mapping[str, MetricFigures]] = {}
    for pair in LANG_PAIRS:
        for column, (test_set, with_humans) in COLUMNS.items():
            places = [
                number
                for number, gold in enumerate(golds)
                if (_key(gold).lang_pair, _key(gold).test_set) == (pair, test_set)
                and (with_humans or datasets.human(_key(gold).system or "") is None)
            ]
            golds_of_column = [golds[number] for number in places]
            metrics = {
                name: scored(golds_of_column, [values[place] for place in places])
                for name, values in scores.items()
                if _reads(_system(name), pair)
            }
            columns[f"{pair} {column}"] = _correlated(golds_of_column, metrics) if golds_of_column else {}
    return columns


def of_scores(figure_name: str, columns: Columns, metrics: Sequence[str]) -> list[str]:
    """Returns Table 5a or 5b, with a row for the scores of each metric; "-" where one is constant or has no segment."""
    rows = [[f"published: {name}", *row.split()] for name, row in PUBLISHED_SCORES[figure_name].items()]
    for metric in metrics:
        figures = [of_column.get(metric, {}).get(figure_name) for of_column in columns.values()]
        rows.append([metric, *(markdown.shown(None if figure is None else figure.value) for figure in figures)])
    return markdown.table(["", *columns], rows)


def _correlated(golds: Sequence[Rating], metrics: Mapping[str, Sequence[Rating]]) -> Mapping[str, MetricFigures]:
    """Returns the figures of each metric; scores that are all equal have no correlation, but an accuracy."""
    evaluation = matese.correlate(
        gold=golds,
        metric=metrics,
        figures=matese.CorrelationFigures(rank_by="segment.acc_eq", samples=1, significance="none"),
    )
    return next(iter(evaluation.figures.values()), {})


def tags_of(golds: Sequence[Rating], unit: str) -> list[str]:
    """Returns the counts of Table 1: the tokens of each tag, by language pair. `unit` is as in `matese.evaluate`."""
    tagging = tag_units.tagging(unit)
    counts: dict[str, Counter[str]] = {}
    for gold in golds:
        spans = rating_pairs.counted_spans(gold)
        tags = (tagging.names[tag] for tag in tagging.tag(gold.segment.hypothesis, spans))
        counts.setdefault(_key(gold).lang_pair or "", Counter()).update(tags)
    rows = ([pair, *(f"{counts[pair][name]:,}" for name in tagging.names)] for pair in sorted(counts))
    return markdown.table(["", *tagging.names], rows)


Shares = Mapping[str, Sequence[tuple[float, float]]]
"""The share of translations with 0, 1, 2, ... spans, of the raters and each model: (spans, share)."""


def shares_of(golds: Sequence[Rating], predicted: Predictions) -> Shares:
    """Returns the shares of Figure 2 in one set of data."""
    counts = {
        name: Counter(len(rating.errors or ()) for rating in ratings)
        for name, ratings in {"raters": golds, **predicted}.items()
    }
    return {
        name: [(n, counter[n] / counter.total()) for n in range(max(counter) + 1)] for name, counter in counts.items()
    }


def bars(lines: Shares) -> Iterator[str]:
    """Yields Figure 2 as a bar for each number of spans that occurs."""
    for name, shares in lines.items():
        yield name
        yield from (f"  {n:>3}  {share:.3f}  {'█' * round(50 * share)}".rstrip() for n, share in shares if share)


def _of_pairs(ratings: Sequence[Rating]) -> list[Rating]:
    return [rating for rating in ratings if _key(rating).lang_pair in LANG_PAIRS]


def _tell(text: str) -> None:
    """Shows what takes time, apart from the tables."""
    print(text, file=sys.stderr, flush=True)


def _key(rating: Rating) -> SegmentKey:
    return rating.segment.key or SegmentKey()


if __name__ == "__main__":
    main()

r"""Compares models trained on single language pairs with a model trained on all, on the test data of each pair.

    for pair in en-de zh-en; do
        python -m data_prep prepare --lang-pairs $pair --output data/$pair
        matese train --config configs/xlmr-base.yaml --train data/$pair/train.jsonl --dev data/$pair/dev.jsonl \
            --output runs/$pair
    done
    python -m benchmarks.language_pairs --models runs/{en-de,zh-en,xlmr-base}/model \
        --data data/prepared/wmt22-test.jsonl --svg runs/scores.svg

The question is that of Table 3 of Perrella et al. 2022. Any models will do, whatever they were trained on. All are
measured on the same segments: those with a reference and a human score, and a source where a model reads it.

For each figure, prints a table with a row for each model and a column for each language pair. Spans: macro F1 of tags,
HSH and TSH on words, so that models with different vocabularies are comparable, beside "all words Major" and "no
errors". Scores: Pearson and Kendall correlation of the expected score (without one, of the score of the spans), mean
over test sets, beside chrF.

Then prints, for each language pair, the share of segments by the score of their spans, of the raters and of the models;
--svg draws it. Models that mark no errors are left out there and in the tables of spans.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import matese
from benchmarks import markdown, quality
from matese import baselines, mqm
from matese.annotation import ErrorSpan, Rating, Severity
from matese.formats.tables import jsonl
from matese.render import plots
from matese.tagger.request import restrict

OF_SPANS = {"tags.macro.f1": "F1 of tags, macro", "hsh": "HSH", "tsh": "TSH"}
OF_SCORES = {"segment.pearson": "Pearson", "segment.kendall_b": "Kendall b"}
RATERS, EVERY_WORD, NO_ERRORS, CHRF = "raters", "all words Major", "no errors", "chrF"
BANDS = {"0": (0, 0), "-1 to -4": (-4, -1), "-5 to -9": (-9, -5), "-10 to -25": (-25, -10)}
"""Lowest and highest score of a segment; all are whole."""
Figures = dict[str, dict[str, dict[str, float | None]]]
"""By figure, model and language pair."""


def main() -> None:
    """Prints the tables in Markdown and writes all figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", required=True, help="names or directories")
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="gold Ratings, JSONL")
    parser.add_argument("--inputs", help="kind of input; default: the first that each model reads")
    parser.add_argument("--every", type=int, default=1, metavar="K", help="take only every K-th source, of all systems")
    parser.add_argument("--svg", type=Path, help="where to draw the scores")
    parser.add_argument("--json", type=Path, help="where to write all figures")
    arguments = parser.parse_args()
    golds = by_pair([gold for path in arguments.data for gold in quality.choose(jsonl.read(path), arguments.every)])
    names = dict(zip(baselines.titles(arguments.models), arguments.models, strict=True))
    predicted = {title: predict(name, golds, arguments.inputs) for title, name in names.items()}
    figures, shares = measure(golds, predicted), distribution(golds, predicted)
    print(", ".join(f"{pair}: {len(own):,} segments" for pair, own in golds.items()))
    for title, rows in figures.items():
        cells = [[name, *(markdown.shown(row[pair]) for pair in golds)] for name, row in rows.items()]
        print(f"\n## {title}\n", *markdown.table(["model", *golds], cells), sep="\n")
    for pair, by_model in shares.items():
        cells = [[name, *(f"{share:.1%}" for share in own)] for name, own in by_model.items()]
        print(f"\n## Scores of {pair}\n", *markdown.table(["", *BANDS], cells), sep="\n")
    if arguments.svg is not None:
        arguments.svg.write_text(plots.svg(panels(golds, predicted)), encoding="utf-8")
    if arguments.json is not None:
        made = {"segments": {pair: len(own) for pair, own in golds.items()}, "figures": figures, "scores": shares}
        arguments.json.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


def by_pair(golds: Sequence[Rating]) -> dict[str, list[Rating]]:
    """Returns the ratings of each language pair, without those of an unknown one."""
    found: dict[str, list[Rating]] = {}
    for gold in golds:
        if gold.segment.key is not None and gold.segment.key.lang_pair is not None:
            found.setdefault(gold.segment.key.lang_pair, []).append(gold)
    return dict(sorted(found.items()))


def predict(model: str, golds: Mapping[str, Sequence[Rating]], inputs: str | None = None) -> dict[str, list[Rating]]:
    """Returns the ratings of a model in each language pair."""
    annotator = matese.load(model)
    kind: Any = inputs or annotator.config.inputs[0]
    return {
        pair: list(annotator.annotate_segments(restrict(gold.segment, kind) for gold in own))
        for pair, own in golds.items()
    }


def measure(golds: Mapping[str, Sequence[Rating]], predicted: Mapping[str, Mapping[str, Sequence[Rating]]]) -> Figures:
    """Returns the figures of the models and of the baselines."""
    figures: Figures = {title: {} for title in (*OF_SPANS.values(), *OF_SCORES.values())}
    for pair, own in golds.items():
        marking = {name: found[pair] for name, found in predicted.items() if marks(found)}
        nothing = [Rating(gold.segment, NO_ERRORS, ()) for gold in own]
        for name, ratings in {**marking, EVERY_WORD: [*map(every_word, own)], NO_ERRORS: nothing}.items():
            found = matese.evaluate(own, ratings).figures
            for key, title in OF_SPANS.items():
                figures[title].setdefault(name, {})[pair] = found[key].value
        metrics = {name: scores(own, found[pair]) for name, found in predicted.items()}
        metrics[CHRF] = quality.scored(own, quality.baselines(own)[CHRF])
        for name, row in quality.correlations(own, metrics)[quality.ALL].items():
            for key, title in OF_SCORES.items():
                figures[title].setdefault(name, {})[pair] = row.get(key)
    return figures


def marks(predicted: Mapping[str, Sequence[Rating]]) -> bool:
    """Whether a model marks errors."""
    return all(one.errors is not None for own in predicted.values() for one in own)


def every_word(gold: Rating) -> Rating:
    """Returns a rating in which the whole hypothesis is one Major error."""
    text = gold.segment.hypothesis
    errors = (ErrorSpan(0, len(text), Severity.MAJOR),) if text.strip() else ()
    return Rating(gold.segment, EVERY_WORD, errors)


def scores(golds: Sequence[Rating], ratings: Sequence[Rating]) -> list[Rating]:
    """Returns the expected scores; if a model gives none, the scores of the spans."""
    if all(mqm.expected_score(one) is not None for one in ratings):
        return [replace(one, errors=None, omissions=()) for one in ratings]
    return quality.scored(golds, [mqm.score(one) for one in ratings])


def distribution(
    golds: Mapping[str, Sequence[Rating]], predicted: Mapping[str, Mapping[str, Sequence[Rating]]]
) -> dict[str, dict[str, list[float]]]:
    """Returns the share of segments in each of `BANDS`, by language pair and by raters and models."""
    return {
        pair: {
            name: [float(((values >= low) & (values <= high)).mean()) for low, high in BANDS.values()]
            for name, values in own.items()
        }
        for pair, own in _scores_of_spans(golds, predicted).items()
    }


def panels(
    golds: Mapping[str, Sequence[Rating]], predicted: Mapping[str, Mapping[str, Sequence[Rating]]]
) -> list[plots.Panel]:
    """Returns a plot for each language pair: the share of segments with a score or a lower one."""
    ticks = range(-25, 1)
    return [
        plots.Panel(
            pair,
            "score of the spans",
            "segments with this score or a lower one",
            lines={name: [(x, float((values <= x).mean())) for x in ticks] for name, values in own.items()},
        )
        for pair, own in _scores_of_spans(golds, predicted).items()
    ]


def _scores_of_spans(
    golds: Mapping[str, Sequence[Rating]], predicted: Mapping[str, Mapping[str, Sequence[Rating]]]
) -> dict[str, dict[str, Any]]:
    marking = {name: own for name, own in predicted.items() if marks(own)}
    return {
        pair: {
            name: np.array([mqm.score(one) for one in ratings])
            for name, ratings in {RATERS: own, **{name: found[pair] for name, found in marking.items()}}.items()
        }
        for pair, own in golds.items()
    }


if __name__ == "__main__":
    main()

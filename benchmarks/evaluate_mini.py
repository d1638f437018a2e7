"""All figures of a model's page: its spans and scores against humans, beside BLEU, chrF and TER on the same segments.

    python benchmarks/evaluate_mini.py --data data/prepared/dev.jsonl data/prepared/wmt22-test.jsonl \
        --output docs/mini-figures.md --json benchmarks/results/mini-figures.json

Only segments with a reference and a human score are taken, so that each input of the model, and each baseline, is
measured on the same ones; of several references the first. A sample (`--every`, `--limit`) takes every k-th source
sentence with the translations of all systems, as figures of systems and within items need them.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from figures_page import (  # type: ignore[import-not-found]  # beside this script, which is no package
    OF_SCORES,
    OF_SPANS,
    Measured,
    Row,
    cell_of,
    page,
    put,
)

import matese
from matese import mqm
from matese.annotation import Rating, SegmentKey
from matese.cli import units
from matese.evaluation import baselines, evaluation, metrics, resampling, scores, tagging
from matese.evaluation.evaluation import Evaluation, Tagging
from matese.evaluation.matching import Rules
from matese.evaluation.metrics import LangPair, Settings
from matese.evaluation.pairs import Pair
from matese.evaluation.scores import Floats, Scores
from matese.formats import jsonl
from matese.tagger.questions import reduced

if TYPE_CHECKING:
    from matese.encoder.encoding import Inputs

_HUMAN = re.compile(r"(human|ref)\b|(human|ref)[-_.]?[a-d]?\b", re.IGNORECASE)


def main() -> None:
    """Prints the tables, and writes them where they are asked for."""
    arguments = _parser().parse_args()
    annotator = matese.load(arguments.model, threads=arguments.threads)
    cuts = {"words": units.tagging("word"), "tokens": units.tagging(arguments.model)}
    found = []
    for path in arguments.data:
        golds = choose(list(jsonl.read(path)), arguments.every, arguments.limit, arguments.without_human)
        if not golds:
            sys.exit(f"{path}: no rating has spans, an overall score, a reference and a key: must be some")
        predictions = {one: predict(annotator, golds, one) for one in annotator.config.inputs}
        if arguments.predictions is not None:
            write_predictions(arguments.predictions, path.stem, predictions)
        found.append(measure(path.stem, golds, predictions, cuts, arguments.bootstrap))
        print(f"{path.name}: {len(golds):,} segments", file=sys.stderr)
        write(arguments, annotator.name, found)  # after each file: one can take long
    print(page(annotator.name, found, " ".join(sys.argv[1:])))


def write(arguments: argparse.Namespace, model: str, found: Sequence[Measured]) -> None:
    """Writes what was measured so far to where it is asked for."""
    if arguments.output is not None:
        text = page(model, found, " ".join(sys.argv[1:]))
        arguments.output.write_text(
            put(arguments.output.read_text(encoding="utf-8"), text, arguments.section), encoding="utf-8"
        )
    if arguments.json is not None:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        whole = {"model": model, "arguments": sys.argv[1:], "data": [one.__dict__ for one in found]}
        arguments.json.write_text(json.dumps(whole, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="mini")
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="gold Ratings, JSONL")
    parser.add_argument("--every", type=int, default=1, metavar="K", help="take every K-th source sentence")
    parser.add_argument("--limit", type=int, metavar="N", help="take about N segments, sources spread over the file")
    parser.add_argument("--without-human", action="store_true", help="human translations are no systems")
    parser.add_argument("--bootstrap", type=int, default=200, metavar="N", help="samples of intervals; 0 for none")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--predictions", type=Path, metavar="DIR", help="write the predictions here, as JSONL")
    parser.add_argument("--output", type=Path, metavar="PAGE", help="put the tables into this page")
    parser.add_argument("--section", default="figures", metavar="NAME", help="between <!-- NAME: begin --> and its end")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    return parser


def choose(ratings: Sequence[Rating], every: int, limit: int | None, without_human: bool) -> list[Rating]:
    """Returns the ratings that can be measured, of every k-th source sentence."""
    usable = [
        rating
        for rating in ratings
        if rating.errors is not None
        and rating.overall is not None
        and rating.segment.references
        and _key(rating).system
    ]
    if without_human:
        usable = [rating for rating in usable if not _HUMAN.match(_key(rating).system or "")]
    if limit is not None:
        every = max(every, math.ceil(len(usable) / limit))
    items = sorted({_item(rating) for rating in usable})
    taken = set(items[::every])
    return [rating for rating in usable if _item(rating) in taken]


def predict(annotator: matese.Annotator, golds: Sequence[Rating], inputs: Inputs) -> list[Rating]:
    """Annotates the segments with the first reference, the source, or both."""
    return list(annotator.annotate_segments(reduced(gold.segment, inputs) for gold in golds))


def write_predictions(directory: Path, name: str, predictions: Mapping[Inputs, Sequence[Rating]]) -> None:
    """Writes a file for each input."""
    directory.mkdir(parents=True, exist_ok=True)
    for inputs, ratings in predictions.items():
        lines = "".join(f"{jsonl.dumps(rating)}\n" for rating in ratings)
        (directory / f"{name}.{inputs}.jsonl").write_text(lines, encoding="utf-8")


def measure(
    name: str,
    golds: Sequence[Rating],
    predictions: Mapping[Inputs, Sequence[Rating]],
    cuts: Mapping[str, Tagging],
    n_samples: int,
) -> Measured:
    """Returns the figures of one file."""
    spans: list[Row] = []
    for inputs, predicted in predictions.items():
        spans += measure_spans(inputs, [Pair.of(*two) for two in zip(golds, predicted, strict=True)], cuts, n_samples)
    columns: dict[str, list[float]] = {}
    for inputs, predicted in predictions.items():
        expected = [one.overall.value for one in predicted if one.overall is not None]
        if len(expected) == len(golds):
            columns[f"{inputs}, score"] = expected
        columns[f"{inputs}, spans"] = [mqm.score(one) for one in predicted]
    parts: dict[str, list[int]] = {}
    for number, gold in enumerate(golds):
        part = " ".join(filter(None, (_key(gold).test_set, _key(gold).lang_pair))) or "all"
        parts.setdefault(part, []).append(number)
    of_scores: list[Row] = []
    for part, numbers in sorted(parts.items()):
        chosen = [golds[number] for number in numbers]
        own = {key: [values[number] for number in numbers] for key, values in columns.items()}
        table = table_of(part, chosen, {**own, **baseline_scores(chosen)})
        of_scores += measure_scores(part, table, n_samples, set(own))
    scales = ", ".join(sorted({gold.overall.scale for gold in golds if gold.overall is not None}))
    return Measured(name, len(golds), scales, sorted(spans, key=lambda row: row[0]), of_scores)


def measure_spans(inputs: Inputs, pairs: Sequence[Pair], cuts: Mapping[str, Tagging], n_samples: int) -> list[Row]:
    """Returns the span figures, of all segments and of each language pair."""
    words, tokens = cuts["words"], cuts["tokens"]
    of_words = evaluation.of_spans(pairs, words, rules=Rules())
    of_tokens = Evaluation(tuple(pairs), (tagging.tag_statistic([tokens.tag(pair) for pair in pairs], tokens.names),))
    rows: list[Row] = []
    for part, members in {"all": np.ones(len(pairs)), **evaluation.groups(pairs, "lang-pair")}.items():
        found = evaluation.measure(of_words, members=members, n_resamples=n_samples)
        own = evaluation.measure(of_tokens, members=members, n_resamples=n_samples)
        found["tokens.macro.f1"] = own["tags.macro.f1"]
        cells = {key: cell_of(found[key].value, found[key].low, found[key].high) for key in OF_SPANS}
        rows.append((part, inputs, int(members.sum()), cells))
    return rows


def table_of(name: str, golds: Sequence[Rating], columns: Mapping[str, Sequence[float]]) -> LangPair:
    """Returns human scores and metrics as tables of systems by source sentences; raters of a segment are averaged."""
    systems = sorted({_key(gold).system or "" for gold in golds})
    items = sorted({_item(gold) for gold in golds})
    row_of, column_of = ({one: place for place, one in enumerate(names)} for names in (systems, items))
    rows = np.array([row_of[_key(gold).system or ""] for gold in golds])
    places = np.array([column_of[_item(gold)] for gold in golds])

    def table(title: str, values: Sequence[float]) -> Scores:
        sums, counts = np.zeros((len(systems), len(items))), np.zeros((len(systems), len(items)))
        np.add.at(sums, (rows, places), values)
        np.add.at(counts, (rows, places), 1.0)
        cells: Floats = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
        return Scores(title, tuple(systems), scores.row_means(cells), cells)

    human = table("human", [gold.overall.value for gold in golds if gold.overall is not None])
    return metrics.make(name, human, [table(title, values) for title, values in columns.items()])


def measure_scores(part: str, pair: LangPair, n_samples: int, ours: set[str]) -> list[Row]:
    """Returns the score figures of each metric, with intervals for the model's."""
    settings = Settings(n_flips=100)  # of soft pairwise accuracy, which the page does not hold
    signs = pair.flips(settings)
    own = LangPair(pair.name, pair.gold, {name: one for name, one in pair.metrics.items() if name in ours})
    drawn = resampling.samples(own, n_samples=n_samples, settings=settings) if n_samples else {}
    assert pair.gold.segment is not None
    n_segments = int(np.isfinite(pair.gold.segment).sum())
    rows: list[Row] = []
    for name, metric in pair.metrics.items():
        found = metrics.figures(pair, metric, signs, settings)
        bounds = metrics.intervals(drawn[name]) if name in drawn else {}
        cells = {key: (found[key].value, *bounds.get(key, (None, None))) for key in OF_SCORES if key in found}
        rows.append((part, name, n_segments, cells))
    return rows


def baseline_scores(golds: Sequence[Rating]) -> dict[str, list[float]]:
    """Returns sentence BLEU, chrF and TER (negated) against the first reference; golds are of one language pair."""
    target = baselines.target(_key(golds[0]).lang_pair or "")
    hypotheses = [gold.segment.hypothesis for gold in golds]
    references = [gold.segment.references[0] for gold in golds]
    found: dict[str, list[float]] = {}
    for name, title in baselines.NAMES.items():
        try:
            made, _ = baselines.score(name, {"all": hypotheses}, [references], target)
        except ValueError as error:  # a tokenizer that is not installed
            print(f"no {title} for {target}: {error}", file=sys.stderr)
            continue
        assert made.segment is not None
        found[title] = made.segment[0].tolist()
    return found


def _key(rating: Rating) -> SegmentKey:
    return rating.segment.key or SegmentKey()


def _item(rating: Rating) -> tuple[str, str, str, int, str]:
    """Returns what the translations of one source sentence have in common; the text, where they are not numbered."""
    key = _key(rating)
    index = -1 if key.index is None else key.index
    text = (rating.segment.source or "") if key.index is None else ""
    return key.test_set or "", key.lang_pair or "", key.document or "", index, text


if __name__ == "__main__":
    main()

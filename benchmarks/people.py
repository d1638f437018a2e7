"""How many errors people would still have to find, and how many to remove, at each threshold of pre-annotation.

    python -m benchmarks.people data/prepared/dev.jsonl --json benchmarks/results/people-mini.json

On the ratings of every eighth source: of the raters' spans the share that a marked one overlaps (recall: the rest must
be found), of the marked spans the share that overlaps one of the raters (precision: the rest must be removed), and how
many are marked a segment. `matese tag` marks what people are to correct from that share of
the model's own least confidence on that `FOR_PEOPLE` says.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import matese
from benchmarks.quality import Prediction, predict
from matese.annotation import ErrorSpan, Rating
from matese.cli.tag import FOR_PEOPLE
from matese.formats import jsonl

THRESHOLDS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
EVERY = 8


def main() -> None:
    """Prints a table and writes its figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="ratings of people, JSONL")
    parser.add_argument("--model", default="mini")
    parser.add_argument("--inputs", default="source", choices=("source", "reference", "source+reference"))
    parser.add_argument("--every", type=int, default=EVERY, metavar="N", help="take every Nth source")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    arguments = parser.parse_args()
    golds = chosen(list(jsonl.read(arguments.data)), arguments.every)
    annotator = matese.load(arguments.model)
    predictions = list(predict(annotator, golds, arguments.inputs))
    own = annotator.options.min_confidence
    points = sorted({*THRESHOLDS, FOR_PEOPLE * own, own})
    figures = {f"{point:g}": measure(predictions, point) for point in points}
    signature = annotator.signature(arguments.inputs)
    print(f"{len(golds):,} segments of {arguments.data.name}; {signature}\n")
    print("| at least | recall | precision | marked a segment |\n|---|---|---|---|")
    for point, one in figures.items():
        print(f"| {point} | {one['recall']:.3f} | {one['precision']:.3f} | {one['marked']:.2f} |")
    if arguments.json is not None:
        found = {"data": arguments.data.name, "every": arguments.every, "segments": len(golds), "signature": signature}
        arguments.json.write_text(json.dumps({**found, "points": figures}, indent=1) + "\n", encoding="utf-8")


def chosen(ratings: Sequence[Rating], every: int) -> list[Rating]:
    """Returns the ratings of every nth source, of segments that have one, a reference and spans that were asked for."""
    rated = [one for one in ratings if one.segment.source and one.segment.references and one.errors is not None]
    sources = set(list(dict.fromkeys(one.segment.source for one in rated))[::every])
    return [one for one in rated if one.segment.source in sources]


def measure(predictions: Sequence[Prediction], min_confidence: float) -> dict[str, float]:
    """Returns recall, precision and the mean number of marked spans at one threshold."""
    n_gold = n_found = n_marked = n_right = 0
    for one in predictions:
        gold, marked = one.gold.errors or (), one.spans(min_confidence)
        n_gold, n_marked = n_gold + len(gold), n_marked + len(marked)
        n_found += sum(_overlaps(span, marked) for span in gold)
        n_right += sum(_overlaps(span, gold) for span in marked)
    return {
        "recall": n_found / max(1, n_gold),
        "precision": n_right / max(1, n_marked),
        "marked": n_marked / max(1, len(predictions)),
    }


def _overlaps(span: ErrorSpan, others: Sequence[ErrorSpan]) -> bool:
    return any(other.start < span.end and span.start < other.end for other in others)


if __name__ == "__main__":
    main()

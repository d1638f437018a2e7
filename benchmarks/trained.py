r"""Compare the scores of models trained with `matese train`, and chrF, with human scores.

    python -m benchmarks.trained --models runs/small-*/model --data data/prepared/dev.jsonl --every 4

All models are measured on the same segments: those with a reference, a source and a human score. Each figure is the
mean of `matese correlate`'s over test sets and language pairs; a model with several kinds of input has a row for each.
The share of pairs of systems is computed over all test sets and language pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import matese
from benchmarks import markdown, quality
from matese.annotation import Rating
from matese.formats.tables import jsonl
from matese.inference.model_input import with_inputs


def main() -> None:
    """Prints the table in Markdown."""
    parser = markdown.parser(__doc__, "--data", "--every")
    parser.add_argument("--models", type=Path, nargs="+", required=True, help="model directories")
    arguments = parser.parse_args()
    golds = [gold for gold in quality.choose(jsonl.read(arguments.data), arguments.every) if gold.segment.source]
    metrics: dict[str, list[Rating]] = {}
    for path in arguments.models:
        name = path.parent.name if path.name == "model" else path.name
        metrics |= {f"{name} | {inputs}": found for inputs, found in predict(path, golds).items()}
    metrics["chrF | reference"] = quality.scored(golds, quality.baselines(golds)["chrF"])
    scores = quality.correlations(golds, metrics)
    print(f"{len(golds):,} segments of {arguments.data.name}\n")
    rows = sorted(scores[quality.ALL].items(), key=lambda row: -(row[1].get("segment.kendall_b") or -1))
    cells = [[*name.split(" | "), *(markdown.shown(own.get(key)) for key in quality.OF_SCORES)] for name, own in rows]
    print(*markdown.table(["model", "reads", *quality.OF_SCORES.values()], cells), sep="\n")


def predict(path: Path, golds: Sequence[Rating]) -> dict[str, list[Rating]]:
    """Returns the scores of a model for each kind of input, as ratings without spans."""
    annotator = matese.load(path)
    by_inputs = {}
    for inputs in annotator.config.inputs:
        predicted = annotator.annotate_segments(with_inputs(gold.segment, inputs) for gold in golds)
        by_inputs[inputs] = [replace(rating, errors=None, omissions=()) for rating in predicted]
    return by_inputs


if __name__ == "__main__":
    main()

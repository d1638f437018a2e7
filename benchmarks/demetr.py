"""Measure whether scores drop for injected errors, on the 35 kinds of errors of DEMETR (Karpinska et al. 2022).

    python -m benchmarks.demetr --data "$MATESE_DATA" --limit 40 --json benchmarks/results/demetr-mini.json

For each kind, the table shows the share of pairs in which the translation scores higher than the same translation with
the error; ties count half. The scores are the model's expected score (`expected_score`), the score of its spans
(`score`), and sentence chrF, all against the English reference. In one kind, the "error" is the reference itself, which
must score higher.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from sacrebleu.metrics.chrf import CHRF

import matese
from benchmarks import markdown
from data_prep.store import Store
from matese import mqm

FOLDER = "qe/demetr"
BETTER = "reference"
"""Part of the name of the kind in which the "error" is the reference."""


def main() -> None:
    """Prints the table and writes it as JSON."""
    parser = markdown.parser(__doc__, "--model", "--json")
    parser.add_argument("--data", type=Path, required=True, help="folder of the raw files")
    parser.add_argument("--limit", type=int, default=1000, help="pairs of each kind; default: %(default)s (all)")
    arguments = parser.parse_args()
    pairs = read(Store(arguments.data), arguments.limit)
    annotator = matese.load(arguments.model)
    scores = measure(annotator, pairs)
    figures = shares(pairs, scores)
    print(f"{len(pairs):,} pairs; {annotator.name}")
    names = list(scores)
    rows = [[kind, *(markdown.percent(row[name], 1) for name in names)] for kind, row in figures.items()]
    print(*markdown.table(["kind", *names], rows), sep="\n")
    markdown.write_json(arguments.json, {"model": annotator.name, "pairs": len(pairs), "shares": figures})


def read(store: Store, limit: int) -> list[dict[str, Any]]:
    """Returns at most `limit` pairs of each kind, spread over its file."""
    names = [name for name in store.names(FOLDER) if name.startswith("dataset/") and name.endswith(".json")]
    contents = store.texts(FOLDER, names)
    pairs: list[dict[str, Any]] = []
    for name in names:
        rows = json.loads("\n".join(contents[name]))
        pairs += rows[:: max(1, -(-len(rows) // limit))]
    return pairs


def measure(annotator: matese.Annotator, pairs: Sequence[dict[str, Any]]) -> dict[str, list[tuple[float, float]]]:
    """Returns the scores of each translation without and with the error, by kind of score."""
    hypotheses = [pair[side] for pair in pairs for side in ("mt_sent", "pert_sent")]
    references = [pair["eng_sent"] for pair in pairs for _ in range(2)]
    ratings = annotator.annotate(hypotheses, references=references)
    chrf = CHRF()
    texts = zip(hypotheses, references, strict=True)
    scores = {
        "expected_score": [mqm.expected_score(rating) or 0.0 for rating in ratings],
        "score": [mqm.score(rating) for rating in ratings],
        "chrF": [chrf.sentence_score(hypothesis, [reference]).score for hypothesis, reference in texts],
    }
    return {name: list(zip(values[::2], values[1::2], strict=True)) for name, values in scores.items()}


def shares(
    pairs: Sequence[dict[str, Any]], scores: dict[str, list[tuple[float, float]]]
) -> dict[str, dict[str, float]]:
    """Returns the share of correctly ordered pairs of each metric, by kind and averaged over the kinds."""
    points: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for number, pair in enumerate(pairs):
        for name, column in scores.items():
            above, below = column[number]
            if BETTER in pair["pert_name"]:
                above, below = below, above
            points[pair["pert_name"]][name].append(markdown.order(above, below))
    figures = {kind: {name: fmean(values) for name, values in row.items()} for kind, row in sorted(points.items())}
    return {**figures, "mean over kinds": {name: fmean(row[name] for row in figures.values()) for name in scores}}


if __name__ == "__main__":
    main()

"""Measure how well each way to explain a score finds the words that humans marked.

    python -m benchmarks.explain --dev data/prepared/dev.jsonl --test data/prepared/wmt22-test.jsonl \
        --json benchmarks/results/explain-mini.json

Layer, head and the least weight of a word that counts as an error are fitted on the dev data; all figures are measured
on the test data. Only segments with errors are used. AUC and Recall@K are means over the segments that also have
correct words; F1 is over all words. `tags` are the tagger's probabilities, and "all words" marks every word. The model
reads the first reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

import matese
from benchmarks import markdown
from benchmarks.uncertainty import choose
from matese.annotation import Rating
from matese.explanation import fitting
from matese.explanation.method import METHODS, Method
from matese.formats.tables import jsonl
from matese.model.model_input import with_inputs


def main() -> None:
    """Prints the table in Markdown and writes all figures as JSON."""
    parser = markdown.parser(__doc__, "--model", "--dev", "--test", "--json")
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--segments", type=int, default=100, help="segments of each file; default: %(default)s")
    parser.add_argument("--longest", type=int, default=120, help="most characters of a text; default: %(default)s")
    arguments = parser.parse_args()
    annotator = matese.load(arguments.model, precision="float32")
    dev, test = (
        [
            Rating(with_inputs(rating.segment, "reference"), rating.rater, rating.errors)
            for rating in choose(
                (rating for rating in jsonl.read(path) if rating.errors), arguments.segments, arguments.longest, 1
            )
        ]
        for path in (arguments.dev, arguments.test)
    )
    methods = [Method(name) for name in arguments.methods]
    fits = fitting.best(fitting.words_of(dev, annotator, methods), methods)
    words = fitting.by_method(fitting.words_of(test, annotator, [fit.method for fit in fits]))
    rows = {}
    for fit in fits:
        figures = fitting.measure(fit.method, words[fit.method])
        f1 = _f1(words[fit.method], fit.min_weight)
        rows[str(fit.method)] = {"auc": figures.auc, "recall_at_k": figures.recall_at_k, "f1": f1}
    everything = _f1(next(iter(words.values())), float("-inf"))
    rows["all words"] = {"auc": 0.5, "recall_at_k": float("nan"), "f1": everything}
    n_mixed = fitting.measure(fits[0].method, words[fits[0].method]).n_segments
    print(f"{len(test)} segments of {arguments.test.stem}, {n_mixed} of them with words in errors and correct words.\n")
    cells = [[name, *(markdown.shown(value) for value in row.values())] for name, row in rows.items()]
    print(*markdown.table(["method", "AUC", "Recall@K", "F1 of words"], cells), sep="\n")
    fitted = {str(fit.method): {**asdict(fit), "method": str(fit.method)} for fit in fits}
    rows["all words"].pop("recall_at_k")
    whole = {"model": annotator.name, "segments": len(test), "mixed": n_mixed, "dev": fitted, "test": rows}
    markdown.write_json(arguments.json, whole)


def _f1(segments: Sequence[fitting.Words], min_weight: float) -> float:
    """Returns the F1 of the words with at least this weight, over all segments."""
    is_bad, weights = map(np.concatenate, zip(*segments, strict=True))
    is_marked = weights >= min_weight
    n_both = int((is_bad & is_marked).sum())
    return 2 * n_both / max(1, int(is_bad.sum()) + int(is_marked.sum()))


if __name__ == "__main__":
    main()

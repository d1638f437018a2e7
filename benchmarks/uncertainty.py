"""Measure how well intervals of expected scores fit human scores, as in the tables of Glushkova et al. 2021.

    python -m benchmarks.uncertainty --lang-pair en-de --dev data/prepared/dev.jsonl \
        --test data/prepared/wmt22-test.jsonl --json benchmarks/results/uncertainty-mini.json

One scale per method is fitted on the dev data; all figures are measured on the test data, with the original intervals
and with the scaled ones. "fixed" is the baseline: it gives every segment the interval of the model's errors on the dev
data. Segments are drawn from each file by a hash of their texts, the same for all methods. Raters of different language
pairs are not equally strict, so each pair is measured separately.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import matese
from benchmarks import markdown
from matese.annotation import Rating, Segment
from matese.formats.tables import jsonl
from matese.model.uncertainty import with_interval

NAMES = ("pps", "ups", "nll", "ece", "sharpness")
FIXED = "fixed"


def main() -> None:
    """Prints the table in Markdown and writes all figures as JSON."""
    parser = markdown.parser(__doc__, "--model", "--dev", "--test", "--json")
    parser.add_argument("--ways", nargs="+", default=["dropout:10"], help="values of matese tag --uncertainty")
    parser.add_argument("--lang-pair", required=True, help="language pair, such as en-de")
    parser.add_argument("--segments", type=int, default=500, help="segments of each file; default: %(default)s")
    parser.add_argument("--longest", type=int, default=400, help="most characters of a text; default: %(default)s")
    arguments = parser.parse_args()
    n_references = 2 if "references" in arguments.ways else 1
    dev, test = (
        choose(of_pair(path, arguments.lang_pair), arguments.segments, arguments.longest, n_references)
        for path in (arguments.dev, arguments.test)
    )
    figures: dict[str, Any] = {
        "lang_pair": arguments.lang_pair,
        "segments": {"dev": len(dev), "test": len(test)},
        "ways": {},
    }
    for way in arguments.ways:
        named = {} if way.startswith("models:") else {"model": arguments.model}
        annotator = matese.load(**named, precision="float32", uncertainty=way)
        predicted = [list(annotator.annotate_segments(gold.segment for gold in golds)) for golds in (dev, test)]
        figures["ways"].setdefault(
            FIXED, measure(dev, test, *(fixed(dev, predicted[0], ratings) for ratings in predicted))
        )
        figures["ways"][annotator.predictor.uncertainty] = measure(dev, test, *predicted)  # type: ignore[attr-defined]
        figures["model"] = annotator.name
    used = f"{len(test)} segments of {arguments.test.stem}, scales fitted on {len(dev)} of {arguments.dev.stem}"
    print(f"{arguments.lang_pair}: {used}.", end="\n\n")
    header = ["", "PPS", "UPS", "NLL", "ECE", "sharpness", "scale", "NLL", "ECE", "sharpness"]
    rows = [
        [
            str(way),
            *(markdown.shown(row["raw"][name]) for name in NAMES),
            f"{row['scale']:.2f}",
            *(markdown.shown(row["scaled"][name]) for name in NAMES[2:]),
        ]
        for way, row in figures["ways"].items()
    ]
    print(*markdown.table(header, rows), sep="\n")
    ways = {str(way): row for way, row in figures["ways"].items()}
    markdown.write_json(arguments.json, {**figures, "ways": ways})


def of_pair(path: Path, lang_pair: str) -> Iterator[Rating]:
    """Yields the ratings of a file in one language pair."""
    return (rating for rating in jsonl.read(path) if rating.segment.key and rating.segment.key.lang_pair == lang_pair)


def choose(ratings: Iterable[Rating], n: int, longest: int, n_references: int) -> list[Rating]:
    """Returns the first `n` ratings in the order of a hash, with enough references and no long text."""

    def place(rating: Rating) -> int:
        return zlib.crc32(f"{rating.segment.source}\n{rating.segment.hypothesis}".encode())

    def is_usable(segment: Segment) -> bool:
        return len(segment.references) >= n_references and len(segment.hypothesis) <= longest

    sample = sorted((rating for rating in ratings if is_usable(rating.segment)), key=place)[:n]
    return [
        replace(rating, segment=replace(rating.segment, references=rating.segment.references[:2])) for rating in sample
    ]


def fixed(dev: Sequence[Rating], on_dev: Sequence[Rating], ratings: Sequence[Rating]) -> list[Rating]:
    """Returns the ratings with the same interval, from the distances between expected and human scores on dev data."""
    gold = np.array(list(map(matese.score, dev)))
    expected = np.array([rating.estimate.value for rating in on_dev if rating.estimate is not None])
    deviation = float(np.sqrt(((gold - expected) ** 2).mean()))
    return [
        replace(rating, estimate=with_interval(rating.estimate, deviation))
        for rating in ratings
        if rating.estimate is not None
    ]


def measure(
    dev: Sequence[Rating], test: Sequence[Rating], on_dev: Sequence[Rating], on_test: Sequence[Rating]
) -> dict[str, Any]:
    """Returns the scale fitted on the dev data, and the figures on the test data without and with it."""
    scale = matese.evaluate(dev, on_dev).figures["uncertainty.scale"].value
    raw, scaled = (
        matese.evaluate(test, on_test, figures=matese.SpanFigures(interval_scale=factor)).figures
        for factor in (1.0, scale)
    )
    return {
        "scale": scale,
        "raw": {name: raw[f"uncertainty.{name}"].value for name in NAMES},
        "scaled": {name: scaled[f"uncertainty.{name}"].value for name in NAMES},
    }


if __name__ == "__main__":
    main()

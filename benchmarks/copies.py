r"""Copies: one of the reference has no error, and one of the source, in the wrong language, is no translation.

    python benchmarks/copies.py --data data/prepared/{dev,bio-test,esa-test}.jsonl \
        --json benchmarks/results/copies-mini.json

Of each language pair as many segments, each with another source. Shares of segments: copies of the reference without a
span, and copies of the source with a Major error; how often either scores (expected score) above or below what a
system wrote for the same source, a tie counting half; and their mean expected scores.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import matese
from matese.annotation import Rating, Segment, Severity
from matese.formats import jsonl
from matese.tagger.questions import reduced

Figures = dict[str, float]


def main() -> None:
    """Prints the table and writes it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="mini")
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="Ratings, JSONL")
    parser.add_argument("--limit", type=int, default=200, help="segments of each pair; default: %(default)s")
    parser.add_argument("--json", type=Path, help="where to write all figures")
    arguments = parser.parse_args()
    annotator = matese.load(arguments.model)
    parts = distinct(rating.segment for path in arguments.data for rating in jsonl.read(path))
    figures = {pair: measure(annotator, segments[: arguments.limit]) for pair, segments in sorted(parts.items())}
    print("\n".join(table(figures)))
    if arguments.json is not None:
        made = {"model": annotator.name, "pairs": figures}
        arguments.json.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


def distinct(segments: Iterable[Segment]) -> dict[str, list[Segment]]:
    """Returns one segment of each source that has a reference, by language pair."""
    found: dict[str, dict[str, Segment]] = defaultdict(dict)
    for segment in segments:
        is_whole = segment.source and segment.references and segment.hypothesis.strip()
        if is_whole and segment.source != segment.references[0] and segment.hypothesis != segment.references[0]:
            pair = (segment.key and segment.key.lang_pair) or "?"
            found[pair].setdefault(segment.source or "", segment)
    return {pair: list(own.values()) for pair, own in found.items()}


def measure(annotator: matese.Annotator, segments: Sequence[Segment]) -> dict[str, Figures]:
    """Returns the figures by what the model reads."""
    figures: dict[str, Figures] = {}
    for inputs in annotator.config.inputs:

        def of(hypotheses: Iterable[str]) -> list[Rating]:
            made = (replace(segment, hypothesis=own) for segment, own in zip(segments, hypotheses, strict=True))
            return list(annotator.annotate_segments([reduced(one, inputs) for one in made]))  # noqa: B023

        written = of(segment.hypothesis for segment in segments)
        of_reference = of(segment.references[0] for segment in segments)
        of_source = of(segment.source or "" for segment in segments)
        figures[inputs] = {
            "segments": len(segments),
            "reference_unmarked": fmean(not rating.errors for rating in of_reference),
            "reference_above": fmean(map(_wins, of_reference, written)),
            "reference_expected": fmean(map(_expected, of_reference)),
            "source_major": fmean(_has_major(rating) for rating in of_source),
            "source_below": fmean(map(_wins, written, of_source)),
            "source_expected": fmean(map(_expected, of_source)),
            "system_expected": fmean(map(_expected, written)),
        }
    return figures


def table(figures: dict[str, dict[str, Figures]]) -> Iterable[str]:
    """Yields the lines of a table in Markdown."""
    yield "| pair | input | segments | reference: unmarked | above a system | source: a Major | below a system |"
    yield f"|{'---|' * 7}"
    names = ("reference_unmarked", "reference_above", "source_major", "source_below")
    for pair, own in figures.items():
        for inputs, row in own.items():
            cells = " | ".join(f"{100 * row[name]:.0f}" for name in names)
            yield f"| {pair} | {inputs} | {row['segments']} | {cells} |"


def _expected(rating: Rating) -> float:
    assert rating.overall is not None
    return rating.overall.value


def _wins(one: Rating, other: Rating) -> float:
    return 0.5 if _expected(one) == _expected(other) else float(_expected(one) > _expected(other))


def _has_major(rating: Rating) -> bool:
    return any(error.severity == Severity.MAJOR for error in rating.errors or ())


if __name__ == "__main__":
    main()

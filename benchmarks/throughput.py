"""How many segments a second a model annotates, beside sentence chrF on the same ones, in one run.

    python benchmarks/throughput.py --data data/prepared/wmt22-test.jsonl --json benchmarks/results/throughput-mini.json

Each input is annotated once to warm up and then several times; the median counts. Speeds are of this machine in this
hour; the ratio to chrF, which runs on one core, is what can be compared.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch

import matese
from matese.annotation import Rating, Segment
from matese.encoder.encoding import Inputs
from matese.formats import jsonl


def main() -> None:
    """Prints the table and writes it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="mini")
    parser.add_argument("--data", type=Path, required=True, help="Ratings, JSONL")
    parser.add_argument("--runs", type=int, default=3, help="timed runs; default: %(default)s")
    parser.add_argument("--json", type=Path, help="where to write all figures")
    arguments = parser.parse_args()
    segments = [rating.segment for rating in jsonl.read(arguments.data) if rating.segment.references]
    annotator = matese.load(arguments.model)

    def annotate(given: list[Segment]) -> list[Rating]:
        annotator.forget()
        return list(annotator.annotate_segments(given))

    speeds: dict[str, float] = {
        inputs: measure(annotate, reduced(segments, inputs), arguments.runs) for inputs in annotator.config.inputs
    }
    speeds["chrF"] = measure(chrf, segments, arguments.runs)
    print(f"{len(segments):,} segments; {annotator.name}; {torch.get_num_threads()} threads")
    print("| | segments a second | of chrF's |\n|---|---|---|")
    for name, speed in speeds.items():
        print(f"| {name} | {speed:.0f} | {speed / speeds['chrF']:.3f} |")
    if arguments.json is not None:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        made = {"model": annotator.name, "segments": len(segments), "threads": torch.get_num_threads()}
        arguments.json.write_text(json.dumps({**made, "segments_a_second": speeds}, indent=1) + "\n", encoding="utf-8")


def reduced(segments: list[Segment], inputs: Inputs) -> list[Segment]:
    """Returns the segments with the texts that are read and no others."""
    return [
        Segment(
            segment.hypothesis,
            None if inputs == "reference" else segment.source,
            () if inputs == "source" else segment.references[:1],
        )
        for segment in segments
    ]


def chrf(segments: list[Segment]) -> list[float]:
    """Returns sentence chrF with the first reference."""
    from sacrebleu.metrics.chrf import CHRF

    metric = CHRF()
    return [metric.sentence_score(segment.hypothesis, [segment.references[0]]).score for segment in segments]


def measure(run: Callable[[list[Segment]], object], segments: list[Segment], n_runs: int) -> float:
    """Returns segments a second, the median of some runs behind a first one."""
    seconds = []
    for number in range(n_runs + 1):
        start = time.perf_counter()
        run(segments)
        if number:
            seconds.append(time.perf_counter() - start)
    return len(segments) / statistics.median(seconds)


if __name__ == "__main__":
    main()

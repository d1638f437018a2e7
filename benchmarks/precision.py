"""How many segments get other spans in bf16 than in float32, or beside other segments, and how fast each is.

python benchmarks/precision.py --data data/prepared/wmt22-test.jsonl
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import matese
from matese.annotation import Rating
from matese.encoder.encoding import Inputs
from matese.formats import jsonl
from matese.tagger.questions import reduced


def main() -> None:
    """Prints the share of segments that differ, by kind of input, and the ratio of the speeds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="mini")
    parser.add_argument("--data", type=Path, required=True, help="Ratings, JSONL")
    parser.add_argument("--limit", type=int, default=2000, help="segments to take")
    parser.add_argument("--threads", type=int)
    arguments = parser.parse_args()
    segments = [rating.segment for rating in jsonl.read(arguments.data) if rating.segment.references]
    segments = segments[: arguments.limit]
    annotators = {
        precision: matese.load(arguments.model, precision=precision, threads=arguments.threads)
        for precision in ("float32", "bf16")
    }
    small = matese.load(arguments.model, precision="bf16", threads=arguments.threads, batch_tokens=700)
    kinds: tuple[Inputs, ...] = ("reference", "source")
    for kind in kinds:
        if kind not in annotators["bf16"].config.inputs:
            continue
        texts = [reduced(segment, kind) for segment in segments]
        results, seconds = {}, {}
        for precision, annotator in annotators.items():
            list(annotator.annotate_segments(texts[:64]))  # warm
            annotator.forget()
            start = time.perf_counter()
            results[precision] = list(annotator.annotate_segments(texts))
            seconds[precision] = time.perf_counter() - start
        n_other = count_other(results["float32"], results["bf16"])
        print(
            f"{kind}: {n_other} of {len(texts):,} segments differ ({n_other / len(texts):.2%}); "
            f"bf16 {len(texts) / seconds['bf16']:.0f} segments a second, "
            f"{seconds['float32'] / seconds['bf16']:.2f} times float32"
        )
        n_beside = count_other(results["bf16"], list(small.annotate_segments(texts[::-1]))[::-1])
        print(f"{kind}: {n_beside} of {len(texts):,} differ in bf16 in another order and smaller batches")


def count_other(one: Sequence[Rating], other: Sequence[Rating]) -> int:
    """Returns how many segments have spans of other places or severities."""
    return sum(places(left) != places(right) for left, right in zip(one, other, strict=True))


def places(rating: Rating) -> list[tuple[int, int, str]]:
    """Returns the spans without their confidence."""
    return [(span.start, span.end, str(span.severity)) for span in rating.errors or ()]


if __name__ == "__main__":
    main()

"""Ways to run a model on the CPU: how fast each is beside float32, and how many segments get the same spans.

    python -m benchmarks.cpu_candidates --data data/prepared/wmt22-test.jsonl --json benchmarks/results/cpu.json

Every candidate annotates the same segments in one run: once to warm up and then in turns with the others, so that a
machine that slows down does so for all; the median counts. Speeds are of this machine in this hour, the ratios are what
can be compared. ONNX Runtime takes part where it is installed.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import util
from pathlib import Path

import torch

import matese
from benchmarks.precision import places
from matese.annotation import Rating, Segment
from matese.annotator import Annotator
from matese.encoder import checkpoint
from matese.formats import jsonl
from matese.tagger import engine, exported
from matese.tagger.engine import TorchEngine
from matese.tagger.model import Tagger
from matese.tagger.predictor import Predictor
from matese.tagger.questions import reduced


@dataclass(frozen=True)
class Figures:
    """What came of a candidate.

    Attributes:
        segments_a_second: the median of the runs.
        ratio: to float32.
        equal: share of the segments whose spans have the places and severities of float32's.
        warm_up: seconds of the first run, compilation included.
    """

    segments_a_second: float
    ratio: float
    equal: float
    warm_up: float


def main() -> None:
    """Prints the table and writes it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="mini")
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="Ratings, JSONL")
    parser.add_argument("--limit", type=int, default=1000, help="segments to take; default: %(default)s")
    parser.add_argument("--runs", type=int, default=3, help="timed after the first, of which 0 tells; default: 3")
    parser.add_argument("--threads", type=int, help="of the CPU")
    parser.add_argument("--batch-tokens", type=int)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these candidates, and float32")
    parser.add_argument("--json", type=Path, help="where to write all figures")
    arguments = parser.parse_args()
    base = matese.load(
        arguments.model,
        device="cpu",
        precision="float32",
        threads=arguments.threads,
        batch_tokens=arguments.batch_tokens,
    )
    ratings = itertools.chain.from_iterable(map(jsonl.read, arguments.data))
    given = (rating.segment for rating in ratings if rating.segment.references)
    segments = [reduced(segment, base.config.inputs[0]) for segment in itertools.islice(given, arguments.limit)]
    with tempfile.TemporaryDirectory() as folder:
        directory = checkpoint.resolve(arguments.model)
        annotators = dict(candidates(directory, base, Path(folder), arguments.only))
        figures = measure(annotators, segments, arguments.runs)
    print(f"{len(segments):,} segments; {base.name}; {torch.get_num_threads()} threads; torch {torch.__version__}")
    print("| | segments a second | of float32's | equal spans | warm-up |\n|---|---|---|---|---|")
    for name, one in figures.items():
        print(f"| {name} | {one.segments_a_second:.0f} | {one.ratio:.2f} | {one.equal:.2%} | {one.warm_up:.1f} s |")
    if arguments.json is not None:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        about = {"model": base.name, "segments": len(segments), "threads": torch.get_num_threads()}
        whole = {**about, "candidates": {name: asdict(one) for name, one in figures.items()}}
        arguments.json.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


def candidates(
    directory: Path, base: Annotator, folder: Path, only: Sequence[str] | None
) -> Iterator[tuple[str, Annotator]]:
    """Yields the ways to run a model by name, or only some; what cannot be made says so and is left out."""
    yield "float32", base
    known = ways(directory, folder)
    if unknown := sorted({*(only or ())} - known.keys()):
        raise SystemExit(f"--only {unknown[0]!r}: must be of {', '.join(map(repr, known))}")
    chosen = {name: make for name, make in known.items() if only is None or name in only}
    for name, make in chosen.items():
        try:
            runs = make()
        except Exception as error:  # of torch or of a runtime, whose reason is told
            print(f"{name}: not made: {error}")
            continue
        tagger, tokenizer = engine.load(directory)
        predictor = Predictor(
            runs,
            tagger.text_encoder(tokenizer),
            batch_tokens=base.options.batch_tokens,
            has_lexical_match=base.config.lexical_match,
        )
        yield name, Annotator(predictor, base.config, name=base.name, options=base.options)


def ways(directory: Path, folder: Path) -> dict[str, Callable[[], TorchEngine | exported.OnnxEngine]]:
    """Returns what makes each way to run a model, by name; what is exported goes to a folder."""

    def read() -> Tagger:
        return engine.load(directory)[0]

    def plain(precision: str) -> TorchEngine:
        return TorchEngine(engine.load(directory, attention="eager")[0], precision)

    def compiled(precision: str) -> TorchEngine:
        tagger = read()
        tagger.compile(dynamic=True)
        return TorchEngine(tagger, precision)

    def int8() -> TorchEngine:
        from torch.ao.quantization import quantize_dynamic

        quantized: Tagger = quantize_dynamic(read(), {torch.nn.Linear})  # type: ignore[no-untyped-call]
        return TorchEngine(quantized, "float32")

    def onnx() -> exported.OnnxEngine:
        exported.export(directory, folder / "onnx")
        return exported.OnnxEngine(folder / "onnx" / checkpoint.GRAPH)

    makers: dict[str, Callable[[], TorchEngine | exported.OnnxEngine]] = {
        "bf16": lambda: TorchEngine(read(), "bf16"),
        "float32, plain attention": lambda: plain("float32"),
        "bf16, plain attention": lambda: plain("bf16"),
        "float32, torch.compile": lambda: compiled("float32"),
        "bf16, torch.compile": lambda: compiled("bf16"),
        "int8, dynamic": int8,
    }
    if util.find_spec("onnxruntime") is not None:
        makers["ONNX Runtime"] = onnx
    return makers


def measure(annotators: dict[str, Annotator], segments: Sequence[Segment], n_runs: int) -> dict[str, Figures]:
    """Returns the figures of each, of runs that take turns; what fails is told and left out."""
    found: dict[str, list[Rating]] = {}
    warm: dict[str, float] = {}
    for name, annotator in annotators.items():
        try:
            warm[name], found[name] = timed(annotator, segments)
        except Exception as error:  # a compiler that is missing, an operation without a kernel
            print(f"{name}: failed: {error}")
    seconds: dict[str, list[float]] = {name: [] for name in found}
    for _ in range(n_runs):
        for name, runs in seconds.items():
            runs.append(timed(annotators[name], segments)[0])
    expected = [places(rating) for rating in found["float32"]]
    speeds = {name: len(segments) / statistics.median(runs or [warm[name]]) for name, runs in seconds.items()}
    return {
        name: Figures(
            segments_a_second=speed,
            ratio=speed / speeds["float32"],
            equal=sum(places(one) == other for one, other in zip(found[name], expected, strict=True)) / len(segments),
            warm_up=warm[name],
        )
        for name, speed in speeds.items()
    }


def timed(annotator: Annotator, segments: Sequence[Segment]) -> tuple[float, list[Rating]]:
    """Returns the seconds that all segments take, none of them remembered, and their Ratings."""
    annotator.forget()
    start = time.perf_counter()
    ratings = list(annotator.annotate_segments(segments))
    return time.perf_counter() - start, ratings


if __name__ == "__main__":
    main()

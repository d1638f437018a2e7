"""Where the time of the engine goes, and what each of its parts brings: the same segments with and without it, in turn.

    python -m benchmarks.changes --segments 1000 --json benchmarks/results/changes.json
    python -m benchmarks.changes --systems 16 --model your-organisation/your-model --device cuda

A part is left out by putting what one would write first in its place; the ratio is its seconds over those with all
parts, both medians of runs that took turns. Steps that run in a thread beside the others count with their own seconds,
so that the shares can add up to more than the whole.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import matese
from benchmarks.speed import ours, table, texts
from matese.annotation import Segment
from matese.annotator import Annotator
from matese.encoder import checkpoint
from matese.encoder.encoding import Encoding, Inputs, TextEncoder
from matese.tagger import decoding, pipeline, predictor
from matese.tagger.batch import Batch, Example, collate
from matese.tagger.engine import TorchEngine
from matese.tagger.predictor import Predictor

_ALL = "all parts"


def main() -> None:
    """Prints both tables and writes them as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="mini")
    parser.add_argument("--data", type=Path, help="ratings as JSONL, whose texts are taken; else they are made up")
    parser.add_argument("--segments", type=int, default=1000, help="of each system; default: %(default)s")
    parser.add_argument("--systems", type=int, default=1, help="that translate them; default: %(default)s")
    parser.add_argument("--runs", type=int, default=3, help="that are timed; default: %(default)s")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--threads", type=int, help="of the CPU")
    parser.add_argument("--json", type=Path, help="where to write all figures")
    given = parser.parse_args()
    annotator = matese.load(given.model, device=given.device, precision=given.precision, threads=given.threads)
    segments = _segments(given, annotator.config.inputs[0])
    seconds = measure(annotator, segments, given.runs)
    whole, steps = profile(annotator, segments)
    medians = {name: statistics.median(runs) for name, runs in seconds.items()}
    print(f"{len(segments):,} segments; {annotator.signature(annotator.config.inputs[0])}")
    print("| without | seconds | times those with all parts |\n|---|---|---|")
    for name, median in medians.items():
        print(f"| {name} | {median:.2f} | {median / medians[_ALL]:.2f} |")
    print("\n| step | seconds | of the whole |\n|---|---|---|")
    for name, own in steps.items():
        print(f"| {name} | {own:.2f} | {own / whole:.0%} |")
    if given.json is not None:
        machine = table.machine("cpu" if given.device == "auto" else given.device)
        figures = {"machine": machine, "segments": len(segments), "model": annotator.name}
        figures |= {"precision": annotator.options.precision, "without": seconds, "whole": whole, "steps": steps}
        given.json.parent.mkdir(parents=True, exist_ok=True)
        given.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def _segments(given: argparse.Namespace, inputs: Inputs) -> list[Segment]:
    tokenizer = checkpoint.resolve("mini") / "tokenizer.json"
    natural = texts.of_ratings(given.data, given.segments) if given.data else texts.make(tokenizer, given.segments)
    return [ours.segment_of(text, inputs) for text in texts.systems(natural, given.systems)]


def without(annotator: Annotator) -> dict[str, Callable[[], AbstractContextManager[object]]]:
    """Returns what leaves a part out while it is entered, by the name of the part."""

    def in_turn(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        return (function(item) for item in items)

    def one_by_one(tagged: Sequence[Any], **options: Any) -> list[Any]:  # noqa: ANN401
        return [found for one in tagged for found in original([one], **options)]

    def unshared(examples: Sequence[Example], *, pad_id: int, share_contexts: bool) -> Batch:
        return collate(examples, pad_id=pad_id)

    original = decoding.decode_all
    parts: dict[str, Callable[[], AbstractContextManager[object]]] = {
        _ALL: nullcontext,
        "batches of similar lengths": lambda: patch.object(predictor, "by_length", in_order),
        "preparation in a thread": lambda: patch.object(pipeline, "ahead", in_turn),
        "decoding of many at once": lambda: patch.object(decoding, "decode_all", one_by_one),
        "results of equal rows": lambda: patch.object(predictor, "REMEMBERED", 0),
    }
    runs = annotator._predictor._engine
    if isinstance(runs, TorchEngine):
        if runs.packs:
            parts["attention without padding"] = lambda: patch.object(runs, "packs", False)
        if runs.has_decoder:
            parts["contexts that are shared"] = lambda: patch.object(predictor, "collate", unshared)
    return parts


def in_order(encodings: Sequence[Encoding], batch_tokens: int) -> Iterator[list[int]]:
    """Yields the numbers of the encodings of each batch in the order in which they came, within the budget."""
    batch: list[int] = []
    longest = 0
    for number, encoding in enumerate(encodings):
        n_tokens = len(encoding.ids) + (0 if encoding.decoder_ids is None else len(encoding.decoder_ids))
        if batch and max(longest, n_tokens) * (len(batch) + 1) > batch_tokens:
            yield batch
            batch, longest = [], 0
        longest = max(longest, n_tokens)
        batch.append(number)
    if batch:
        yield batch


def measure(annotator: Annotator, segments: Sequence[Segment], n_runs: int) -> dict[str, list[float]]:
    """Returns the seconds of each run without each part, which take turns, after one that is not measured."""
    parts = without(annotator)
    seconds: dict[str, list[float]] = {name: [] for name in parts}
    run(annotator, segments[:64])
    for _ in range(n_runs):
        for name, leave_out in parts.items():
            with leave_out():
                seconds[name].append(run(annotator, segments))
    return seconds


def run(annotator: Annotator, segments: Sequence[Segment]) -> float:
    """Returns the seconds that all segments take, none of them remembered."""
    annotator.forget()
    start = time.perf_counter()
    for _ in annotator.annotate_segments(segments):
        pass
    return time.perf_counter() - start


def profile(annotator: Annotator, segments: Sequence[Segment]) -> tuple[float, dict[str, float]]:
    """Returns the seconds of a run, and those of each of its steps."""
    spent: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def timed(name: str, owner: object, attribute: str) -> Iterator[None]:
        original = getattr(owner, attribute)

        def wrapped(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401
            start = time.perf_counter()
            try:
                return original(*arguments, **options)
            finally:
                spent[name] += time.perf_counter() - start

        with patch.object(owner, attribute, wrapped):
            yield

    with ExitStack() as stack:
        for name, owner, attribute in (
            ("preparation", Predictor, "prepare"),
            ("of which tokenising", TextEncoder, "tokenize"),
            ("of which batches", Predictor, "_batches"),
            ("the model", Predictor, "_run"),
            ("decoding", decoding, "decode_all"),
        ):
            stack.enter_context(timed(name, owner, attribute))
        whole = run(annotator, segments)
    return whole, dict(sorted(spent.items(), key=lambda one: -one[1]))


if __name__ == "__main__":
    main()

"""Measure what marking costs the host, beside a network that answers at once; see `benchmarks.engines --host`.

The network's answers are those that the model gave to the same batches in a first run, which is not measured. What
remains is reading, tokenising, batching, decoding, counting and writing, in the code that users run.
"""

from __future__ import annotations

import copy
import dataclasses
import itertools
import os
import tempfile
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matese
from benchmarks import markdown
from matese.annotation import Rating, Segment
from matese.formats import detection
from matese.formats.tables import jsonl
from matese.model.annotator import Annotator
from matese.model.config import ModelConfig
from matese.model.decoding_choice import DecodingChoice
from matese.model.engines.batch_engine import BatchEngine, Runner
from matese.model.heads.networks import NetworkOutput
from matese.model.heads.settings import HeadSettings
from matese.model.heads.tags.network import TagLogits
from matese.model.heads.tags.settings import TagSettings
from matese.model.inputs import Inputs
from matese.model.interpreter import Interpreter
from matese.model.model_input import with_inputs
from matese.model.predictor import Predictor
from matese.mqm import SystemSummary

_EXAMPLES = Path(__file__).absolute().parents[1] / "examples"
_BATCH_TOKENS = 2**16
"""As many as a GPU takes at a time."""
_METHODS = ("join", "over_rows", "over_readings", "change", "mark")


@dataclass(frozen=True)
class Cost:
    """Processor time in milliseconds a segment.

    Attributes:
        steps: by step, in the order of the work.
        heads: of decoding, by head.
        watched: seconds of all timed functions of the run.
    """

    steps: dict[str, float]
    heads: dict[str, float]
    watched: float

    @property
    def total(self) -> float:
        """Of all steps."""
        return sum(self.steps.values())


class Answering:
    """A runner that answers at once what another one has said of the same batch; see `Runner`."""

    def __init__(self, runner: Runner, kinds: Collection[type] | None = None) -> None:
        """Takes the runner, and the types of the answers; None for those of all heads."""
        self._runner = runner
        self._kinds = kinds
        self._known: dict[bytes, NetworkOutput] = {}

    def __call__(self, batch: Inputs) -> NetworkOutput:
        """Returns the output, which is only computed the first time."""
        key = batch.ids.numpy().tobytes()
        if key not in self._known:
            output = self._runner(batch)
            outputs = [
                of_kind for kind, of_kind in output.by_type.items() if self._kinds is None or kind in self._kinds
            ]
            self._known[key] = NetworkOutput.of(outputs)
        return self._known[key]


class Stopwatch:
    """Processor time of functions in seconds, by name, without that of other timed functions that they call."""

    def __init__(self) -> None:
        self.seconds = defaultdict[str, float](float)
        self._local = threading.local()

    def time(self, thing: object, method: str, name: str) -> None:
        """Times a method of an object from now on."""
        function = getattr(thing, method)

        def timed(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401  (of any function)
            return self.call(name, lambda: function(*arguments, **named))

        setattr(thing, method, timed)

    def call(self, name: str, function: Callable[[], Any]) -> Any:  # noqa: ANN401  (of any function)
        """Returns the function's result; its time counts under the name."""
        outer = getattr(self._local, "inside", 0.0)
        self._local.inside = 0.0
        start = time.thread_time()
        result = function()
        taken = time.thread_time() - start
        self.seconds[name] += taken - self._local.inside
        self._local.inside = outer + taken
        return result


def print_tables(model: str, data: Path | None, *, n_segments: int, n_runs: int) -> None:
    """Prints the tables of a model with all its heads and as a plain tagger."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # so that the tokenizer computes where it is called, and is timed
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "segments.jsonl"
        ratings = [Rating(segment, None, ()) for segment in segments(data, n_segments)]
        path.write_text("".join(f"{jsonl.dumps(rating)}\n" for rating in ratings), encoding="utf-8")
        annotator = matese.load(model, device="cpu", precision="float32", engine="torch", batch_tokens=_BATCH_TOKENS)
        engine = annotator.predictor.engine
        assert isinstance(engine, BatchEngine)
        every = Answering(engine.runner)
        costs = [
            measure(_with_runner(annotator, runner, config), path, n_runs=n_runs)
            for runner, config in (
                (every, annotator.config),
                (Answering(every, [TagLogits]), plain_tagger(annotator.config)),
            )
        ]
    titles = (annotator.name, "with its tags alone")
    print(f"Processor time in milliseconds a segment, of {len(ratings):,} segments.\n")
    for kind, names in (("step", costs[0].steps), ("head, in decoding", costs[0].heads)):
        rows = [[name, *(_shown((cost.steps | cost.heads).get(name)) for cost in costs)] for name in names]
        rows += [["**all**", *(f"**{cost.total:.3f}**" for cost in costs)]] if kind == "step" else []
        print(*markdown.table([kind, *titles], rows), sep="\n", end="\n\n")


def segments(data: Path | None, n_segments: int) -> list[Segment]:
    """Returns segments with a reference: of a file, or the examples, repeated with a number."""
    if data is not None:
        referenced = (rating.segment for rating in detection.read(str(data)) if rating.segment.references)
        return [with_inputs(segment, "reference") for segment in itertools.islice(referenced, n_segments)]
    lines = [(_EXAMPLES / f"{name}.txt").read_text(encoding="utf-8").splitlines() for name in ("mt", "ref")]
    repeated = enumerate(itertools.cycle(zip(*lines, strict=True)))
    return [
        Segment(f"{hypothesis} {number}", None, (f"{reference} {number}",))
        for number, (hypothesis, reference) in itertools.islice(repeated, n_segments)
    ]


def plain_tagger(config: ModelConfig) -> ModelConfig:
    """Returns the settings of a model with its tag head alone."""
    fitted = tuple(dataclasses.replace(entry, meaning=None) for entry in config.decoding.fitted)
    decoding = dataclasses.replace(config.decoding, fitted=fitted)
    return dataclasses.replace(config, heads=HeadSettings(tags=TagSettings()), decoding=decoding)


def measure(make: Callable[[], Annotator], path: Path, *, n_runs: int) -> Cost:
    """Returns the cost of the fastest of several runs, after one in which the network is computed.

    Args:
        make: returns an annotator that remembers nothing.
        path: of the segments.
        n_runs: number of runs.
    """
    list(make().annotate_segments(rating.segment for rating in jsonl.read(path)))
    total = min(_mark(make(), path, Stopwatch()) for _ in range(n_runs))
    return min((_measure(make(), path, total) for _ in range(n_runs)), key=lambda cost: cost.watched)


def _measure(annotator: Annotator, path: Path, total: float) -> Cost:
    """Returns the steps of one run; `total` is the time of a run in which only what calls the annotator is timed."""
    watch = Stopwatch()
    predictor = annotator.predictor
    heads = predictor.interpreter.heads
    watch.time(predictor.text_encoder, "tokenize", "tokenise")
    watch.time(predictor, "prepare", "make rows")
    watch.time(predictor.engine, "prepare", "make batches")
    watch.time(predictor, "compute", "outputs of rows")
    for head in heads:
        for method in _METHODS:
            watch.time(head, method, head.name)
    _mark(annotator, path, watch)
    n_segments = annotator.counts.n_segments
    of_heads = {head.name: watch.seconds[head.name] for head in heads}
    named = ("read", "tokenise", "make rows", "make batches", "outputs of rows")
    steps = {name: watch.seconds[name] for name in named} | {"decode: heads": sum(of_heads.values())}
    last = {name: watch.seconds[name] for name in ("count", "write")}
    rest = total - sum(steps.values()) - sum(last.values())
    return Cost(
        {name: 1000 * seconds / n_segments for name, seconds in {**steps, "decode: ratings": rest, **last}.items()},
        {name: 1000 * seconds / n_segments for name, seconds in of_heads.items()},
        sum(watch.seconds.values()),
    )


def _mark(annotator: Annotator, path: Path, watch: Stopwatch) -> float:
    """Marks the segments of a file as `matese tag` does; returns the processor seconds."""
    start = time.process_time()
    segments = watch.call("read", lambda: [rating.segment for rating in jsonl.read(path)])
    ratings = list(annotator.annotate_segments(segments))
    summary = SystemSummary("")
    watch.call("count", lambda: deque(map(summary.add, ratings), maxlen=0))
    watch.call("write", lambda: [jsonl.dumps(rating) for rating in ratings])
    return time.process_time() - start


def _with_runner(annotator: Annotator, runner: Runner, config: ModelConfig) -> Callable[[], Annotator]:
    """Returns a function that makes an annotator with these settings, computed by the runner."""
    encoder = annotator.predictor.text_encoder

    def make() -> Annotator:
        engine = BatchEngine(runner, pad_id=encoder.pad_id, batch_tokens=_BATCH_TOKENS)
        predictor = Predictor(Interpreter(config), engine, copy.copy(encoder))
        return Annotator(predictor, config.decoding.varied(DecodingChoice()), name=annotator.name)

    return make


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"

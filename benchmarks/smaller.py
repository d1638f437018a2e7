r"""Measure smaller copies of a model: size, speed and agreement with the whole model.

    python -m benchmarks.smaller --model runs/small-estimator/model --texts data/prepared/dev.jsonl --segments 400

`matese shrink` makes each copy and measures importance on 300 texts of the same file. Speed is relative to the whole
model: the median of three rounds in which all models take turns, in float32 on one thread. Agreement is the Pearson
correlation of the copy's scores with the whole model's.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

import matese
from benchmarks import markdown
from matese import cli
from matese.annotation import Segment
from matese.annotator import Annotator
from matese.encoder import checkpoint, roberta_config
from matese.formats.tables import jsonl

_ROUNDS = 3


def main() -> None:
    """Prints the table in Markdown."""
    parser = markdown.parser(__doc__)
    parser.add_argument("--model", required=True, help="a model directory")
    parser.add_argument("--texts", type=Path, required=True, help="segments with sources and references, JSONL")
    parser.add_argument("--segments", type=int, default=400, metavar="N", help="number of segments")
    arguments = parser.parse_args()
    segments = read(arguments.texts, arguments.segments)
    with tempfile.TemporaryDirectory() as folder:
        directories = {"whole": checkpoint.resolve(arguments.model)} | shrink_all(
            arguments.model, arguments.texts, Path(folder)
        )
        annotators = {
            name: matese.load(path, precision="float32", device="cpu", threads=1) for name, path in directories.items()
        }
        scores = {name: score(annotator, segments) for name, annotator in annotators.items()}
        seconds = times(annotators, segments)
        sizes = {name: (path / checkpoint.TENSORS).stat().st_size / 1e6 for name, path in directories.items()}
    agreement = {name: np.corrcoef(scores["whole"], own)[0, 1] for name, own in scores.items()}
    rows = [
        [name, f"{sizes[name]:.1f}", f"{seconds['whole'] / seconds[name]:.2f}", f"{agreement[name]:.3f}"]
        for name in directories
    ]
    print(*markdown.table(["copy", "MB", "speed", "agreement"], rows), sep="\n")


def read(path: Path, n_segments: int) -> list[Segment]:
    """Returns segments that have a source and a reference, spread evenly over a file."""
    segments = [rating.segment for rating in jsonl.read(str(path))]
    usable = [segment for segment in segments if segment.source and segment.references]
    return usable[:: max(1, len(usable) // n_segments)][:n_segments]


def shrink_all(model: str, texts: Path, folder: Path) -> dict[str, Path]:
    """Writes the smaller copies and returns their directories by name."""
    encoder = roberta_config.read(checkpoint.read_config(checkpoint.resolve(model)).encoder)
    layers, inner, heads = encoder.num_hidden_layers, encoder.intermediate_size, encoder.num_attention_heads
    half = {"--inner-width": inner // 2, "--heads": heads // 2}
    sizes: dict[str, dict[str, int]] = {
        f"{layers - 1} of {layers} layers": {"--layers": layers - 1},
        f"{layers // 2} of {layers} layers": {"--layers": layers // 2},
        f"{inner // 2} of {inner} units": {"--inner-width": inner // 2},
        f"{heads // 2} of {heads} heads": {"--heads": heads // 2},
        "half of units and heads": half,
        "8-bit matrices": {},
    }
    directories = {name: folder / name.replace(" ", "-") for name in sizes}
    for name, size in sizes.items():
        options = [text for option, number in size.items() for text in (option, str(number))]
        options = [*options, "--data", str(texts)] if size else ["--int8"]
        assert cli.main(["shrink", model, *options, "--output", str(directories[name])]) == 0
    return directories


def score(annotator: Annotator, segments: list[Segment]) -> list[float]:
    """Returns the scores of the segments."""
    return [rating.estimate.value for rating in annotator.annotate_segments(segments) if rating.estimate]


def times(annotators: dict[str, Annotator], segments: list[Segment]) -> dict[str, float]:
    """Returns the median time of each model, in seconds."""
    taken: dict[str, list[float]] = {name: [] for name in annotators}
    for _ in range(_ROUNDS):
        for name, annotator in annotators.items():
            annotator.predictor.forget()
            start = time.process_time()  # of this process only: other programs may use the machine too
            score(annotator, segments)
            taken[name].append(time.process_time() - start)
    return {name: statistics.median(own) for name, own in taken.items()}


if __name__ == "__main__":
    main()

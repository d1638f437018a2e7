r"""Compare the engines that can compute a model on a processor: numpy and torch.

    OMP_NUM_THREADS=1 python -m benchmarks.engines [--data data/prepared/wmt22-test.jsonl]

The table shows the processor time of `matese tag` for 1 and 10 segments with a reference from a cold start, in seconds;
the segments per second of processor time after that; and the share of segments whose marks are those of torch. Each
figure is from the fastest of several runs, in which the engines take turns. Processor time hardly depends on other load
of the machine. numpy is measured on the number of segments up to which `matese` chooses it.

    OMP_NUM_THREADS=1 python -m benchmarks.engines --host [--data ...]

measures what a network costs beside its own work, which matters where a GPU does that: reading, tokenising, batching,
decoding, counting and writing, see `benchmarks.host_path`.

    OMP_NUM_THREADS=1 python -m benchmarks.engines --parts [--data ...]
    OMP_NUM_THREADS=1 python -m benchmarks.engines --eight-bits [--data ...]

measure what the encoder and each head cost in torch, and what products in 8 bits would bring and change. Without data,
the examples are repeated.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import matese
from benchmarks import eight_bits, host_path, markdown, part_costs
from matese.formats.tables import jsonl
from matese.model.engines import numpy_engine
from matese.model.storage import checkpoint

_FEW = (1, 10)


def main() -> None:
    """Prints the table."""
    parser = markdown.parser(__doc__, "--model")
    parser.add_argument("--data", type=Path, help="gold Ratings, JSONL")
    parser.add_argument("--host", action="store_true", help="measure the host beside a network that answers at once")
    parser.add_argument("--parts", action="store_true", help="measure the parts of the model")
    parser.add_argument("--eight-bits", action="store_true", help="measure products in 8 bits")
    parser.add_argument("--segments", type=int, default=300, help="default: %(default)s")
    parser.add_argument("--runs", type=int, default=3, help="runs of each command; default: %(default)s")
    options = parser.parse_args()
    how = {"n_segments": options.segments, "n_runs": options.runs}
    if options.host:
        host_path.print_tables(options.model, options.data, **how)
        return
    if options.parts:
        part_costs.print_table(options.model, options.data, **how)
        return
    if options.eight_bits:
        eight_bits.print_tables(options.model, options.data, **how)
        return
    with tempfile.TemporaryDirectory() as folder:
        print(f"Model: `{matese.load(options.model).name}`.\n")
        rows = measure(Path(folder), options)
    print(*markdown.table(["engine", "1 segment", "10 segments", "segments/s", "same marks"], rows), sep="\n")


def measure(folder: Path, options: argparse.Namespace) -> list[list[str]]:
    """Returns the rows of the table."""
    most = numpy_engine.most_segments(checkpoint.read_config(checkpoint.resolve(options.model)))
    seconds: dict[tuple[str, int], float] = {}
    engines = {name: ["--model", options.model, "--threads", "1", "--engine", name] for name in ("numpy", "torch")}
    runs = [
        (engine, arguments, number)
        for engine, arguments in engines.items()
        for number in (*_FEW, most if engine == "numpy" else options.segments)
    ]
    segments = host_path.segments(options.data, max(number for *_, number in runs))
    for number in {number for *_, number in runs}:
        lines = [json.dumps({"mt": segment.hypothesis, "ref": segment.references[0]}) for segment in segments[:number]]
        (folder / f"{number}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for _, (engine, arguments, number) in itertools.product(range(options.runs), runs):
        output = folder / f"{engine}-{number}.jsonl"
        command = [sys.executable, "-m", "matese", "tag", "--input", str(folder / f"{number}.jsonl"), *arguments]
        taken = processor_seconds([*command, "--output", str(output)])
        seconds[engine, number] = min(taken, seconds.get((engine, number), taken))
    marks = {(engine, number): _marks(folder / f"{engine}-{number}.jsonl") for engine, _, number in runs}
    rows = []
    for engine, _, number in runs[2::3]:
        rate = (number - _FEW[-1]) / (seconds[engine, number] - seconds[engine, _FEW[-1]])
        pairs = zip(marks[engine, number], marks["torch", options.segments], strict=False)
        same = [mine == theirs for mine, theirs in pairs]
        few = [f"{seconds[engine, size]:.1f}" for size in _FEW]
        rows.append([engine, *few, f"{rate:.0f}", f"{100 * sum(same) / len(same):.1f} %"])
    return rows


def processor_seconds(command: list[str]) -> float:
    """Returns the processor time of a command, which must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _marks(path: Path) -> list[list[tuple[int, int, object]]]:
    return [[(error.start, error.end, error.severity) for error in rating.errors or ()] for rating in jsonl.read(path)]


if __name__ == "__main__":
    main()

"""Runs systems in turn, so that other load on the machine affects all of them, and shows and writes the results."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

import matese
from benchmarks import markdown

ROOT = Path(__file__).resolve().parents[2]
_PEERS = ("comet regression", "comet unified", "plain loop", "TER")


@dataclass(frozen=True)
class Entry:
    """A system to measure.

    Attributes:
        group: systems of a group are run in turn and compared.
        name: within the group.
        maker: function of `benchmarks.speed.systems` that gets this entry.
        texts: file of segments.
        model: directory of the model, or another name that the maker understands.
        inputs: texts read beside the hypothesis; "" for all.
        precision: "float32" or "bf16".
        device: a torch device.
        threads: CPU threads.
        python: interpreter.
    """

    group: str
    name: str
    maker: str
    texts: str = ""
    model: str = ""
    inputs: str = ""
    precision: str = "float32"
    device: str = "cpu"
    threads: int = 1
    python: str = sys.executable

    @property
    def full_name(self) -> str:
        """The group and the name."""
        return f"{self.group}/{self.name}"


@dataclass(frozen=True)
class Result:
    """The seconds of each run of a system, its peak memory, and why it failed, if it did."""

    entry: Entry
    seconds: tuple[float, ...] = ()
    n_segments: int = 0
    peak_bytes: int = 0
    problem: str = ""

    @property
    def speed(self) -> float:
        """Segments per second, by the median of the runs."""
        return self.n_segments / statistics.median(self.seconds)


Results = Mapping[str, Result]
"""Results by the full name of the system."""


def run_all(entries: Sequence[Entry], n_runs: int) -> Iterator[Result]:
    """Yields the result of a system so far after each of its runs."""
    results = {entry: Result(entry) for entry in entries}
    for _ in range(n_runs):
        for entry, before in results.items():
            if before.problem:
                continue
            try:
                answer = _run(entry)
                peak = max(before.peak_bytes, answer["peak_bytes"])
                results[entry] = Result(entry, (*before.seconds, answer["seconds"]), answer["n_segments"], peak)
            except RuntimeError as error:
                results[entry] = Result(entry, problem=str(error))
            yield results[entry]


def ratio(results: Results, name: str, other: str) -> float | None:
    """Returns the segments per second of a system over those of another; None if one was not measured."""
    first = results.get(name)
    second = results.get(other)
    return None if first is None or second is None or first.problem or second.problem else first.speed / second.speed


def _run(entry: Entry) -> dict[str, Any]:
    """Returns the answer of one process of a system; raises a RuntimeError with its last line of output if it fails."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(entry.threads), "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}
    command = [entry.python, "-m", "benchmarks.speed.systems", json.dumps(asdict(entry))]
    try:
        ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, errors="replace")
    except OSError as error:  # no such interpreter
        raise RuntimeError(str(error)) from error
    if ran.returncode:
        last = ran.stderr.strip().splitlines()[-1:] or ["nothing said"]
        raise RuntimeError(f"exit code {ran.returncode}: {last[0].strip()}")
    answer: dict[str, Any] = json.loads(ran.stdout)
    return answer


def lines(results: Results) -> Iterator[str]:
    """Yields the table of all systems, then the errors of those that failed."""
    heads = ["system", "segments/s", "peak MB", *(f"× {peer}" for peer in _PEERS)]
    yield from markdown.table(heads, [[name, *_cells(results, name, result)] for name, result in results.items()])
    yield from (f"{name}: {result.problem}" for name, result in results.items() if result.problem)


def _cells(results: Results, name: str, result: Result) -> list[str]:
    if result.problem:
        return ["failed", *[""] * (1 + len(_PEERS))]
    versus = [ratio(results, name, f"{result.entry.group}/{peer}") for peer in _PEERS]
    return [_number(result.speed), f"{result.peak_bytes / 1e6:,.0f}", *map(_number, versus)]


def write(path: Path, results: Results, settings: dict[str, object]) -> None:
    """Writes all figures, with the settings they were measured with."""
    rows = []
    for name, result in results.items():
        figures = {key: value for key, value in asdict(result).items() if key != "entry"}
        about = {key: getattr(result.entry, key) for key in ("inputs", "precision", "device", "threads")}
        rows.append({"name": name, **about, **figures, "segments_a_second": None if result.problem else result.speed})
    markdown.write_json(path, {**settings, "results": rows})


def machine(device: str) -> dict[str, object]:
    """Returns a description of the machine and the code."""
    path = Path("/proc/cpuinfo")
    rows = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {
        "processor": next((row.partition(":")[2].strip() for row in rows if row.startswith("model name")), "unknown"),
        "cores": os.cpu_count(),
        "device": torch.cuda.get_device_name() if device.startswith("cuda") else device,
        "matese": matese.__version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
    }


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"

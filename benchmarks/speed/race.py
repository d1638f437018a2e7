"""Contestants in turn, one run of each after the other, so that what else the machine does hits all alike.

Each run is a process of its own: none is in the way of another, and its memory is its own.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Entry:
    """A contestant.

    Attributes:
        group: those that are run in turn and compared.
        name: in the group.
        maker: module with a `prepare`, which is given all of this.
        texts: file of segments.
        model: directory, or what else the maker runs.
        inputs: what is read beside the hypothesis, for those that have the choice.
        precision: "float32", or "bf16".
        device: as torch names it.
        threads: of the CPU.
        python: the interpreter.
    """

    group: str
    name: str
    maker: str
    texts: str = ""
    model: str = ""
    inputs: str = "reference"
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
    """What came of a contestant.

    Attributes:
        entry: who it was.
        seconds: of each run.
        n_segments: see `child.Prepared`, as with the next two.
        peak_bytes: most memory of its processes, at any time.
        problem: why there is nothing else; "" where there is.
    """

    entry: Entry
    seconds: tuple[float, ...] = ()
    n_segments: int = 0
    n_tokens: int = 0
    flops: float = 0
    peak_bytes: int = 0
    problem: str = ""

    @property
    def median(self) -> float:
        """Seconds of a run."""
        return statistics.median(self.seconds)

    @property
    def speed(self) -> float:
        """Segments a second."""
        return self.n_segments / self.median

    @property
    def rate(self) -> float:
        """Floating-point operations a second."""
        return self.flops / self.median

    def plain(self) -> dict[str, Any]:
        """Returns all of it as JSON has it."""
        return asdict(self)


def race(entries: Sequence[Entry], n_runs: int) -> Iterator[Result]:
    """Yields what came of each, in order; one that fails is told of and hinders no other."""
    answers: dict[Entry, list[dict[str, Any]]] = {entry: [] for entry in entries}
    problems: dict[Entry, str] = {}
    for _ in range(n_runs):
        for entry in entries:
            if entry not in problems:
                try:
                    answers[entry].append(_run(entry))
                except RuntimeError as error:
                    problems[entry] = str(error)
    for entry in entries:
        if entry in problems:
            yield Result(entry, problem=problems[entry])
        else:
            own = answers[entry]
            work = {name: own[-1][name] for name in ("n_segments", "n_tokens", "flops")}
            peak = max(one["peak_bytes"] for one in own)
            yield Result(entry, tuple(one["seconds"] for one in own), **work, peak_bytes=peak)


def _run(entry: Entry) -> dict[str, Any]:
    """Returns what one process of a contestant says; raises a RuntimeError with its last words where it fails."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(entry.threads), "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}
    command = [entry.python, "-m", "benchmarks.speed.child", json.dumps(asdict(entry))]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, errors="replace")
    if ran.returncode:
        last = ran.stderr.strip().splitlines()[-1:] or ["nothing said"]
        raise RuntimeError(f"exit code {ran.returncode}: {last[0].strip()}")
    answer: dict[str, Any] = json.loads(ran.stdout)
    return answer

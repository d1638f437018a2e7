"""Contestants in turn, one run of each after the other, so that what else the machine does hits all alike.

Each run is a process of its own: none is in the way of another, and its memory is its own.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
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

    def after(self, answer: Mapping[str, Any]) -> Result:
        """Returns what has come of it with what one more run says."""
        work = {name: answer[name] for name in ("n_segments", "n_tokens", "flops")}
        peak = max(self.peak_bytes, answer["peak_bytes"])
        return Result(self.entry, (*self.seconds, answer["seconds"]), **work, peak_bytes=peak)

    def plain(self) -> dict[str, Any]:
        """Returns all of it as JSON has it."""
        return asdict(self)


def race(entries: Sequence[Entry], n_runs: int, known: Mapping[str, Result] | None = None) -> Iterator[Result]:
    """Yields what has come of a contestant so far whenever one has run; one that fails hinders no other.

    Args:
        entries: the contestants.
        n_runs: of each.
        known: what has come of some, by their full names: of these only the runs that are missing are made.
    """
    found = {entry: (known or {}).get(entry.full_name, Result(entry)) for entry in entries}
    # What has failed before is tried again: its reason may be gone.
    found = {entry: Result(entry) if result.problem else result for entry, result in found.items()}
    for number in range(n_runs):
        for entry in entries:
            if found[entry].problem or len(found[entry].seconds) > number:
                continue
            try:
                found[entry] = found[entry].after(_run(entry))
            except RuntimeError as error:
                found[entry] = Result(entry, problem=str(error))
            yield found[entry]


def _run(entry: Entry) -> dict[str, Any]:
    """Returns what one process of a contestant says; raises a RuntimeError with its last words where it fails."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(entry.threads), "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}
    command = [entry.python, "-m", "benchmarks.speed.child", json.dumps(asdict(entry))]
    try:
        ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, errors="replace")
    except OSError as error:  # no such interpreter
        raise RuntimeError(str(error)) from error
    if ran.returncode:
        last = ran.stderr.strip().splitlines()[-1:] or ["nothing said"]
        raise RuntimeError(f"exit code {ran.returncode}: {last[0].strip()}")
    answer: dict[str, Any] = json.loads(ran.stdout)
    return answer

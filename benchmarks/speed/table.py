"""Shows the results as a table, and writes them as JSON with the machine that they come from."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import torch

import matese
from benchmarks import markdown
from benchmarks.speed.runs import Result, Results, ratio

_PEERS = ("comet regression", "comet unified", "plain loop", "TER")


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

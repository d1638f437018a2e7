"""Shows the results as a table, and writes them as JSON with the machine that they come from."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

import matese
from benchmarks.speed.runs import Result, Results, ratio
from matese import files

_PEERS = ("comet regression", "comet unified", "plain loop", "TER")


def show(found: Results) -> None:
    """Prints the table of all systems, then the errors of those that failed."""
    console = Console(width=None if Console().is_terminal else 160)
    table = Table("system")
    for name in ("segments/s", "peak MB", *(f"× {peer}" for peer in _PEERS)):
        table.add_column(name, justify="right")
    for name, result in found.items():
        table.add_row(name, *_cells(found, name, result))
    console.print(table)
    for name, result in found.items():
        if result.problem:
            console.print(f"{name}: {result.problem}", markup=False, highlight=False)


def _cells(found: Results, name: str, result: Result) -> list[str]:
    if result.problem:
        return ["failed"]
    versus = [ratio(found, name, f"{result.entry.group}/{peer}") for peer in _PEERS]
    return [_number(result.speed), f"{result.peak_bytes / 1e6:,.0f}", *map(_number, versus)]


def write(path: Path, found: Results, given: dict[str, object]) -> None:
    """Writes all figures, with the settings they were measured with."""
    rows = []
    for name, result in found.items():
        own = {key: value for key, value in asdict(result).items() if key != "entry"}
        about = {key: getattr(result.entry, key) for key in ("inputs", "precision", "device", "threads")}
        rows.append({"name": name, **about, **own, "segments_a_second": None if result.problem else result.speed})
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write_lines(path, [json.dumps({**given, "results": rows}, indent=1)])


def machine(device: str) -> dict[str, object]:
    """Returns a description of the machine and the code."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "device": torch.cuda.get_device_name() if device.startswith("cuda") else device,
        "matese": matese.__version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
    }


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"

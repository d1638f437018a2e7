"""The results as tables and as JSON."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

import matese
from benchmarks.speed.goals import Goal, Results, goals, share, speeds
from benchmarks.speed.race import Entry, Result
from matese.encoder import checkpoint

_PEERS = ("comet regression", "comet unified", "plain loop", "TER")


def show(found: Results, device: str) -> None:
    """Prints a table of the contestants, and one of the goals."""
    console = Console(width=None if Console().is_terminal else 160)
    table = Table("contestant", *(["segments/s", "tokens/s", "TFLOP/s", "of the ceiling", "peak MB"]))
    for peer in _PEERS:
        table.add_column(f"× {peer}", justify="right")
    for column in table.columns[1:]:
        column.justify = "right"
    for name, result in found.items():
        table.add_row(name, *_cells(found, name, result))
    console.print(table)
    console.print(_goal_table(goals(found, device)))
    for name, result in found.items():
        if result.problem:
            console.print(f"{name}: {result.problem}", markup=False, highlight=False)


def _cells(found: Results, name: str, result: Result) -> list[str]:
    if result.problem:
        return ["failed"]
    ceiling = share(found, name)
    versus = [speeds(found, name, f"{result.entry.group}/{peer}") for peer in _PEERS] if result.n_segments else []
    return [
        _number(result.speed if result.n_segments else None),
        _number(result.n_tokens / result.median if result.n_tokens else None),
        f"{result.rate / 1e12:.3f}" if result.flops else "",
        "" if ceiling is None else f"{ceiling:.0%}",
        f"{result.peak_bytes / 1e6:,.0f}",
        *(_number(ratio) for ratio in versus),
    ]


def _goal_table(made: Sequence[Goal]) -> Table:
    table = Table("goal", "wanted", "measured", "")
    for goal in made:
        words = {None: "not measured", True: "met", False: "not met"}
        wanted = f"{'at most' if goal.is_most else 'at least'} {goal.wanted:g}"
        table.add_row(goal.text, wanted, _number(goal.measured), words[goal.is_met])
    return table


def plain(found: Results, given: dict[str, Any]) -> dict[str, Any]:
    """Returns all figures, and what they were measured with, as JSON has it."""
    made = []
    for name, result in found.items():
        values = {key: value for key, value in result.plain().items() if key != "entry"}
        about = {key: getattr(result.entry, key) for key in ("maker", "inputs", "precision", "device", "threads")}
        rates = {} if result.problem else {"segments_a_second": result.speed, "share_of_ceiling": share(found, name)}
        made.append({"name": name, **about, **values, **rates})
    reached = [
        {"goal": one.text, "wanted": one.wanted, "measured": one.measured, "is_met": one.is_met}
        for one in goals(found, given["machine"]["device"])
    ]
    return {**given, "results": made, "goals": reached}


def write(path: Path, found: Results, given: dict[str, Any]) -> None:
    """Writes all figures; whoever stops it in the middle finds the file as it was before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(json.dumps(plain(found, given), indent=1) + "\n", encoding="utf-8")
    partial.replace(path)


def read(path: Path, entries: Sequence[Entry], given: dict[str, Any]) -> dict[str, Result]:
    """Returns the figures that a file holds of these contestants, by name.

    None where they were measured with anything else than is given; such a file gets ".old" behind its name.
    """
    if not path.exists():
        return {}
    held = json.loads(path.read_text(encoding="utf-8"))
    if any(held.get(key) != value for key, value in given.items()):
        path.replace(path.with_name(f"{path.name}.old"))
        return {}
    rows = {row["name"]: row for row in held["results"]}
    found = {}
    for entry in entries:
        if row := rows.get(entry.full_name):
            values = {key: row[key] for key in ("n_segments", "n_tokens", "flops", "peak_bytes", "problem")}
            found[entry.full_name] = Result(entry, tuple(row["seconds"]), **values)
    return found


def machine(device: str) -> dict[str, Any]:
    """Returns what runs."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "device": torch.cuda.get_device_name() if device.startswith("cuda") else device,
        "matese": matese.__version__,
        "code": _code(),
        "torch": torch.__version__,
        "python": platform.python_version(),
    }


def _code() -> str:
    """Returns digits that stand for the modules of the package and of the benchmark, and for `mini`."""
    digest = hashlib.sha256(checkpoint.fingerprint(checkpoint.resolve("mini")).encode())
    package = Path(matese.__file__).parent
    for path in sorted([*package.rglob("*.py"), *Path(__file__).parent.rglob("*.py")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor()


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"

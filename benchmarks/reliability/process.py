"""What a process holds while it runs."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

MATESE = (sys.executable, "-m", "matese")
WORDS = ["das", "Haus", "ist", "neu", "und", "der", "Hund", "schläft", "nicht", "😀", "gut", "42", "%"]


class Resources(NamedTuple):
    """What a process holds: memory in MB, open files, and threads."""

    memory: int
    files: int
    threads: int


def resources_of(pid: int) -> Resources:
    """Returns what a process holds now."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    memory, threads = (int(re.findall(rf"{name}:\s+(\d+)", status)[0]) for name in ("VmRSS", "Threads"))
    return Resources(memory // 1024, len(os.listdir(f"/proc/{pid}/fd")), threads)


def show(rows: Sequence[Resources]) -> None:
    """Prints whether the resources grew, from samples at equal distances."""
    tenth = max(1, len(rows) // 10)
    for name, column in zip(("memory MB", "files", "threads"), zip(*rows, strict=True), strict=True):
        print(f"{name}: {max(column[:tenth])} in the first tenth, {max(column)} at most, {column[-1]} at the end")

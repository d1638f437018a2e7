"""The server as a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def started(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Starts `matese serve` on a free port; yields the process and its address, and ends it.

    The variable MATESE names the program of an installed wheel, to be tested in place of this clone.
    """
    installed = os.environ.get("MATESE")
    program = [sys.executable, "-m", "matese"] if installed is None else [installed]
    command = [*program, "serve", "--port", "0", "--threads", "1", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT) if installed is None else ""}
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    with process:
        try:
            assert process.stderr is not None
            lines = []
            address = None
            while address is None:
                lines.append(process.stderr.readline())  # notices, such as that a file is marked first
                assert lines[-1].startswith("matese: "), "".join(lines) + process.stderr.read()
                address = re.fullmatch(
                    r"matese: \S+ at (http://127\.0\.0\.1:\d+/),.* press Ctrl-C to stop\n", lines[-1]
                )
            yield process, address[1]
        finally:
            process.kill()

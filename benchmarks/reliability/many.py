"""Tag generated segments of mixed lengths; the memory of `matese tag` does not grow with their number."""

from __future__ import annotations

import random
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from benchmarks.reliability.process import MATESE, WORDS, Resources, resources_of, show


def run(n_segments: int, seconds: float, *, checks_only: bool) -> None:
    """Tags the segments, with the embedded model or with checks only, and prints the resources of the process.

    Args:
        n_segments: how many there are.
        seconds: time after which Ctrl-C ends the command.
        checks_only: whether no model reads them.
    """
    with tempfile.TemporaryDirectory() as name:
        drawn, path = random.Random(0), Path(name) / "mt.txt"
        with path.open("w", encoding="utf-8") as stream:
            for _ in range(n_segments):
                n_words = drawn.choice((1, 2, 4, 8, 8, 16, 100)) if drawn.random() < 0.1 else drawn.randint(1, 8)
                stream.write(f"{' '.join(drawn.choices(WORDS, k=n_words))}\n")
        how = ["--checks", "only"] if checks_only else ["--threads", "1"]
        command = [*MATESE, "tag", "--hyp", str(path), "--src", str(path), "--format", "jsonl", "--quiet", *how]
        start, rows, count = time.monotonic(), list[Resources](), 0
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            timer = threading.Timer(seconds, process.send_signal, (signal.SIGINT,))
            timer.start()
            assert process.stdout is not None
            for _ in process.stdout:
                count += 1
                if time.monotonic() > start + len(rows):
                    rows.append(resources_of(process.pid))
            timer.cancel()
        assert process.returncode == (0 if count == n_segments else 130), f"exit code {process.returncode}"
    print(f"{count:,} segments in {time.monotonic() - start:.0f} s")
    show(rows)

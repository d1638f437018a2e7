"""Tag generated segments of mixed lengths; the memory of `matese tag` does not grow with their number."""

from __future__ import annotations

import random
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.reliability.process import MATESE, WORDS, Resources, resources_of, show


def run(n_segments: int, *, checks_only: bool) -> None:
    """Tags the segments, with the embedded model or with checks only, and prints the resources of the process."""
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
            assert process.stdout is not None
            for count, _ in enumerate(process.stdout, start=1):
                if count * 100 % n_segments < 100:
                    rows.append(resources_of(process.pid))
        assert (count, process.returncode) == (n_segments, 0), f"{count} segments, exit code {process.returncode}"
    print(f"{n_segments:,} segments in {time.monotonic() - start:.0f} s")
    show(rows)

"""Runs one system once in this process: `python -m benchmarks.speed.worker '{"maker": ..., ...}'`.

It loads the system, warms it up, then measures the time and the peak memory of a run. Uses the standard library only,
because COMET's environment runs it too.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_WARM = 32
"""Segments of the warm-up run."""


@dataclass(frozen=True)
class Prepared:
    """A system that is ready to run.

    Attributes:
        run: processes so many of the segments; all if None.
        n_segments: number of all segments.
    """

    run: Callable[[int | None], object]
    n_segments: int


def main() -> None:
    """Writes one line of JSON to stdout; output of libraries goes to stderr."""
    entry = json.loads(sys.argv[1])
    stream = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    prepared: Prepared = importlib.import_module(f"benchmarks.speed.{entry['maker']}").prepare(entry)
    prepared.run(_WARM)
    start = time.perf_counter()
    prepared.run(None)
    answer = {
        "seconds": time.perf_counter() - start,
        "n_segments": prepared.n_segments,
        "peak_bytes": _peak_bytes(),
    }
    stream.write(json.dumps(answer) + "\n")
    stream.close()


def _peak_bytes() -> int:
    """Returns the peak memory of this process; on Linux `ru_maxrss` includes that of its parent."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text(encoding="utf-8").partition("VmHWM:")[2].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main()

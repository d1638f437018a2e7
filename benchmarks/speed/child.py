"""One run of one contestant in a process of its own: `python -m benchmarks.speed.child '{"maker": ..., ...}'`.

It loads what it needs, runs a little to warm up, then runs in earnest, and says how long that took and how much memory
the process has had at most. Standard library only, since the environment of COMET runs it too.
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
"""Segments of the first run, which is not measured."""


@dataclass(frozen=True)
class Prepared:
    """A contestant that is ready.

    Attributes:
        run: does the work, on so many of the segments, None for all.
        n_segments: of all the work; 0 for what is no annotation.
        n_tokens: that a model reads of them, special tokens included and padding not; 0 for none.
        flops: floating-point operations of its matrix products, without padding; 0 where nobody counted.
    """

    run: Callable[[int | None], object]
    n_segments: int = 0
    n_tokens: int = 0
    flops: float = 0


def main() -> None:
    """Writes one line of JSON; what libraries print goes to standard error."""
    entry = json.loads(sys.argv[1])
    stream = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    prepared: Prepared = importlib.import_module(entry["maker"]).prepare(entry)
    prepared.run(_WARM)
    start = time.perf_counter()
    prepared.run(None)
    answer = {
        "seconds": time.perf_counter() - start,
        "n_segments": prepared.n_segments,
        "n_tokens": prepared.n_tokens,
        "flops": prepared.flops,
        "peak_bytes": _peak_bytes(),
    }
    stream.write(json.dumps(answer) + "\n")
    stream.close()


def _peak_bytes() -> int:
    """Returns the most memory that this process has had; on Linux `ru_maxrss` counts that of its parent, too."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text(encoding="utf-8").partition("VmHWM:")[2].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main()

"""Runs one system once in this process: `python -m benchmarks.speed.worker '{"maker": ..., ...}'`.

It loads the system, warms it up, then measures the time and the peak memory of a run. Uses the standard library only,
because COMET's environment runs it too.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from pathlib import Path

from benchmarks.speed import systems, texts

_WARM = 32
"""Segments of the warm-up run."""


def main() -> None:
    """Writes one line of JSON to stdout; output of libraries goes to stderr."""
    entry = json.loads(sys.argv[1])
    stream = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    run: systems.Run = getattr(systems, entry["maker"])(entry)
    run(texts.read(entry["texts"], _WARM))
    start = time.perf_counter()
    run(texts.read(entry["texts"]))
    seconds = time.perf_counter() - start
    n_segments = sum(1 for _ in texts.read(entry["texts"]))
    stream.write(json.dumps({"seconds": seconds, "n_segments": n_segments, "peak_bytes": _peak_bytes()}) + "\n")
    stream.close()


def _peak_bytes() -> int:
    """Returns the peak memory of this process; on Linux `ru_maxrss` includes that of its parent."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text(encoding="utf-8").partition("VmHWM:")[2].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main()

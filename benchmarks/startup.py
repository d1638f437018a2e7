"""Measure how long `matese tag` takes from a cold start, and how long its libraries take to import.

    python -m benchmarks.startup

The table shows the least wall time and the least processor time of ten runs of each command, in seconds, for the first
ten example segments with a reference. The commands take turns, each in a separate process; the first run of each only
fills caches, such as Python's compiled files. Processor time hardly depends on other load of the machine. `--threads`
makes matese use torch.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import markdown

_EXAMPLES = Path(__file__).parents[1] / "examples"
_N_SEGMENTS = 10


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10, help="runs of each command; default: %(default)s")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        commands = _commands(Path(folder))
        seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(1 + options.runs):
            for name, command in commands.items():
                seconds[name].append(_time(command))
    rows = [
        [name, *(f"{min(column):.2f}" for column in zip(*taken[1:], strict=True))] for name, taken in seconds.items()
    ]
    print(*markdown.table(["command", "seconds", "of a processor"], rows), sep="\n")


def _commands(folder: Path) -> dict[str, list[str]]:
    texts = []
    for option, name in (("--hyp", "mt.txt"), ("--ref", "ref.txt")):
        lines = (_EXAMPLES / name).read_text(encoding="utf-8").splitlines()[:_N_SEGMENTS]
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        texts += [option, str(folder / name)]
    tag = [sys.executable, "-m", "matese", "tag", *texts]
    return {
        f"matese tag, {_N_SEGMENTS} segments": tag,
        "the same in torch": [*tag, "--threads", "1"],
        **{f"import {name}": [sys.executable, "-c", f"import {name}"] for name in ("torch", "numpy")},
    }


def _time(command: list[str]) -> tuple[float, float]:
    """Returns the wall time and the processor time."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()

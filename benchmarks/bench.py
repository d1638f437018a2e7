"""How fast matese is, beside its neural peers, sacrebleu, and what the hardware allows: one run, one machine.

    make bench                                      everything: some hours on two cores
    python -m benchmarks.bench --quick              encoders of two layers, fewer segments: some minutes
    python -m benchmarks.bench --only 'mini/*'      contestants by their names, as --list shows them

All contestants that share an encoder have the same random weights; each run is a process of its own, warm, in turn
with the others, and the median counts. Speeds are of this machine in this hour: the ratios can be compared.

With --json, the figures are written after each run. Stopped, the same command goes on where it was; where all is
measured, it shows the tables. Another machine, code or setting begins anew, as --anew does, and the file that stood
there gets ".old" behind its name.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks.speed import contestants, table, texts
from benchmarks.speed.contestants import Setting
from benchmarks.speed.provision import Provision
from benchmarks.speed.race import Entry, Result, race
from benchmarks.speed.texts import Text
from matese.encoder import checkpoint

_SYSTEMS = 16


def main() -> None:
    """Prints the tables; writes the JSON step by step."""
    given = _parser().parse_args()
    with tempfile.TemporaryDirectory() as folder:
        n_layers = given.layers or (2 if given.quick else None)
        provision = Provision(Path(folder), comet=given.comet, n_layers=n_layers)
        plan = _plan(given, provision)
        if given.list:
            chosen = (contestants.chosen(entries, given.only) for entries in plan)
            print("\n".join(entry.full_name for entries in chosen for entry in entries))
            return
        asked = {"machine": table.machine(given.device), "given": _asked(given, n_layers)}
        found: dict[str, Result] = {}
        if given.json is not None:
            if given.anew and given.json.exists():
                given.json.replace(given.json.with_name(f"{given.json.name}.old"))
            found = table.read(given.json, list(chain(*plan)), asked)
        try:
            _run(plan, given, provision, found, asked)
        finally:  # Ctrl-C too: what there is is shown
            table.show(found, given.device)


def _run(
    plan: list[list[Entry]],
    given: argparse.Namespace,
    provision: Provision,
    found: dict[str, Result],
    asked: dict[str, Any],
) -> None:
    """Adds what comes of the contestants to what is found, and writes and tells it each time."""
    for entries in plan:
        wanted = contestants.chosen(entries, given.only)
        missing = [one for one in wanted if not is_complete(found.get(one.full_name), _n_runs(given))]
        if not missing:
            continue
        provision.make(missing)
        for result in race(wanted, _n_runs(given), found):
            name = result.entry.full_name
            found[name] = result
            if given.json is not None:
                table.write(given.json, found, asked)
            print(f"{name}: {result.problem or f'{result.seconds[-1]:.2f} s'}", file=sys.stderr)
        provision.remove(missing)


def is_complete(result: Result | None, n_runs: int) -> bool:
    """Whether nothing of a contestant is left to be measured."""
    return result is not None and not result.problem and len(result.seconds) >= n_runs


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small models, 100 segments, one run")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="PATTERN", help="contestants, such as 'xlmr-base/comet*'"
    )
    parser.add_argument("--list", action="store_true", help="show the names of the contestants, and end")
    parser.add_argument("--data", type=Path, help="ratings as JSONL, whose texts are taken; else they are made up")
    parser.add_argument("--segments", type=int, help="default: 1,000; 100 with --quick")
    parser.add_argument("--layers", type=int, help="of the encoders; default: their own; 2 with --quick")
    parser.add_argument("--runs", type=int, help="that are timed; default: 3; 1 with --quick")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="default: %(default)s")
    parser.add_argument("--device", default="cpu", help="default: cpu")
    parser.add_argument("--comet", type=Path, default=Path(".venv-comet"), help="its environment, made where it is not")
    parser.add_argument("--json", type=Path, help="where to write all figures, and where those stand that are measured")
    parser.add_argument("--anew", action="store_true", help="measure again what is measured")
    return parser


def _n_runs(given: argparse.Namespace) -> int:
    return given.runs or (1 if given.quick else 3)


def _n_segments(given: argparse.Namespace) -> int:
    return given.segments or (100 if given.quick else 1000)


def _asked(given: argparse.Namespace, n_layers: int | None) -> dict[str, Any]:
    """Returns what figures must have in common to stand in one table."""
    data = None if given.data is None else given.data.name
    return {
        "segments": _n_segments(given),
        "runs": _n_runs(given),
        "layers": n_layers,
        "data": data,
        "quick": given.quick,
        "threads": given.threads,
    }


def _plan(given: argparse.Namespace, provision: Provision) -> list[list[Entry]]:
    """Returns all contestants; of what they need nothing is made yet."""
    tokenizer = checkpoint.resolve("mini") / "tokenizer.json"
    n_segments = _n_segments(given)

    def made(count: int, *, n_systems: int = 1, length: int | None = None) -> Path:
        name = f"{count}-{n_systems}-{length}.jsonl"
        return provision.texts(name, lambda: texts.systems(texts.make(tokenizer, count, length=length), n_systems))

    def natural(count: int) -> Iterable[Text]:
        return texts.of_ratings(given.data, count) if given.data else texts.make(tokenizer, count)

    n_few = max(1, n_segments // _SYSTEMS)
    setting = Setting(
        texts=provision.texts("segments.jsonl", lambda: natural(n_segments)),
        systems=provision.texts("systems.jsonl", lambda: texts.systems(natural(n_few), _SYSTEMS)),
        encoders=provision.encoders,
        taggers=provision.taggers,
        comet=provision.comet,
        device=given.device,
        threads=given.threads,
    )
    return [*contestants.groups(setting), *contestants.series(setting, made, is_quick=given.quick)]


if __name__ == "__main__":
    main()

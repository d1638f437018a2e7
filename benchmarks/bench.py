"""How fast matese is, beside its neural peers, sacrebleu, and what the hardware allows: one run, one machine.

    make bench                                      everything: some hours on two cores
    python -m benchmarks.bench --quick              encoders of two layers, fewer segments: some minutes
    python -m benchmarks.bench --only 'mini/*'      contestants by their names, as --list shows them

All contestants that share an encoder have the same random weights; each run is a process of its own, warm, in turn
with the others, and the median counts. Speeds are of this machine in this hour: the ratios can be compared.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

from rich.progress import Progress

from benchmarks.speed import contestants, environment, models, table, texts
from benchmarks.speed.contestants import Setting
from benchmarks.speed.race import Entry, Result, race
from benchmarks.speed.texts import Text
from matese.encoder import checkpoint

_SYSTEMS = 16


def main() -> None:
    """Prints the tables and writes the JSON."""
    given = _parser().parse_args()
    n_segments = given.segments or (100 if given.quick else 1000)
    n_runs = given.runs or (1 if given.quick else 3)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        plan = list(_plan(given, n_segments, folder))
        if given.list:
            print("\n".join(entry.full_name for entries in plan for entry in entries))
            return
        found: dict[str, Result] = {}
        with Progress(transient=True, disable=not sys.stderr.isatty()) as bar:
            for entries in bar.track(plan):
                found |= {result.entry.full_name: result for result in race(entries, n_runs)}
    table.show(found, given.device)
    if given.json is not None:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        asked = {"segments": n_segments, "runs": n_runs, "layers": _n_layers(given), "data": given.data is not None}
        figures = table.plain(found, given.device, asked)
        given.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


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
    parser.add_argument("--json", type=Path, help="where to write all figures")
    return parser


def _n_layers(given: argparse.Namespace) -> int | None:
    layers: int | None = given.layers or (2 if given.quick else None)
    return layers


def _plan(given: argparse.Namespace, n_segments: int, folder: Path) -> Iterator[list[Entry]]:
    """Yields the contestants that are asked for; without --list, with all that they need in the folder."""
    tokenizer = checkpoint.resolve("mini") / "tokenizer.json"
    needed: dict[str, Callable[[], Iterable[Text]]] = {}

    def ready(name: str, make: Callable[[], Iterable[Text]]) -> Path:
        needed[str(folder / name)] = make
        return folder / name

    def made(count: int, *, n_systems: int = 1, length: int | None = None) -> Path:
        name = f"{count}-{n_systems}-{length}.jsonl"
        return ready(name, lambda: texts.systems(texts.make(tokenizer, count, length=length), n_systems))

    def natural(count: int) -> Iterable[Text]:
        return texts.of_ratings(given.data, count) if given.data else texts.make(tokenizer, count)

    n_few = max(1, n_segments // _SYSTEMS)
    setting = Setting(
        texts=ready("segments.jsonl", lambda: natural(n_segments)),
        systems=ready("systems.jsonl", lambda: texts.systems(natural(n_few), _SYSTEMS)),
        encoders={name: folder / name for name in models.ENCODERS},
        taggers={name: folder / f"{name}-tagger" for name in models.ENCODERS},
        comet=environment.python_of(given.comet),
        device=given.device,
        threads=given.threads,
    )
    for entries in chain(contestants.groups(setting), contestants.series(setting, made, is_quick=given.quick)):
        wanted = contestants.chosen(entries, given.only)
        if wanted and not given.list:
            for path in {entry.texts for entry in wanted} & needed.keys():
                texts.write(Path(path), needed.pop(path)())
            _provide(wanted, given, folder)
        if wanted:
            yield wanted


def _provide(entries: list[Entry], given: argparse.Namespace, folder: Path) -> None:
    """Makes the models and the environment that contestants need, each when it is first needed."""
    for name in models.ENCODERS:
        is_needed = any(str(folder / name) in entry.model for entry in entries)
        if is_needed and not (folder / name).exists():
            models.save(name, folder, n_layers=_n_layers(given))
    if any(entry.maker.endswith(".comet") for entry in entries):
        environment.make(given.comet)


if __name__ == "__main__":
    main()

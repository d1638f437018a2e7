"""Compare the speed of matese and unbabel-comet on the same checkpoint, with one system and with eight.

    python -m benchmarks.released --data $MATESE_DATA/wmt/newstest2021.tar.xz

The checkpoints are written by unbabel-comet, with random weights and an encoder of the size of XLM-R base. Each run is
a separate process with a warm-up; both packages take turns on one thread, and the median is reported. unbabel-comet
runs `predict` as in `comet-score`, with its cache of embeddings, but in float32. matese also runs in bf16 if the
hardware supports it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import torch

from benchmarks import markdown
from benchmarks.speed import comet, models, runs, texts
from benchmarks.speed.runs import ROOT, Entry, Result, ratio, run_all
from benchmarks.speed.texts import Text
from data_prep.store import Store
from matese.model.engines.hardware import choose_precision

_LANG_PAIR = "en-de"
COUNTS = {"regression": {1: 64, 8: 32}, "unified": {1: 32, 8: 8}}
"""Segments of each system, by the kind of model and the number of systems."""


def main() -> None:
    """Runs both packages and prints the ratios of their speeds."""
    parser = markdown.parser(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="archive of WMT21 news")
    parser.add_argument("--layers", type=int, default=12, help="layers of the encoder; default: %(default)s")
    parser.add_argument("--runs", type=int, default=3, help="timed runs of each package; default: %(default)s")
    parser.add_argument("--comet", type=Path, default=comet.DIRECTORY, help=comet.HELP)
    options = parser.parse_args()
    comet.install(options.comet)
    with tempfile.TemporaryDirectory() as folder:
        encoder, _ = models.save("xlmr-base", Path(folder), n_layers=options.layers)
        entries: list[Entry] = []
        best = choose_precision("auto", torch.device("cpu"))
        for kind, counts in COUNTS.items():
            directory = Path(folder) / kind
            python = comet.python_of(options.comet)
            command = [str(python), "-m", "benchmarks.speed.comet", kind, str(encoder), str(directory)]
            subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
            for n_systems, n_segments in counts.items():
                path = Path(folder) / f"{kind}-{n_systems}.jsonl"
                texts.write(path, read(options.data, n_systems, n_segments))
                group = f"{kind}, {n_systems} systems of {n_segments} segments"
                ours = Entry(group, "ours", "ours", str(path), str(directory))
                comet_entry = Entry(group, "comet", "comet", str(path), f"checkpoint:{directory}")
                entries += [ours, replace(comet_entry, python=str(python))]
                if best != ours.precision:
                    entries.append(replace(ours, name=f"ours, {best}", precision=best))
        results: dict[str, Result] = {}
        for result in run_all(entries, options.runs):
            results[result.entry.full_name] = result
            print(f"{result.entry.full_name}: {result.problem or f'{result.seconds[-1]:.2f} s'}", file=sys.stderr)
    machine = runs.machine("cpu")
    print(f"{machine['processor']}, torch {machine['torch']}, one thread, {options.layers} layers")
    for entry in entries:
        theirs = f"{entry.group}/comet"
        if entry.full_name != theirs:
            times = ratio(results, entry.full_name, theirs)
            print(
                f"{entry.group}, {entry.precision}: {results[entry.full_name].speed:.1f} segments/s, "
                f"unbabel-comet in float32 {results[theirs].speed:.1f}: {times:.2f} times"
            )


def read(archive: Path, n_systems: int, n_segments: int) -> list[Text]:
    """Returns evenly spread segments of WMT21 news, system by system, for the first systems in alphabetical order."""
    store = Store(archive.parents[1])
    folder = f"{archive.parent.name}/{archive.name.partition('.')[0]}"
    names = {
        kind: [name for name in store.names(folder) if f"{_LANG_PAIR}.{kind}." in name]
        for kind in ("src", "ref.A", "hyp")
    }
    sources, references, *systems = store.texts(
        folder, [*names["src"], *names["ref.A"], *names["hyp"][:n_systems]]
    ).values()
    places = [number * len(sources) // n_segments for number in range(n_segments)]
    return [
        {"hypothesis": hypotheses[place], "source": sources[place], "reference": references[place]}
        for hypotheses in systems
        for place in places
    ]


if __name__ == "__main__":
    main()

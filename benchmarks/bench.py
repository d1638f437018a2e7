"""Compare the speed and memory of matese with COMET, a plain loop over transformers, and sacrebleu.

    make bench                                      all systems: some hours on two cores
    python -m benchmarks.bench --quick              small encoders, few segments: some minutes
    python -m benchmarks.bench --only 'mini/*'      some systems; --list shows all names

Systems with the same encoder have the same random weights. Each run is a separate process with a warm-up; the systems
take turns, and the median is reported. Speeds depend on the machine and its load; only compare ratios within one run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

from benchmarks import markdown
from benchmarks.speed import comet, models, runs, texts
from benchmarks.speed.runs import Entry, Result, run_all
from matese.model.storage import checkpoint

_INPUTS = ("reference", "source", "source+reference")
_N_SYSTEMS = 16
_MANY_TOKENS = 65536


def main() -> None:
    """Runs the systems, prints the table and writes the JSON."""
    options = _parser().parse_args()
    results: dict[str, Result] = {}
    with tempfile.TemporaryDirectory() as folder:
        selected = [_chosen(entries, options.only) for entries in groups(options, Path(folder))]
        if options.list:
            print("\n".join(entry.full_name for entries in selected for entry in entries))
            return
        try:
            for entries in filter(None, selected):
                _make(entries, options, Path(folder))
                for result in run_all(entries, options.runs or (1 if options.quick else 3)):
                    results[result.entry.full_name] = result
                    print(f"{result.entry.full_name}: {result.problem or result.seconds[-1]}", file=sys.stderr)
        finally:  # also after Ctrl-C
            print(*runs.lines(results), sep="\n")
            if options.json is not None:
                settings = {name: getattr(options, name) for name in ("segments", "layers", "runs", "threads", "quick")}
                runs.write(options.json, results, {"machine": runs.machine(options.device), "given": settings})


def groups(options: argparse.Namespace, folder: Path) -> Iterator[list[Entry]]:
    """Yields the systems to compare, by encoder, and then `mini` with more segments and with longer texts.

    Files are only named here: `_make` writes a text file `COUNT-SYSTEMS-LENGTH.jsonl` (length 0: natural lengths), and
    each model into the folder with its name.
    """
    count = options.segments or (100 if options.quick else 1000)
    entry = Entry("mini", "", "ours", str(folder / f"{count}-1-0.jsonl"), "mini", "reference", "bf16")
    entry = replace(entry, device=options.device, threads=options.threads)
    for encoder in ("mini", *models.ENCODERS):
        model = encoder if encoder == "mini" else str(folder / f"{encoder}-tagger")
        tagger = replace(entry, group=encoder, model=model)
        entries = [
            replace(tagger, name=f"ours {inputs} {precision}", inputs=inputs, precision=precision)
            for precision in ("float32", "bf16")
            for inputs in (_INPUTS[:2] if encoder == "mini" else _INPUTS)
        ]
        few = folder / f"{max(1, count // _N_SYSTEMS)}-{_N_SYSTEMS}-0.jsonl"
        entries.append(replace(tagger, name="ours systems bf16", texts=str(few)))
        if encoder == "mini":
            entries.append(replace(entry, name="TER", maker="ter"))
        else:
            peer = replace(tagger, precision="float32")
            entries.append(replace(peer, name="plain loop", maker="plain_loop", model=str(folder / encoder)))
            comet_entry = replace(peer, maker="comet", python=str(comet.python_of(options.comet)))
            for kind in ("regression", "unified"):
                entries.append(replace(comet_entry, name=f"comet {kind}", model=f"{kind}:{folder / encoder}"))
        yield entries
    few_tokens = _MANY_TOKENS // (16 if options.quick else 1)
    counts = {size: (size, 0) for size in ((100, 400) if options.quick else (1_000, 10_000, 100_000))}
    lengths = {2**n: (max(2, few_tokens // 2**n), 2**n) for n in range(5, 13)}
    for group, sizes in (("segments", counts), ("length", lengths)):
        for size, (n_segments, length) in sizes.items():
            path = folder / f"{n_segments}-1-{length}.jsonl"
            yield [replace(entry, group=group, name=str(size), texts=str(path))]


def _make(entries: Sequence[Entry], options: argparse.Namespace, folder: Path) -> None:
    """Creates the texts and models of these systems, and removes other models, which take gigabytes."""
    tokenizer = checkpoint.resolve("mini") / "tokenizer.json"
    for path in {Path(entry.texts) for entry in entries}:
        if not path.exists():
            count, n_systems, length = map(int, path.stem.split("-"))
            is_natural = options.data and not length and count <= (options.segments or 1000)
            segments = (
                texts.of_ratings(options.data, count) if is_natural else texts.generate(tokenizer, count, length=length)
            )
            texts.write(path, texts.systems(segments, n_systems) if n_systems > 1 or length else segments)
    for name in models.ENCODERS:
        if any(str(folder / name) in entry.model for entry in entries):
            models.save(name, folder, n_layers=options.layers or (2 if options.quick else None))
        else:
            for directory in (folder / name, folder / f"{name}-tagger"):
                shutil.rmtree(directory, ignore_errors=True)
    if any(entry.maker == "comet" for entry in entries):
        try:
            comet.install(options.comet)
        except (OSError, subprocess.CalledProcessError) as error:  # only COMET's systems will fail
            print(f"COMET is not installed: {error}", file=sys.stderr)


def _chosen(entries: list[Entry], patterns: list[str]) -> list[Entry]:
    return [
        entry for entry in entries if not patterns or any(fnmatch(entry.full_name, pattern) for pattern in patterns)
    ]


def _parser() -> argparse.ArgumentParser:
    parser = markdown.parser(__doc__, "--json")
    parser.add_argument("--quick", action="store_true", help="small models, 100 segments, one run")
    parser.add_argument("--only", nargs="+", default=[], metavar="PATTERN", help="systems, such as 'xlmr-base/comet*'")
    parser.add_argument("--list", action="store_true", help="list the names of the systems and exit")
    parser.add_argument("--data", type=Path, help="JSONL ratings to take texts from; default: generated texts")
    parser.add_argument("--segments", type=int, help="number of segments; default: 1,000, or 100 with --quick")
    parser.add_argument("--layers", type=int, help="layers of the encoders; default: all, or 2 with --quick")
    parser.add_argument("--runs", type=int, help="timed runs; default: 3, or 1 with --quick")
    threads = len(os.sched_getaffinity(0))
    parser.add_argument("--threads", type=int, default=threads, help="number of threads; default: %(default)s")
    parser.add_argument("--device", default="cpu", help="device to run on; default: cpu")
    parser.add_argument("--comet", type=Path, default=comet.DIRECTORY, help=comet.HELP)
    return parser


if __name__ == "__main__":
    main()

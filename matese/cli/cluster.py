"""`matese tag` beyond one machine: the options of shards and clusters, and `--engine ray`."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from matese.cli import model, options, progress, shards, streams
from matese.cli.errors import UsageError
from matese.formats.settings import near_miss, one_of

if TYPE_CHECKING:
    from matese.cluster.worker import Job, Report

_LOCAL_ONLY = (
    "hyp",
    "ref",
    "src",
    "shard",
    "checks",
    "lang_pair",
    "only_errors",
    "limit",
    "width",
    "tokens",
    "disk_bytes",
    "parameters",
    "template",
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds what spreads the work."""
    group = parser.add_argument_group("many machines", "docs/scale.md says which of the two is for what")
    group.add_argument(
        "--shard",
        type=shards.shard,
        metavar="I/N",
        help="tag the I-th of N parts, from 1; a run that was killed is gone on with by the same command",
    )
    group.add_argument(
        "--engine",
        default="local",
        type=options.choice("engine", "local", "ray"),
        metavar="NAME",
        help="local, or ray: over a cluster, from files to a folder; the same command goes on (default: local)",
    )
    group.add_argument(
        "--columns",
        nargs="+",
        action="extend",
        type=column,
        metavar="NAME=COLUMN",
        help="ray: columns that are called otherwise, such as hypothesis=mt source=src references=ref",
    )
    group.add_argument(
        "--workers",
        type=options.whole_number(1),
        metavar="N",
        help="ray: at most (default: as the cluster has room for)",
    )


def column(value: str) -> tuple[str, str]:
    """Returns what a column holds and what it is called."""
    from matese.cluster import rows

    name, equals, called = value.partition("=")
    if not equals or not called:
        raise argparse.ArgumentTypeError(f"{value!r} must be NAME=COLUMN")
    if name not in rows.NAMES:
        raise argparse.ArgumentTypeError(
            f"unknown name {name!r}{near_miss(name, rows.NAMES)} must be {one_of(rows.NAMES)}"
        )
    return name, called


def refuse(args: argparse.Namespace) -> None:
    """Raises a UsageError where a cluster's options are given without one."""
    for name in ("columns", "workers"):
        options.require(getattr(args, name) is None, f"--{name} is for --engine ray only")


def run(args: argparse.Namespace) -> int:
    """Tags the files of a folder into another."""
    for name in _LOCAL_ONLY:
        options.require(getattr(args, name) in (None, False, []), f"--{name.replace('_', '-')} is not for --engine ray")
    if args.input is None or args.output is None:
        raise UsageError("--engine ray needs --input DIR|GLOB and --output DIR")
    options.require(args.format in (None, "jsonl", "parquet"), "--format must be jsonl or parquet with --engine ray")
    from matese.cluster import engine, files, state
    from matese.formats import extras

    extras.check("--engine ray", "ray", extra="ray")
    job = _job(args)
    plan = files.plan(args.input, args.output, args.format)
    found = state.claim(args.output, job, plan)
    waiting = [unit for unit in plan.units if unit.target not in found]
    if len(waiting) < len(plan.units):
        streams.say(f"{len(plan.units) - len(waiting):,} of {len(plan.units):,} files of results are there already")
    if waiting:
        with contextlib.redirect_stdout(sys.stderr):  # where Ray tells of workers that die
            _follow(engine.run(job, waiting, n_workers=args.workers), len(waiting))
    return 0


def _job(args: argparse.Namespace) -> Job:
    from matese.cluster.worker import Job
    from matese.encoder import checkpoint

    return Job(
        args.model,
        checkpoint.fingerprint(checkpoint.resolve(args.model)),
        dict(args.columns or ()),
        precision=args.precision,
        device=args.device,
        batch_tokens=args.batch_tokens,
        threads=args.threads,
        min_confidence=args.min_confidence,
        whole_words=args.whole_words,
        weights=options.weights(args.weights),
    )


def _follow(reports: Iterator[Report], n_units: int) -> None:
    """Shows how far the work is, and tells at its end what came of it.

    Raises:
        ValueError: at the first unit without a result.
    """
    from matese.tagger.questions import Counts

    done: list[Report] = []
    with progress.shown(n_units, "files of results") as bar:
        for report in reports:
            if report.problem:
                raise ValueError(report.problem)
            done.append(report)
            bar.advance()
    n_segments = sum(report.n_segments for report in done)
    streams.say(f"{n_segments:,} segments tagged")
    unread = sorted({name for report in done for name in report.unread})
    if unread:
        streams.say(f"columns not read: {', '.join(unread)}")
    signatures = sorted({name for report in done for name in report.signatures})
    if len(signatures) > 1:
        streams.say(f"more than one signature: {' '.join(signatures)}")
    counts = Counts(
        sum(report.n_windowed for report in done),
        sum(report.n_blank for report in done),
        sum(report.n_unknown_sources for report in done),
    )
    model.say_counts(counts, n_segments)

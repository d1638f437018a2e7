"""`matese tag --engine ray`: annotate files of segments on a Ray cluster."""

from __future__ import annotations

import argparse
import contextlib
import sys
from typing import TYPE_CHECKING

from matese.cli import messages, model, options
from matese.errors import UsageError, check_installed, counted

if TYPE_CHECKING:
    from matese.cluster.pipeline import Report

_LOCAL_ONLY = (
    "system",
    *("hyp", "ref", "src", "test_set", "shard", "checks", "lang_pair", "only_errors", "limit", "tokens"),
    "uncertainty",
)


def run(args: argparse.Namespace) -> None:
    """Annotates the files of a folder into another."""
    for name in _LOCAL_ONLY:
        options.require(getattr(args, name) in (None, False, []), f"--engine ray: leave out --{name.replace('_', '-')}")
    from matese.formats.tables import columns

    named = columns.parse(args.columns)
    if len(args.input) != 1 or args.output is None:
        raise UsageError("--engine ray needs --input DIR|GLOB and --output DIR")
    is_table = args.format in (None, "jsonl", "parquet", "csv")
    options.require(is_table, "--format must be jsonl, parquet or csv with --engine ray")
    from matese.cluster import pipeline, storage
    from matese.model.annotator import Counts
    from matese.model.storage import checkpoint

    check_installed("--engine ray", "ray", extra="ray")
    fingerprint = checkpoint.fingerprint(checkpoint.resolve(args.model))
    loading = model.load_options(args)
    worker = pipeline.Worker(loading, fingerprint, named)
    targets = storage.find(args.input[0], args.output, args.format)
    left = pipeline.unfinished(targets, args.output, worker)
    if len(left) < len(targets):
        messages.info(f"{len(targets) - len(left):,} of {len(targets):,} files are already annotated")
    reports: list[Report] = []
    # Ray prints to stdout.
    with contextlib.redirect_stdout(sys.stderr):
        done = pipeline.run(worker, left, n_workers=args.workers) if left else ()
        for report in messages.progress(done, len(left), "files"):
            options.require(not report.problem, report.problem)
            reports.append(report)
    names = ("n_segments", "windowed", "blank")
    counts = Counts(**{name: sum(getattr(report, name) for report in reports) for name in names})
    messages.info(f"{counted(counts.n_segments, 'segment')} annotated", *counts.notices)

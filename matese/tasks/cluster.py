"""Marks the files of a folder on a Ray cluster."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matese.errors import check_installed, counted, one_of
from matese.tasks import notices
from matese.tasks.annotators import Loading
from matese.tasks.texts import require
from matese.tasks.weights import Weighted
from matese.validation.options import Count, group

if TYPE_CHECKING:
    from matese.cluster.pipeline import FileReport
    from matese.model.annotator import Counts

NEEDED = "--cluster ray needs --input DIR|GLOB and --output DIR"


def formats() -> Sequence[str]:
    """Returns the formats of files of any length."""
    from matese.formats.registry import TABLE

    return [form.name for form in TABLE if form.is_for_large_jobs]


@dataclass(frozen=True, kw_only=True)
class Request(Weighted):
    """Mark the files of a folder.

    Attributes:
        input: a folder or a pattern of tables (JSONL, Parquet, CSV), on a disk or in a bucket.
        output: the folder of their ratings.
        format: jsonl, parquet, csv or tsv; None for that of each file.
        workers: ray: number of workers at most (default: as many as the cluster has room for).
        columns: columns with unusual names, such as hypothesis=mtA,mtB reference=gold comment=remarks.
    """

    input: str = ""
    output: str = ""
    format: str | None = None
    workers: Count | None = None
    columns: Sequence[str] = ()
    loading: Loading = group(Loading)


def run(request: Request) -> Counts:
    """Marks the errors in all files of a folder; returns how many segments were marked, and how many specially.

    Files that an earlier run has finished are left as they are.
    """
    from matese.formats.tables import columns

    named = columns.parse(request.columns)
    require(bool(request.input and request.output), NEEDED)
    require(request.loading.intervals.uncertainty is None, "--cluster ray: leave out --uncertainty")
    allowed = f"--format must be {one_of(formats())} with --cluster ray"
    require(request.format in (None, *formats()), allowed)
    from matese.cluster import pipeline, storage
    from matese.model.annotator import Counts
    from matese.model.storage import checkpoint

    check_installed("--cluster ray", "ray", extra="ray")
    fingerprint = checkpoint.fingerprint(checkpoint.resolve(request.loading.model))
    worker = pipeline.Worker(request.loading.arguments(request.weights), fingerprint, named)
    targets = storage.find(request.input, request.output, request.format)
    left = pipeline.unfinished(targets, request.output, worker)
    if len(left) < len(targets):
        notices.info(f"{len(targets) - len(left):,} of {len(targets):,} files are already annotated")
    reports: list[FileReport] = []
    # Ray prints to stdout.
    with contextlib.redirect_stdout(sys.stderr):
        done = pipeline.run(worker, left, n_workers=request.workers) if left else ()
        for report in notices.progress(done, len(left), "files"):
            require(not report.problem, report.problem)
            reports.append(report)
    counts = Counts(
        n_segments=sum(report.n_segments for report in reports),
        windowed=sum(report.windowed for report in reports),
        blank=sum(report.blank for report in reports),
    )
    notices.info(f"{counted(counts.n_segments, 'segment')} annotated", *counts.notices)
    return counts

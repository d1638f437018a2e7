"""One worker: a model, and units that it reads, tags and writes."""

from __future__ import annotations

import contextlib
import posixpath
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from matese import mqm
from matese.annotation import Rating, Segment
from matese.cluster import rows
from matese.cluster.files import Unit, locate
from matese.formats import jsonl, parquet
from matese.formats.format import Writing

if TYPE_CHECKING:
    from matese.annotator import Annotator


@dataclass(frozen=True)
class Job:
    """What is asked of every worker.

    Attributes:
        model: a name, directory or hub id that means the same on every machine.
        fingerprint: what `model` must be there.
        columns: see `rows.read`.
        precision: see `matese.load`, as with those that follow.
    """

    model: str
    fingerprint: str
    columns: Mapping[str, str] = field(default_factory=dict)
    precision: str = "auto"
    device: str = "auto"
    batch_tokens: int | None = None
    threads: int | None = None
    min_confidence: float | None = None
    whole_words: bool | None = None
    weights: mqm.Weights = mqm.MATESE


@dataclass(frozen=True)
class Report:
    """What came of a unit.

    Attributes:
        n_segments: tagged and written.
        n_windowed: of these, tagged in windows; n_blank: with a blank hypothesis; n_unknown_sources: with a source in a
            script that the model does not know.
        signatures: of the predictions.
        unread: columns that were not read.
        problem: why there is no result; "" where there is one.
    """

    n_segments: int = 0
    n_windowed: int = 0
    n_blank: int = 0
    n_unknown_sources: int = 0
    signatures: Sequence[str] = ()
    unread: Sequence[str] = ()
    problem: str = ""


class Worker:
    """Tags units with a model that is loaded for the first of them."""

    def __init__(self, job: Job) -> None:
        """Takes what is asked."""
        self._job = job

    def tag(self, unit: Unit) -> Report:
        """Writes what the model says of a unit; what is wrong with its texts or with the model is in the report."""
        system, target = locate(unit.target)
        if system.exists(target):  # written by a worker that died before it could say so
            return Report()
        try:
            return self._tag(unit)
        except (ValueError, OSError) as error:
            return Report(problem=str(error))

    @cached_property
    def _annotator(self) -> Annotator:
        from matese import annotator

        job = self._job
        made = annotator.load(
            job.model,
            device=job.device,
            precision=job.precision,
            batch_tokens=job.batch_tokens,
            threads=job.threads,
            min_confidence=job.min_confidence,
            whole_words=job.whole_words,
            weights=job.weights,
        )
        if not made.name.endswith(f"@{job.fingerprint}"):
            raise ValueError(f"model {job.model} is {made.name} on a worker: must be @{job.fingerprint} everywhere")
        return made

    def _tag(self, unit: Unit) -> Report:
        unread: set[str] = set()
        signatures: set[str] = set()
        before, n_segments = self._annotator.counts, 0

        def ratings(segments: Iterator[Segment]) -> Iterator[Rating]:
            nonlocal n_segments
            for rating in self._annotator.annotate_segments(segments):
                n_segments += 1
                signatures.add(rating.rater or "")
                yield rating

        with _appearing(unit.target) as path:
            save(ratings(rows.read(unit, self._job.columns, unread)), path, self._job.weights)
        after = self._annotator.counts
        return Report(
            n_segments,
            after.windowed - before.windowed,
            after.blank - before.blank,
            after.unknown_sources - before.unknown_sources,
            tuple(sorted(signatures)),
            tuple(sorted(unread)),
        )


def save(ratings: Iterator[Rating], path: Path, weights: mqm.Weights) -> None:
    """Writes ratings to a file, as Parquet or JSONL, as its name has it."""
    if path.suffix == ".parquet":
        parquet.save_parquet(ratings, path, Writing(weights))
        return
    with open(path, "w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(f"{jsonl.dumps(rating, weights=weights)}\n" for rating in ratings)


@contextlib.contextmanager
def _appearing(url: str) -> Iterator[Path]:
    """Yields a local file to write, which then appears at the URL, whole."""
    system, target = locate(url)
    folder, name = posixpath.split(target)
    with tempfile.TemporaryDirectory() as own:
        yield Path(own, name)
        system.makedirs(folder, exist_ok=True)
        part = f"{folder}/.{name}.part"  # on a disk a copy may be cut off, a renaming is not
        system.put_file(str(Path(own, name)), part)
        system.mv(part, target)

"""Distillation: a student learns from a teacher's ratings of unrated texts; any model can be the teacher."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from matese import files
from matese.annotation import Segment
from matese.errors import InputError, counted
from matese.formats.tables import jsonl
from matese.model.annotator import Annotator
from matese.training import run, run_directory
from matese.training.config import Config
from matese.training.reporting import SILENT, Reporter
from matese.training.run import Result

RUN = "run"
TRAIN = "train.jsonl"
DEV = "dev.jsonl"
_EVERY = 20
"""One in this many sources is held out for validation, unless validation texts are given."""


def distil(
    teacher: Annotator,
    config: Config,
    segments: Sequence[Segment],
    dev: Sequence[Segment] = (),
    *,
    reporter: Reporter = SILENT,
) -> Result:
    """Labels texts with a teacher and trains a student on the labels: spans, scores, or both.

    The labels are written to `train.jsonl` and `dev.jsonl` in the output directory, the run to `run`. Existing labels
    of the same teacher are reused, and a stopped run is resumed. The figures of the result measure the agreement
    between student and teacher on texts that the student was not trained on.

    Args:
        teacher: the model that labels the texts.
        config: the settings of the student; data.train and data.dev are replaced.
        segments: texts to train on.
        dev: texts to validate on; empty to hold out every twentieth source of `segments`.
        reporter: is told progress and counts.

    Raises:
        InputError: as `run.train`, if there are too few texts, or if the directory holds labels of another model.
        OSError: if a file cannot be read or written.
        Interrupted: as `run.train`.
    """
    output = Path(config.output)
    train, held_out = (segments, dev) if dev else split(segments)
    if not train or not held_out:
        raise InputError(
            f"{len(segments)} texts have too few sources to hold some out; "
            "give more texts, or validation texts with --dev"
        )
    output.mkdir(parents=True, exist_ok=True)
    for name, texts in ((TRAIN, train), (DEV, held_out)):
        _label(teacher, texts, output / name)
        reporter.tell(f"{name}: {counted(len(texts), 'segment')} labelled by {teacher.name}")
    data = dataclasses.replace(
        config.data, train=(str(output / TRAIN),), dev=(str(output / DEV),), unrated=None, held_out=0.0
    )
    student = dataclasses.replace(config, data=data, output=str(output / RUN))
    is_begun = (output / RUN / run_directory.SETTINGS).is_file()
    if is_begun:
        student = run_directory.load_settings(output / RUN)
    return run.train(student, resume=is_begun, reporter=reporter)


def split(segments: Iterable[Segment]) -> tuple[list[Segment], list[Segment]]:
    """Returns the segments to train on and those to validate on: every twentieth source, by a hash of it."""
    parts: tuple[list[Segment], list[Segment]] = [], []
    for segment in segments:
        text = segment.source or next(iter(segment.references), segment.hypothesis)
        parts[zlib.crc32(text.encode("utf-8", "surrogatepass")) % _EVERY == 0].append(segment)
    return parts


def _label(teacher: Annotator, segments: Sequence[Segment], path: Path) -> None:
    """Writes the teacher's ratings, unless they exist."""
    if not path.exists():
        files.write_lines(path, _lines(teacher, segments))
        return
    labels = list(jsonl.read(str(path)))
    for rating, segment in zip(labels, segments, strict=False):
        read = segment.without_blanks()
        signature = teacher.signature(teacher.choose_inputs(read), len(read.references))
        if (rating.segment.hypothesis, rating.rater) != (segment.hypothesis, signature):
            raise InputError(f"{path} holds labels of another model or other texts; choose a new directory")
    if len(labels) != len(segments):
        raise InputError(
            f"{path} holds labels of {len(labels)} segments, but {len(segments)} texts are given; remove the file"
        )


def _lines(teacher: Annotator, segments: Sequence[Segment]) -> Iterator[str]:
    """Yields the teacher's ratings as JSON lines."""
    for rating in teacher.annotate_segments(segments):
        if rating.errors is None and rating.estimate is None:
            raise InputError(f"model {teacher.name} neither marks errors nor scores; choose a model that does")
        yield jsonl.dumps(rating)

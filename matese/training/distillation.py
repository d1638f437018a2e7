"""Distillation: a student learns from the ratings that a teacher, any model that runs here, gives to unrated texts."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rich.console import Console

from matese import files
from matese.annotation import Segment
from matese.annotator import Annotator
from matese.errors import InputError
from matese.formats.tables import jsonl
from matese.training import preparation, run
from matese.training.config import Config
from matese.training.run import Result

RUN, TRAIN, DEV = "run", "train.jsonl", "dev.jsonl"
_EVERY = 20
"""One in so many sources is held out to validate on, unless there are texts for that."""


def distil(
    teacher: Annotator,
    config: Config,
    segments: Sequence[Segment],
    dev: Sequence[Segment] = (),
    *,
    console: Console | None = None,
) -> Result:
    """Labels texts with a teacher and trains a student on the labels: spans, scores, or both.

    The output directory gets the labels, `train.jsonl` and `dev.jsonl`, and the run, `run`. If it holds labels of the
    same teacher already, these are used, and a stopped run is resumed. The figures of the result measure the agreement
    of the student with its teacher on texts that it was not trained on.

    Args:
        teacher: the model that labels.
        config: the settings of the student; data.train and data.dev are replaced.
        segments: texts to train on.
        dev: texts to validate on; empty to hold out every twentieth source of the others.
        console: where progress and counts are shown; None to show nothing.

    Raises:
        InputError: as `run.train`, if the texts are too few, or if the directory holds the labels of another model.
        OSError: if a file cannot be read or written.
        Interrupted: as `run.train`.
    """
    output = Path(config.output)
    train, held_out = (segments, dev) if dev else split(segments)
    if not train or not held_out:
        raise InputError(f"{len(segments)} texts: must be of more sources, or have others to validate on (--dev)")
    shown = console or Console(quiet=True)
    output.mkdir(parents=True, exist_ok=True)
    for name, texts in ((TRAIN, train), (DEV, held_out)):
        n_labelled = _label(teacher, texts, output / name)
        shown.print(f"{name}: {n_labelled:,} segments labelled by {teacher.name}", highlight=False)
    data = dataclasses.replace(config.data, train=(str(output / TRAIN),), dev=(str(output / DEV),), shares=())
    student = dataclasses.replace(config, data=data, output=str(output / RUN))
    is_begun = (output / RUN / preparation.SETTINGS).is_file()
    if is_begun:
        student = preparation.load_settings(output / RUN)
    return run.train(student, resume=is_begun, console=console)


def split(segments: Iterable[Segment]) -> tuple[list[Segment], list[Segment]]:
    """Returns the segments to train on and those to validate on: every twentieth source, by a hash of it."""
    train: list[Segment] = []
    dev: list[Segment] = []
    for segment in segments:
        text = segment.source or segment.references[0] if segment.source or segment.references else segment.hypothesis
        is_held_out = zlib.crc32(text.encode("utf-8", "surrogatepass")) % _EVERY == 0
        (dev if is_held_out else train).append(segment)
    return train, dev


def _label(teacher: Annotator, segments: Sequence[Segment], path: Path) -> int:
    """Writes the teacher's ratings, unless they are there, and returns their number.

    Raises:
        InputError: if there are those of another model, or of other texts.
    """
    if not path.exists():
        return files.write_lines(path, _lines(teacher, segments))
    n_found = 0
    for found, segment in zip(jsonl.read(str(path)), segments, strict=False):
        signature = teacher.signature(teacher.choose_inputs(segment), len(segment.references))
        if (found.segment.hypothesis, found.rater) != (segment.hypothesis, signature):
            raise InputError(f"{path} holds labels of another model or other texts; choose a new directory")
        n_found += 1
    if n_found != len(segments):
        raise InputError(
            f"{path} holds labels of {n_found} segments: must be of the {len(segments)} given, or be removed"
        )
    return n_found


def _lines(teacher: Annotator, segments: Sequence[Segment]) -> Iterator[str]:
    """Yields what the teacher says."""
    for rating in teacher.annotate_segments(segments):
        if rating.errors is None and rating.estimate is None:
            raise InputError(f"model {teacher.name} neither marks nor scores; use one that does")
        yield jsonl.dumps(rating)

"""Distillation: a student learns from teachers' ratings of unrated texts; any models can be the teachers."""

from __future__ import annotations

import dataclasses
import statistics
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from matese import files, merging
from matese.annotation import Estimate, Rating, Segment
from matese.errors import InputError, counted
from matese.formats.tables import jsonl
from matese.model.annotator import Annotator
from matese.training import run, run_directory
from matese.training.config import Config
from matese.training.published_scores import PublishedScores
from matese.training.reporting import SILENT, Reporter
from matese.training.run import Result

RUN = "run"
TRAIN = "train.jsonl"
DEV = "dev.jsonl"
_EVERY = 20
"""One in this many sources is held out for validation, unless validation texts are given."""


Teacher = Annotator | PublishedScores


def distil(
    teachers: Sequence[Teacher],
    config: Config,
    segments: Sequence[Segment],
    dev: Sequence[Segment] = (),
    *,
    reporter: Reporter = SILENT,
) -> Result:
    """Labels texts with teachers and trains a student on the labels: spans, scores, or both.

    Several teachers vote for spans, each of which more than half of those that mark spans must have marked in part, and
    the score is the mean of theirs.

    The labels are written to `train.jsonl` and `dev.jsonl` in the output directory, the run to `run`. Existing labels
    of the same teachers are reused, and a stopped run is resumed. The figures of the result measure the agreement
    between student and teachers on texts that the student was not trained on.

    Args:
        teachers: the models that label the texts.
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
        _label(teachers, texts, output / name)
        names = " and ".join(teacher.name for teacher in teachers)
        reporter.tell(f"{name}: {counted(len(texts), 'segment')} labelled by {names}")
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


def _label(teachers: Sequence[Teacher], segments: Sequence[Segment], path: Path) -> None:
    """Writes the teachers' ratings, unless they exist."""
    if not path.exists():
        files.write_lines(path, _lines(teachers, segments))
        return
    labels = list(jsonl.read(str(path)))
    for rating, segment in zip(labels, segments, strict=False):
        read = segment.without_blanks()
        signatures = {_signature(teacher, read) for teacher in teachers}
        if (rating.segment.hypothesis, rating.rater) != (segment.hypothesis, "+".join(sorted(signatures))):
            raise InputError(f"{path} holds labels of another model or other texts; choose a new directory")
    if len(labels) != len(segments):
        raise InputError(
            f"{path} holds labels of {len(labels)} segments, but {len(segments)} texts are given; remove the file"
        )


def _signature(teacher: Teacher, segment: Segment) -> str:
    if isinstance(teacher, PublishedScores):
        return teacher.signature
    return teacher.signature(teacher.choose_inputs(segment), len(segment.references))


def _lines(teachers: Sequence[Teacher], segments: Sequence[Segment]) -> Iterator[str]:
    """Yields the teachers' ratings as JSON lines."""
    for ratings in zip(*(teacher.annotate_segments(segments) for teacher in teachers), strict=True):
        for rating, teacher in zip(ratings, teachers, strict=True):
            if rating.errors is None and rating.estimate is None:
                raise InputError(f"model {teacher.name} neither marks errors nor scores; choose a model that does")
        yield jsonl.dumps(together(ratings))


def together(ratings: Sequence[Rating]) -> Rating:
    """Returns the rating of several teachers: the vote of those that mark spans, and the mean of their scores.

    Raises:
        InputError: if they score on different scales.
    """
    if len(ratings) == 1:
        return ratings[0]
    estimates = [rating.estimate for rating in ratings if rating.estimate is not None]
    if len(scales := sorted({estimate.scale for estimate in estimates})) > 1:
        raise InputError(f"the teachers score on the scales {' and '.join(scales)}: must be one; choose other teachers")
    mean = Estimate(statistics.fmean(estimate.value for estimate in estimates), scales[0]) if estimates else None
    marked = [rating for rating in ratings if rating.errors is not None]
    voted = merging.merge(marked, method="majority") if marked else ratings[0]
    raters = sorted({str(rating.rater) for rating in ratings})
    return dataclasses.replace(voted, rater="+".join(raters), estimate=mean)

"""Calibrate a tagger on dev data after training: read each segment once for each kind of input, and fit all to that."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from matese.annotation import Rating
from matese.errors import InputError
from matese.formats.row_issues import RowIssue
from matese.model import annotator as annotators
from matese.model import loading
from matese.model.config import ModelConfig
from matese.model.decoding import Fitted
from matese.model.heads import gold_scores
from matese.model.heads.score.decoding import ExpectedScore
from matese.model.heads.score.settings import PieceScore
from matese.model.heads.tags.marking import is_short
from matese.model.operating_point import OperatingPoint
from matese.model.storage import checkpoint
from matese.model.texts.encoding import InputKind
from matese.training import error_free, judged, marking, meaning_rules, piece_scores
from matese.training.error_free import ErrorFreeFit
from matese.training.judged import Judged
from matese.training.marking import MarkingFit
from matese.training.meaning_rules import MeaningFit
from matese.training.reading import read
from matese.validation import plain_values

MOST_CONTRASTS = 1500
"""Short contrasts that are read, and others: they suffice, and reading takes time."""


@dataclass(frozen=True)
class InputFit:
    """What was fitted for one kind of input; None for what there were too few ratings for.

    Attributes:
        inputs: the kind of input.
        marking: which tokens become marks.
        pieces: how the score of a text of several sentences follows from its pieces.
        meaning: how errors of meaning change the score; None, too, without a meaning head for such inputs.
        error_free: which segments are free of errors.
    """

    inputs: InputKind
    marking: MarkingFit | None
    pieces: PieceScore | None
    meaning: MeaningFit | None
    error_free: ErrorFreeFit | None = None

    @property
    def fitted(self) -> Fitted:
        """The fitted values, as a model holds them."""
        return Fitted(
            inputs=self.inputs,
            marking=None if self.marking is None else self.marking.marking,
            pieces=self.pieces,
            meaning=None if self.meaning is None else self.meaning.rule,
            error_free=None if self.error_free is None else self.error_free.rule,
        )


@dataclass(frozen=True)
class Calibration:
    """Everything that was fitted.

    Attributes:
        inputs: for each kind of input.
        span_points: span agreement over all kinds of input, in order of the minimum confidence; empty if there are too
            few spans.
    """

    inputs: tuple[InputFit, ...]
    span_points: tuple[OperatingPoint, ...]


@dataclass(frozen=True)
class Readings:
    """What people and the network say of the segments, for one kind of input.

    Attributes:
        inputs: the kind of input.
        ratings: that everything is fitted to.
        further: that errors of meaning, and the detection of segments free of errors, are fitted to.
        contrasts: that everything about short texts, and about texts of several pieces, is fitted to.
    """

    inputs: InputKind
    ratings: Sequence[Judged]
    further: Sequence[Judged]
    contrasts: Sequence[Judged]


def calibrate(
    directory: Path,
    paths: Sequence[Path],
    output: Path,
    *,
    error_free_paths: Sequence[Path] = (),
    contrast_paths: Sequence[Path] = (),
    every: int = 1,
    progress: Callable[[str], None],
    report: Callable[[RowIssue], None] | None = None,
) -> Calibration:
    """Writes a copy of a model with fitted rules of decoding; its weights stay. Returns the fitted values.

    Args:
        directory: the model directory.
        paths: files of ratings that the model was not trained on.
        output: directory of the new model; may be `directory`.
        error_free_paths: files of more such ratings, in another manner of annotation: the rules for errors of meaning
            are fitted to them, too, and the detection of segments free of errors to them alone.
        contrast_paths: files of right and wrong translations.
        every: read every N-th rating of the first two; of contrasts, a sample is read if there are more.
        progress: called with the name of each step.
        report: called with each row that is skipped or repaired; None to raise a FormatError at such a row.

    Raises:
        InputError: if there is no usable model or no usable rating, or a line is not a rating.
        OSError: if a file cannot be read or written.
    """
    progress("reading the ratings")
    ratings = list(islice(read(paths, report=report), 0, None, every))
    further = list(islice(read(error_free_paths, report=report), 0, None, every))
    contrasts: dict[bool, list[Rating]] = {True: [], False: []}
    for rating in read(contrast_paths, report=report):
        contrasts[is_short(rating.segment.hypothesis)].append(rating)
    sampled = [rating for of_length in contrasts.values() for rating in sample(of_length, MOST_CONTRASTS)]
    if not any(rating.errors or (rating.errors is not None and not rating.unplaced) for rating in ratings):
        raise InputError("no rating has tags, because all errors are without a place; give ratings with marked errors")
    annotator = annotators.load(directory)
    if not checkpoint.is_tagger(directory):
        raise InputError(f"{directory} is no tagger of matese: must be a directory that matese train wrote")
    readings = [
        Readings(
            inputs,
            *(judged.judge(annotator, file, inputs, progress=progress) for file in (ratings, further, sampled)),
        )
        for inputs in annotator.config.texts.inputs
    ]
    calibration = fit(readings, annotator.config, progress=progress)
    _save(directory, output, calibration)
    return calibration


def sample(ratings: Sequence[Rating], most: int) -> Sequence[Rating]:
    """Returns at most so many of the ratings, always the same: right and wrong texts often take turns in a file."""
    return ratings if len(ratings) <= most else random.Random(0).sample(ratings, most)


def fit(readings: Sequence[Readings], config: ModelConfig, *, progress: Callable[[str], None]) -> Calibration:
    """Returns everything that is fitted, in the order in which decoding applies it."""
    fits = []
    for of_input in readings:
        progress(f"fitting marks and scores by {of_input.inputs}")
        fits.append(_fit(of_input, config))
    of_points = [input_fit.marking.points for input_fit in fits if input_fit.marking is not None]
    span_points = tuple(
        OperatingPoint(
            points[0].min_confidence,
            float(np.mean([point.precision for point in points])),
            float(np.mean([point.recall for point in points])),
        )
        for points in zip(*of_points, strict=True)
    )
    return Calibration(tuple(fits), span_points)


def _fit(readings: Readings, config: ModelConfig) -> InputFit:
    pieces = _pieces(readings.ratings)
    if pieces is not None:
        readings = replace(
            readings,
            ratings=[_with_rule(segment, pieces) for segment in readings.ratings],
            further=[_with_rule(segment, pieces) for segment in readings.further],
        )
    input_fit = InputFit(
        readings.inputs,
        marking.fit(readings.ratings, readings.contrasts, whole_words=config.decoding.whole_words),
        pieces,
        _meaning(readings, config),
    )
    decoding = replace(config.decoding, fitted=(input_fit.fitted,))
    return replace(input_fit, error_free=error_free.fit(readings.further or readings.ratings, config, decoding))


def _pieces(ratings: Sequence[Judged]) -> PieceScore | None:
    scored = [
        (output, score)
        for segment in ratings
        if (output := segment.prediction.outputs.get(ExpectedScore)) is not None
        and np.isfinite(score := gold_scores.score_of(segment.rating))
    ]
    return piece_scores.fit([output for output, _ in scored], [score for _, score in scored])


def _with_rule(segment: Judged, rule: PieceScore) -> Judged:
    """Returns what the network says with the score that follows from the pieces by a rule."""
    prediction = segment.prediction
    expected = prediction.outputs.get(ExpectedScore)
    if expected is None or expected.whole is None:
        return segment
    score = rule.score(expected.whole, expected.pieces)
    outputs = prediction.outputs.changed(replace(expected, value=score))
    return replace(segment, prediction=prediction._replace(outputs=outputs, score=score))


def _meaning(readings: Readings, config: ModelConfig) -> MeaningFit | None:
    settings = config.heads.meaning
    if settings is None or readings.inputs not in settings.inputs or config.heads.score is None:
        return None
    return meaning_rules.fit(readings.ratings, readings.further, readings.contrasts)


def _save(directory: Path, output: Path, calibration: Calibration) -> None:
    stored = checkpoint.load(directory)
    config = stored.config
    decoding = replace(config.model.decoding, fitted=tuple(input_fit.fitted for input_fit in calibration.inputs))
    training = {**(config.training or {}), "calibration": plain_values.to_plain(calibration)}
    changed = replace(config, model=replace(config.model, decoding=decoding), training=training)
    _, tokenizer = loading.load_tagger(directory, is_trainable=True)
    checkpoint.save(output, replace(stored, config=changed), tokenizer, card=checkpoint.read_card(directory))

"""Interpret the output of a tagger: from tag probabilities to ratings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from matese import mqm
from matese.annotation import ErrorFree, Estimate, Rating, Segment, UnplacedError
from matese.model import copy_and_blank, error_free
from matese.model.config import TaggerConfig
from matese.model.engines import numpy_engine
from matese.model.engines.engine import Hardware
from matese.model.heads.omissions import decoding as omissions
from matese.model.heads.tags import decoding
from matese.model.heads.tags.bio import TAGS, O
from matese.model.interpreter import Options
from matese.model.model_input import ModelInput, contexts
from matese.model.prediction import (
    Prediction,
    WindowOutput,
    average,
    check_numbers,
    combine,
    join_missing,
    join_windows,
)
from matese.model.predictor import Predictor
from matese.model.texts.encoding import Encoding, InputKind
from matese.mqm import LOWEST_SCORE

_NO_ERROR = np.log(np.array([1 - 4e-6 if tag == "O" else 1e-6 for tag in TAGS]))
"""Log-probabilities of a token without error: (tags,). No probability is 0, so that all logarithms are finite."""


class TaggerInterpreter:
    """Interprets the output of a tagger. Attributes are those of `Interpreter`."""

    def __init__(self, config: TaggerConfig, overrides: Iterable[str] = copy_and_blank.OVERRIDES) -> None:
        """Raises UsageError for an unknown override."""
        self.config, self.overrides = config, copy_and_blank.check(overrides)

    def decoding(self, inputs: InputKind, options: Options) -> str:
        """Returns everything that the marks of segments with these inputs depend on, for the signature."""
        assert options.min_confidence is not None
        named = [f"{options.min_confidence:g}"]
        named += [f"budget{self.config.span_budget:g}"] if self._has_budget(options) else []
        named += ["words"] if options.whole_words else []
        named += [f"omissions{options.min_omission_confidence:g}"] if self.config.omission_head else []
        return "+".join(named)

    def _has_budget(self, options: Options) -> bool:
        """Whether spans are marked within the expected score; a minimum confidence that the user gives marks all."""
        return self.config.span_budget is not None and options.min_confidence == self.config.min_confidence

    def scoring(self, inputs: InputKind) -> str:
        """Returns how segments with these inputs are scored, for the signature."""
        return "head" if self.config.score_head else "tags"

    def rows(self, reading: Segment) -> tuple[Segment, ...]:
        """Returns the reading itself: a tagger reads it in one row."""
        return (reading,)

    def windows(self, encodings: Sequence[Encoding]) -> Sequence[Encoding]:
        """Returns the windows unchanged."""
        return encodings

    def join(self, row: Segment, windows: Sequence[WindowOutput]) -> Prediction:
        """Returns the joint prediction of a row's windows.

        Raises:
            ModelError: if they contain NaN.
        """
        joined = join_windows(
            row.hypothesis, [(window.encoding, window.log_probabilities, window.score) for window in windows]
        )
        lacking = [(window.encoding, window.lacking) for window in windows if window.lacking is not None]
        if lacking:
            joined = replace(joined, missing=join_missing(lacking, is_reference=bool(row.references)))
        categories = [
            window.categories[slice(*window.encoding.kept)] for window in windows if window.categories is not None
        ]
        if categories:
            check_numbers(logits := np.concatenate(categories))
            joined = replace(joined, categories=logits)
        return joined

    def predict(
        self, model_inputs: Sequence[ModelInput], rows: Mapping[Segment, Prediction], options: Options
    ) -> list[Prediction]:
        """Returns the prediction for each segment: the mean over its readings, unless a rule overrides the model."""
        return [
            self._predict(model_input, [rows[reading] for reading in model_input.readings if reading in rows])
            for model_input in model_inputs
        ]

    def _predict(self, model_input: ModelInput, readings: Sequence[Prediction]) -> Prediction:
        if not readings:
            return blank_prediction(model_input)
        combined = combine(model_input, readings)
        is_copy = "copy" in self.overrides and copy_and_blank.is_copy(model_input)
        return without_error(combined) if is_copy else combined

    def average(self, predictions: Sequence[Prediction], score: float) -> Prediction:
        """Returns the mean of several predictions for one segment, by taggers with one vocabulary."""
        return average(predictions, score)

    def decode(
        self, model_inputs: Sequence[ModelInput], predictions: Sequence[Prediction], options: Options
    ) -> Iterator[Rating]:
        """Yields a rating for each prediction, without the name of a rater."""
        assert options.min_confidence is not None
        marked = decoding.decode(
            predictions,
            min_confidence=options.min_confidence,
            whole_words=options.whole_words,
            confidences=[self.config.confidence(model_input.inputs) for model_input in model_inputs],
        )
        for model_input, prediction, errors in zip(model_inputs, predictions, marked, strict=True):
            lacks, substitutes = omissions.decode(prediction, model_input.segment, options.min_omission_confidence)
            if self.config.span_budget is not None and self._has_budget(options):
                errors = decoding.within_budget(errors, self.config.span_budget * -(prediction.score or 0.0))
            sure = [error for error in substitutes if (error.confidence or 0.0) >= options.min_confidence]
            marks = [*errors, *decoding.with_categories(prediction, sure)]
            unplaced = errors_of_blank(prediction) if "blank" in self.overrides else ()
            estimate = Estimate(prediction.score or 0.0, "mqm")
            yield Rating(
                model_input.segment,
                None,
                decoding.without_overlap(marks),
                (),
                lacks,
                unplaced,
                estimate=estimate,
                error_free=self._error_free(model_input, prediction) if options.error_free else None,
            )

    def _error_free(self, model_input: ModelInput, prediction: Prediction) -> ErrorFree | None:
        """Returns whether a segment is free of errors; None if the model has no detector for such inputs."""
        detector = self.config.error_free_detector(model_input.inputs)
        if detector is None:
            return None
        features = error_free.features_of(
            model_input.segment,
            expected_score=prediction.score or 0.0,
            n_errors=float((1 - np.exp(prediction.log_probabilities[:, O])).sum()),
            lang_pairs=self.config.lang_pairs,
        )
        return error_free.decide(detector, model_input.segment, features)


def without_error(prediction: Prediction) -> Prediction:
    """Returns the prediction for a copy: no errors and the highest score."""
    rows = np.broadcast_to(_NO_ERROR, prediction.log_probabilities.shape)
    return replace(prediction, log_probabilities=rows, score=0.0, missing=None)


def blank_prediction(model_input: ModelInput) -> Prediction:
    """Returns the prediction for a blank hypothesis: the lowest score, unless the other texts are blank too."""
    has_context = any(text.strip() for reading in model_input.readings for text in contexts(reading))
    score = LOWEST_SCORE if has_context else 0.0
    return Prediction(model_input.segment.hypothesis, np.zeros((0, 2), np.int32), np.zeros((0, len(TAGS))), score)


def errors_of_blank(prediction: Prediction) -> tuple[UnplacedError, ...]:
    """Returns the error of a blank hypothesis; none for other hypotheses, or if the other texts are blank too."""
    is_non_translation = prediction.is_blank and prediction.score == LOWEST_SCORE
    return (mqm.NON_TRANSLATION,) if is_non_translation else ()


def load_predictor(
    directory: Path, hardware: Hardware, overrides: Iterable[str], n_segments: int | None
) -> Predictor[Prediction, Prediction]:
    """Returns a tagger that is ready to predict: in numpy for a few segments, otherwise in torch.

    See `matese.load` for arguments and errors.
    """
    most = numpy_engine.most_segments(directory)
    if most and hardware.precision == "auto":
        # As in numpy, because the signature must not depend on the size of the job.
        hardware = replace(hardware, precision="float32")
    is_free = hardware.device in ("auto", "cpu") and hardware.precision == "float32" and hardware.threads is None
    if n_segments is not None and n_segments <= most and is_free:
        engine, text_encoder, config = numpy_engine.load(directory)
        return Predictor(TaggerInterpreter(config, overrides), engine, text_encoder)
    from matese.model import loading  # imports torch

    torch_engine, text_encoder, config = loading.load_engine(directory, hardware)
    return Predictor(TaggerInterpreter(config, overrides), torch_engine, text_encoder)

"""Interpret the output of a tagger: from tag probabilities to ratings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from matese import mqm
from matese.annotation import ErrorFree, Estimate, Rating, Segment, UnplacedError
from matese.model import copy_and_blank, error_free, joining
from matese.model.config import TaggerConfig
from matese.model.engines import numpy_engine
from matese.model.engines.engine import Hardware
from matese.model.heads import registry
from matese.model.heads.head import Head
from matese.model.heads.tags.bio import O
from matese.model.heads.tags.decoding import without_overlap
from matese.model.interpreter import Options
from matese.model.model_input import ModelInput, contexts
from matese.model.prediction import Marks, Prediction, Window
from matese.model.predictor import Predictor
from matese.model.texts.encoding import Encoding, InputKind
from matese.mqm import LOWEST_SCORE


class TaggerInterpreter:
    """Interprets the output of a tagger. Attributes are those of `Interpreter`, and the heads."""

    def __init__(self, config: TaggerConfig, overrides: Iterable[str] = copy_and_blank.OVERRIDES) -> None:
        """Raises UsageError for an unknown override."""
        self.config = config
        self.overrides = copy_and_blank.check(overrides)
        self.heads = registry.heads(config)

    def decoding(self, inputs: InputKind, options: Options) -> str:
        """Returns everything that the marks of segments with these inputs depend on, for the signature."""
        return "+".join(named for head in self.heads for named in head.signature(options))

    def scoring(self, inputs: InputKind) -> str:
        """Returns how segments with these inputs are scored, for the signature."""
        return "head" if self.config.score_head else "tags"

    def rows(self, reading: Segment) -> tuple[Segment, ...]:
        """Returns the reading itself: a tagger reads it in one row."""
        return (reading,)

    def windows(self, encodings: Sequence[Encoding]) -> Sequence[Encoding]:
        """Returns the windows unchanged."""
        return encodings

    def join(self, row: Segment, windows: Sequence[Window]) -> Prediction:
        """Returns the joint prediction of a row's windows.

        Raises:
            ModelError: if they contain NaN.
        """
        return joining.of_windows(self.heads, row, windows)

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
            return blank_prediction(self.heads, model_input)
        joint = joining.of_readings(self.heads, model_input, readings)
        is_copy = "copy" in self.overrides and copy_and_blank.is_copy(model_input)
        return without_error(self.heads, joint) if is_copy else joint

    def average(self, predictions: Sequence[Prediction], score: float) -> Prediction:
        """Returns the mean of several predictions for one segment, by taggers with one vocabulary."""
        return joining.of_models(self.heads, predictions, score)

    def decode(
        self, model_inputs: Sequence[ModelInput], predictions: Sequence[Prediction], options: Options
    ) -> Iterator[Rating]:
        """Yields a rating for each prediction, without the name of a rater."""
        marks: Sequence[Marks] = [Marks()] * len(predictions)
        for head in self.heads:
            marks = head.mark(model_inputs, predictions, marks, options)
        for model_input, prediction, marked in zip(model_inputs, predictions, marks, strict=True):
            yield Rating(
                model_input.segment,
                rater=None,
                errors=without_overlap(marked.errors),
                omissions=marked.omissions,
                unplaced=errors_of_blank(prediction) if "blank" in self.overrides else (),
                estimate=Estimate(prediction.score or 0.0, "mqm"),
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


def without_error(heads: Sequence[Head], prediction: Prediction) -> Prediction:
    """Returns the prediction for a copy: no errors and the highest score."""
    known = [head for head in heads if head.name in prediction.outputs]
    outputs = {head.name: head.of_copy(prediction.outputs[head.name]) for head in known}
    said = {name: output for name, output in outputs.items() if output is not None}
    return replace(prediction, outputs=said, score=0.0)


def blank_prediction(heads: Sequence[Head], model_input: ModelInput) -> Prediction:
    """Returns the prediction for a blank hypothesis: the lowest score, unless the other texts are blank too."""
    has_context = any(text.strip() for reading in model_input.readings for text in contexts(reading))
    outputs = {head.name: output for head in heads if (output := head.of_blank()) is not None}
    score = LOWEST_SCORE if has_context else 0.0
    return Prediction(model_input.segment.hypothesis, np.zeros((0, 2), np.int32), outputs, score)


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

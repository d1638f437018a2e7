"""Interpret the output of any network: from windows to rows, readings, predictions and ratings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from matese import mqm
from matese.annotation import Estimate, Rating, Scale, UnplacedError
from matese.errors import ModelError
from matese.model import copy_and_blank, error_free, joining
from matese.model.config import ModelConfig
from matese.model.decoding import Decoding
from matese.model.heads import registry
from matese.model.heads.head import Combine, Head
from matese.model.heads.tags.decoding import without_overlap
from matese.model.model_input import ModelInput, Reading, Row
from matese.model.prediction import Marks, Outputs, Prediction, WindowOutput
from matese.model.texts.encoding import Encoding, InputKind, with_special_tokens
from matese.mqm import LOWEST_SCORE


class Interpreter:
    """Interprets the output of a model.

    Attributes:
        config: settings of the model.
        overrides: rules that override the model, see `matese.model.copy_and_blank`.
        heads: the heads of the model.
    """

    def __init__(self, config: ModelConfig, overrides: Iterable[str] = copy_and_blank.OVERRIDES) -> None:
        """Takes the rules if the model has a head that they may override.

        Raises:
            UsageError: for an unknown override.
        """
        self.config = config
        self.heads = registry.heads(config)
        chosen = copy_and_blank.check(overrides)
        self.overrides = chosen if any(head.has_overrides for head in self.heads) else ()
        *_, self._scorer = (head for head in self.heads if head.scoring() is not None)
        self._finds_errors = any(head.finds_errors for head in self.heads)

    def signature(self, inputs: InputKind, decoding: Decoding) -> str:
        """Returns everything that the marks of segments with these inputs depend on, for the signature."""
        return "+".join(named for head in self.heads for named in head.signature(inputs, decoding)) or "none"

    def scoring(self) -> str:
        """Returns how segments are scored, for the signature: as the last head does that has an expected score."""
        return self._scorer.scoring() or ""

    @property
    def scale(self) -> Scale:
        """Scale of the expected score."""
        return self._scorer.scale

    def rows(self, reading: Reading) -> tuple[Row, ...]:
        """Returns the texts of each row that a reading needs."""
        return reading.rows(self.config.texts.layout)

    def windows(self, encodings: Sequence[Encoding]) -> Sequence[Encoding]:
        """Returns the windows of a row as the engine computes them."""
        reads_special_tokens = any(head.reads_special_tokens for head in self.heads)
        return with_special_tokens(encodings) if reads_special_tokens else encodings

    def join(self, windows: Mapping[Row, Sequence[WindowOutput]]) -> dict[Row, Prediction]:
        """Returns the joint prediction of the windows of each row.

        Raises:
            ModelError: if they contain NaN.
        """
        return joining.of_windows(self.heads, windows)

    def predict(
        self,
        model_inputs: Sequence[ModelInput],
        rows: Mapping[Row, Prediction],
        decoding: Decoding,
        combine: Combine | None = None,
    ) -> list[Prediction]:
        """Returns the prediction for each segment: the mean over its readings, unless a rule overrides the model.

        It is what the network says; `decode` makes of it what the product says.

        Args:
            model_inputs: the segments.
            rows: the predictions for all rows; a blank hypothesis has no row.
            decoding: of the model or the user.
            combine: scores embeddings with the network; None if the network reads no text alone.
        """
        distinct = dict.fromkeys(reading for model_input in model_inputs for reading in model_input.readings)
        read = {}
        for reading in distinct:
            own = self.rows(reading)
            if own[0] in rows:
                read[reading] = [rows[row] for row in own]
        joint = joining.of_rows(self.heads, list(read.values()), decoding=decoding, combine=combine)
        readings = dict(zip(read, joint, strict=True))
        predictions = [
            joining.of_readings(self.heads, model_input, [readings[reading] for reading in model_input.readings])
            if all(reading in readings for reading in model_input.readings)
            else blank_prediction(self.heads, model_input)
            for model_input in model_inputs
        ]
        return [
            prediction if prediction.is_blank else self._scored(model_input, prediction)
            for model_input, prediction in zip(model_inputs, predictions, strict=True)
        ]

    def _scored(self, model_input: ModelInput, prediction: Prediction) -> Prediction:
        score = self._scorer.expected_score(prediction.outputs[self._scorer.output])
        return self._overridden(model_input, prediction.scored(score))

    def _overridden(self, model_input: ModelInput, joint: Prediction) -> Prediction:
        if "copy" not in self.overrides:
            return joint
        if copy_and_blank.is_copy(model_input):
            return without_error(self.heads, joint)
        return untranslated(self.heads, joint) if copy_and_blank.is_untranslated(model_input) else joint

    def average(self, predictions: Sequence[Prediction], score: float) -> Prediction:
        """Returns the mean of several predictions for one segment, by models with one vocabulary if they mark errors.

        Args:
            predictions: the prediction of each model, or of each pass with dropout.
            score: expected score of the result.
        """
        return joining.of_models(self.heads, predictions, score)

    def change(self, model_input: ModelInput, prediction: Prediction, decoding: Decoding) -> Prediction:
        """Returns the prediction for a segment as it is marked: changed by what a head says of others, and rounded.

        This is done once, after windows, readings and models have been joined.
        """
        for head in self.heads:
            prediction = head.change(model_input, prediction, decoding)
        return prediction.scored(round(prediction.score or 0.0, self._scorer.digits))

    def decode(self, model_input: ModelInput, prediction: Prediction, decoding: Decoding) -> Rating:
        """Returns the rating for a prediction that `change` returned.

        Raises:
            ModelError: if the score is NaN or infinite.
        """
        score = prediction.score or 0.0  # never -0.0
        if not math.isfinite(score):
            raise ModelError("the model's output is NaN or infinite: its weights must be finite and not too large")
        marks = Marks()
        if not prediction.is_blank and "copy" in self.overrides and copy_and_blank.is_untranslated(model_input):
            marks = Marks((copy_and_blank.untranslated_error(model_input.segment),))
        else:
            for head in self.heads:
                marks = head.mark(model_input, prediction, marks, decoding)
            marks = marks._replace(errors=without_overlap(marks.errors))
        rule = decoding.of(model_input.inputs).error_free
        free = None if rule is None else error_free.decide(rule, model_input.segment, prediction, marks)
        return Rating(
            model_input.segment,
            rater=model_input.rater,
            errors=marks.errors if self._finds_errors else None,
            omissions=marks.omissions,
            unplaced=errors_of_blank(prediction) if "blank" in self.overrides else (),
            estimate=Estimate(score, self.scale),
            error_free=free,
        )


def without_error(heads: Sequence[Head], prediction: Prediction) -> Prediction:
    """Returns the prediction for a copy: no errors and the highest score."""
    said = ((head, prediction.outputs.get(head.output)) for head in heads)
    outputs = Outputs.of(head.of_copy(output) for head, output in said if output is not None)
    return prediction._replace(outputs=outputs, score=0.0)


def untranslated(heads: Sequence[Head], prediction: Prediction) -> Prediction:
    """Returns the prediction for a copy of the source: one Major error and the lowest score."""
    said = ((head, prediction.outputs.get(head.output)) for head in heads)
    outputs = Outputs.of(head.of_untranslated(output) for head, output in said if output is not None)
    return prediction._replace(outputs=outputs, score=LOWEST_SCORE)


def blank_prediction(heads: Sequence[Head], model_input: ModelInput) -> Prediction:
    """Returns the prediction for a blank hypothesis: the lowest score, unless the other texts are blank too."""
    has_context = any(text.strip() for reading in model_input.readings for text in reading.contexts)
    outputs = Outputs.of(head.of_blank() for head in heads)
    score = LOWEST_SCORE if has_context else 0.0
    return Prediction(model_input.segment.hypothesis, np.zeros((0, 2), np.int32), outputs, score, is_blank=True)


def errors_of_blank(prediction: Prediction) -> tuple[UnplacedError, ...]:
    """Returns the error of a blank hypothesis; none for other hypotheses, or if the other texts are blank too."""
    is_non_translation = prediction.is_blank and prediction.score == LOWEST_SCORE
    return (mqm.NON_TRANSLATION,) if is_non_translation else ()

"""Interpret the output of any network: from windows to rows, readings, predictions and ratings."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from matese import mqm
from matese.annotation import Estimate, Rating
from matese.errors import ModelError
from matese.model import copy_and_blank, error_free
from matese.model.config import ModelConfig
from matese.model.decoding import Decoding
from matese.model.decoding_choice import OVERRIDES, Override
from matese.model.heads import registry
from matese.model.heads.head import Combine, Head
from matese.model.heads.tags.decoding import without_overlap
from matese.model.model_input import ModelInput, Reading, Row
from matese.model.prediction import Marks, Outputs, Prediction, WindowOutput
from matese.model.texts.encoding import Encoding, InputKind, with_special_tokens
from matese.mqm import LOWEST_SCORE
from matese.text.words import is_untranslated


class Interpreter:
    """Interprets the output of a model.

    Attributes:
        config: settings of the model.
        overrides: rules that override the model, see `matese.model.copy_and_blank`.
        heads: the heads of the model.
        scorer: the last of the heads that has an expected score, which is that of the segment.
    """

    def __init__(self, config: ModelConfig, overrides: tuple[Override, ...] = OVERRIDES) -> None:
        """Takes the rules if the model has a head that they may override."""
        self.config = config
        self.heads = registry.heads(config)
        self.overrides = overrides if any(head.has_overrides for head in self.heads) else ()
        *_, self.scorer = (head for head in self.heads if head.scoring is not None)
        self._finds_errors = any(head.finds_errors for head in self.heads)

    def signature(self, inputs: InputKind, decoding: Decoding) -> str:
        """Returns everything that the marks of segments with these inputs depend on, for the signature."""
        return "+".join(named for head in self.heads for named in head.signature(inputs, decoding)) or "none"

    def windows(self, encodings: Sequence[Encoding]) -> Sequence[Encoding]:
        """Returns the windows of a row as the engine computes them."""
        reads_special_tokens = any(head.reads_special_tokens for head in self.heads)
        return with_special_tokens(encodings) if reads_special_tokens else encodings

    def join(self, windows: Mapping[Row, Sequence[WindowOutput]]) -> dict[Row, Prediction]:
        """Returns the joint prediction of the windows of each row.

        Raises:
            ModelError: if they contain NaN.
        """
        for head in self.heads:
            said = (output.outputs.get(head.output) for of_row in windows.values() for output in of_row)
            head.check([output for output in said if output is not None])
        return {row: self._of_windows(row, of_row) for row, of_row in windows.items()}

    def _of_windows(self, row: Row, windows: Sequence[WindowOutput]) -> Prediction:
        """Returns the joint prediction of the windows and pieces of a row."""
        first = windows[0]
        if len(windows) == 1 and not first.encoding.is_cut:
            return Prediction(row.texts[0], first.encoding.ranges, first.outputs)
        whole = [window for window in windows if not window.encoding.is_piece]
        pieces = [window for window in windows if window.encoding.is_piece]
        parts = _covering(whole, pieces) if pieces else whole
        joint: list[object] = []
        for head in self.heads:
            if said_of_parts := _said(head, parts):
                joint.append(head.join(row, said_of_parts, _said(head, whole)))
        ranges = np.concatenate([encoding.ranges[slice(*encoding.kept)] for encoding, _ in parts])
        is_windowed = any(encoding.is_cut for encoding, _ in windows)
        outputs = Outputs.of(joint)
        return Prediction(row.texts[0], ranges, outputs, is_windowed=is_windowed, n_pieces=max(1, len(pieces)))

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
        read: dict[Reading, Sequence[Prediction]] = {}
        for reading in dict.fromkeys(reading for model_input in model_inputs for reading in model_input.readings):
            reading_rows = reading.rows(self.config.texts.layout)
            if reading_rows[0] in rows:
                read[reading] = [rows[row] for row in reading_rows]
        joint = self._of_rows(list(read.values()), decoding, combine)
        readings = dict(zip(read, joint, strict=True))
        return [
            self._of_readings(model_input, [readings[reading] for reading in model_input.readings])
            if all(reading in readings for reading in model_input.readings)
            else self._of_blank(model_input)
            for model_input in model_inputs
        ]

    def _of_rows(
        self, readings: Sequence[Sequence[Prediction]], decoding: Decoding, combine: Combine | None
    ) -> list[Prediction]:
        """Returns the prediction for each reading from those for its rows."""
        said = [rows[0].outputs for rows in readings]
        for head in self.heads:
            joined = head.over_rows(readings, said, decoding=decoding, combine=combine)
            if joined is not None:
                said = [outputs.changed(output) for outputs, output in zip(said, joined, strict=True)]
        return [
            rows[0] if len(rows) == 1 and outputs is rows[0].outputs else _joint(rows, outputs)
            for rows, outputs in zip(readings, said, strict=True)
        ]

    def _of_readings(self, model_input: ModelInput, predictions: Sequence[Prediction]) -> Prediction:
        """Returns the prediction for a segment from those for its readings, with the score, or as a rule says."""
        joint = predictions[0]
        if len(predictions) > 1:
            outputs = Outputs.of(
                head.over_readings(model_input, [prediction.outputs.get(head.output) for prediction in predictions])
                for head in self.heads
            )
            joint = _joint(predictions, outputs)
        joint = joint._replace(score=self.scorer.expected_score(joint.outputs[self.scorer.output]))
        if "copy" not in self.overrides:
            return joint
        if model_input.is_copy:
            return self._replaced(joint, lambda head, output: head.of_copy(output), 0.0)
        if is_untranslated(model_input.segment):
            return self._replaced(joint, lambda head, output: head.of_untranslated(output), LOWEST_SCORE)
        return joint

    def _replaced(self, joint: Prediction, change: Callable[[Head, Any], Any], score: float) -> Prediction:
        """Returns a prediction with other outputs of all heads that have one."""
        said = ((head, joint.outputs.get(head.output)) for head in self.heads)
        return joint._replace(
            outputs=Outputs.of(change(head, output) for head, output in said if output is not None), score=score
        )

    def _of_blank(self, model_input: ModelInput) -> Prediction:
        """Returns the prediction for a blank hypothesis: the lowest score, unless the other texts are blank too."""
        has_context = any(text.strip() for reading in model_input.readings for text in reading.contexts)
        outputs = Outputs.of(head.of_blank() for head in self.heads)
        score = LOWEST_SCORE if has_context else 0.0
        return Prediction(model_input.segment.hypothesis, np.zeros((0, 2), np.int32), outputs, score, is_blank=True)

    def average(self, predictions: Sequence[Prediction], score: float) -> Prediction:
        """Returns the mean of several predictions for one segment, by models with one vocabulary if they mark errors.

        Args:
            predictions: the prediction of each model, or of each pass with dropout.
            score: expected score of the result.
        """
        said = [[prediction.outputs.get(head.output) for prediction in predictions] for head in self.heads]
        outputs = Outputs.of(head.over_models(outputs) for head, outputs in zip(self.heads, said, strict=True))
        return _joint(predictions, outputs)._replace(score=score)

    def change(self, model_input: ModelInput, prediction: Prediction, decoding: Decoding) -> Prediction:
        """Returns the prediction for a segment as it is marked: changed by what a head says of others, and rounded.

        This is done once, after windows, readings and models have been joined.
        """
        for head in self.heads:
            prediction = head.change(model_input, prediction, decoding)
        return prediction._replace(score=round(prediction.score or 0.0, self.scorer.digits))

    def decode(self, model_input: ModelInput, prediction: Prediction, decoding: Decoding) -> Rating:
        """Returns the rating for a prediction that `change` returned.

        Raises:
            ModelError: if the score is NaN or infinite.
        """
        score = prediction.score or 0.0  # never -0.0
        if not math.isfinite(score):
            raise ModelError("the model's output is NaN or infinite: its weights must be finite and not too large")
        marks = Marks()
        if not prediction.is_blank and "copy" in self.overrides and is_untranslated(model_input.segment):
            marks = Marks((copy_and_blank.untranslated_error(model_input.segment),))
        else:
            for head in self.heads:
                marks = head.mark(model_input, prediction, marks, decoding)
            marks = marks._replace(errors=without_overlap(marks.errors))
        # Nothing is missing where the other texts are blank, too.
        is_non_translation = prediction.is_blank and score == LOWEST_SCORE and "blank" in self.overrides
        rule = decoding.of(model_input.inputs).error_free
        free = None if rule is None else error_free.decide(rule, model_input.segment, prediction, marks)
        return Rating(
            model_input.segment,
            rater=model_input.rater,
            errors=marks.errors if self._finds_errors else None,
            omissions=marks.omissions,
            unplaced=(mqm.NON_TRANSLATION,) if is_non_translation else (),
            estimate=Estimate(score, self.scorer.scale),
            error_free=free,
        )


def _said(head: Head, windows: Sequence[WindowOutput]) -> list[tuple[Encoding, Any]]:
    """Returns what a head says of each window; without those of which it says nothing."""
    return [(encoding, said) for encoding, outputs in windows if (said := outputs.get(head.output)) is not None]


def _covering(whole: Sequence[WindowOutput], pieces: Sequence[WindowOutput]) -> list[WindowOutput]:
    """Returns the pieces, and between them the parts of the whole that are in no piece, in order.

    The kept parts cover the hypothesis exactly once.
    """
    covered = [place for encoding, _ in pieces for place in _kept(encoding)]
    parts = list(pieces)
    for encoding, outputs in whole:
        uncovered = np.setdiff1d(_kept(encoding), covered)
        for run in np.split(uncovered, np.flatnonzero(np.diff(uncovered) > 1) + 1):
            if len(run):
                kept = (int(run[0]) - encoding.start, int(run[-1]) + 1 - encoding.start)
                parts.append(WindowOutput(encoding._replace(kept=kept), outputs))
    return sorted(parts, key=lambda part: part.encoding.start + part.encoding.kept[0])


def _kept(encoding: Encoding) -> range:
    """Returns the tokens of the hypothesis whose predictions are used."""
    start, end = encoding.kept
    return range(encoding.start + start, encoding.start + end)


def _joint(predictions: Sequence[Prediction], outputs: Outputs) -> Prediction:
    """Returns one prediction in place of several for the same hypothesis, with what they say together."""
    is_windowed = any(prediction.is_windowed for prediction in predictions)
    return predictions[0]._replace(outputs=outputs, score=None, is_windowed=is_windowed)

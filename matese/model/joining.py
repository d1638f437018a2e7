"""Join predictions: those of a row's windows, a reading's rows, a segment's readings, and of several models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from matese.model.decoding import Decoding
from matese.model.heads.head import Combine, Head
from matese.model.model_input import ModelInput, Row
from matese.model.prediction import Outputs, Prediction, WindowOutput


def of_windows(heads: Sequence[Head], row: Row, windows: Sequence[WindowOutput]) -> Prediction:
    """Returns the prediction for a row of texts.

    Args:
        heads: the heads of the model.
        row: the texts.
        windows: the network's output for each window.

    Raises:
        ModelError: if they contain NaN.
    """
    joint: list[object] = []
    for head in heads:
        kind = head.output
        known = [(encoding, said) for encoding, outputs in windows if (said := outputs.get(kind)) is not None]
        if known:
            joint.append(head.join(row, known))
    ranges = np.concatenate([encoding.ranges[slice(*encoding.kept)] for encoding, _ in windows])
    is_windowed = any(encoding.is_cut for encoding, _ in windows)
    return Prediction(row.texts[0], ranges, Outputs.of(joint), is_windowed=is_windowed)


def of_rows(
    heads: Sequence[Head], readings: Sequence[Sequence[Prediction]], *, decoding: Decoding, combine: Combine | None
) -> list[Prediction]:
    """Returns the prediction for each reading.

    Args:
        heads: the heads of the model.
        readings: the predictions for the rows of each reading.
        decoding: see `Head.over_rows`.
        combine: see `Head.over_rows`.
    """
    said = [Outputs()] * len(readings)
    for head in heads:
        joined = head.over_rows(readings, said, decoding=decoding, combine=combine)
        said = [
            outputs if output is None else outputs.changed(output) for outputs, output in zip(said, joined, strict=True)
        ]
    return [_joint(rows, outputs) for rows, outputs in zip(readings, said, strict=True)]


def of_readings(heads: Sequence[Head], model_input: ModelInput, predictions: Sequence[Prediction]) -> Prediction:
    """Returns the prediction for a segment from those for its readings.

    The expected score is that of the last head that has one.
    """
    outputs = Outputs.of(
        [
            head.over_readings(model_input, [prediction.outputs.get(head.output) for prediction in predictions])
            for head in heads
        ]
    )
    return _joint(predictions, outputs, _expected_score(heads, outputs))


def _expected_score(heads: Sequence[Head], outputs: Outputs) -> float:
    for head in reversed(heads):
        said = outputs.by_type.get(head.output)
        expected = None if said is None else head.expected_score(said)
        if expected is not None:
            return expected
    return 0.0


def of_models(heads: Sequence[Head], predictions: Sequence[Prediction], score: float) -> Prediction:
    """Returns the mean of several predictions for one segment, with the same tokens.

    Args:
        heads: the heads of the first model.
        predictions: the prediction of each model, or of each pass with dropout.
        score: expected score of the result.
    """
    said = (head.over_models([prediction.outputs.get(head.output) for prediction in predictions]) for head in heads)
    return _joint(predictions, Outputs.of(said), score)


def _joint(predictions: Sequence[Prediction], outputs: Outputs, score: float | None = None) -> Prediction:
    first, *others = predictions
    is_windowed = first.is_windowed or any(prediction.is_windowed for prediction in others)
    return Prediction(first.hypothesis, first.ranges, outputs, score, is_windowed, first.is_blank)

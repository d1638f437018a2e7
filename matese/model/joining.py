"""Join predictions: those of a row's windows, a reading's rows, a segment's readings, and of several models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from matese.model.heads.head import Combine, Head
from matese.model.model_input import ModelInput, Row
from matese.model.options import Options
from matese.model.prediction import Prediction, Window


def of_windows(heads: Sequence[Head], row: Row, windows: Sequence[Window]) -> Prediction:
    """Returns the prediction for a row of texts.

    Args:
        heads: the heads of the model.
        row: the texts.
        windows: the network's output for each window.

    Raises:
        ModelError: if they contain NaN.
    """
    outputs = {}
    for head in heads:
        said = [(window.encoding, window.outputs[head.name]) for window in windows if head.name in window.outputs]
        if said:
            outputs[head.name] = head.join(row, said)
    ranges = np.concatenate([window.encoding.ranges[slice(*window.encoding.kept)] for window in windows])
    return Prediction(row.texts[0], ranges, outputs, is_windowed=any(window.encoding.is_cut for window in windows))


def of_rows(
    heads: Sequence[Head], readings: Sequence[Sequence[Prediction]], *, options: Options, combine: Combine | None
) -> list[Prediction]:
    """Returns the prediction for each reading.

    Args:
        heads: the heads of the model.
        readings: the predictions for the rows of each reading.
        options: of the user.
        combine: see `Head.over_rows`.
    """
    columns: dict[str, Sequence[Any]] = {}
    for head in heads:
        columns[head.name] = head.over_rows(readings, columns, options=options, combine=combine)
    return [
        _joint(rows, {name: values[number] for name, values in columns.items() if values[number] is not None})
        for number, rows in enumerate(readings)
    ]


def of_readings(
    heads: Sequence[Head], model_input: ModelInput, predictions: Sequence[Prediction], *, digits: int
) -> Prediction:
    """Returns the prediction for a segment from those for its readings.

    The expected score is that of the last head that has one, with this number of decimal places.
    """
    outputs = {}
    score = 0.0
    for head in heads:
        output = head.over_readings(model_input, [prediction.outputs.get(head.name) for prediction in predictions])
        if output is None:
            continue
        outputs[head.name] = output
        expected = head.expected_score(output)
        score = score if expected is None else expected
    return _joint(predictions, outputs, round(score, digits))


def of_models(heads: Sequence[Head], predictions: Sequence[Prediction], score: float) -> Prediction:
    """Returns the mean of several predictions for one segment, with the same tokens.

    Args:
        heads: the heads of the first model.
        predictions: the prediction of each model, or of each pass with dropout.
        score: expected score of the result.
    """
    outputs = {}
    for head in heads:
        output = head.over_models([prediction.outputs.get(head.name) for prediction in predictions])
        if output is not None:
            outputs[head.name] = output
    return _joint(predictions, outputs, score)


def _joint(predictions: Sequence[Prediction], outputs: Mapping[str, Any], score: float | None = None) -> Prediction:
    first = predictions[0]
    is_windowed = any(prediction.is_windowed for prediction in predictions)
    return Prediction(first.hypothesis, first.ranges, outputs, score, is_windowed, first.is_blank)

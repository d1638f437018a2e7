"""Join predictions: those of a row's windows, a reading's rows, a segment's readings, and of several models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from matese.model.decoding import Decoding
from matese.model.heads.head import Combine, Head
from matese.model.model_input import ModelInput, Row
from matese.model.prediction import Outputs, Prediction, WindowOutput
from matese.model.texts.encoding import Encoding


def of_windows(heads: Sequence[Head], windows: Mapping[Row, Sequence[WindowOutput]]) -> dict[Row, Prediction]:
    """Returns the prediction for each row of texts.

    Args:
        heads: the heads of the model.
        windows: the network's output for each window of each row.

    Raises:
        ModelError: if they contain NaN.
    """
    for head in heads:
        said = (output.outputs.get(head.output) for of_row in windows.values() for output in of_row)
        head.check([one for one in said if one is not None])
    return {row: _of_windows(heads, row, of_row) for row, of_row in windows.items()}


def _of_windows(heads: Sequence[Head], row: Row, windows: Sequence[WindowOutput]) -> Prediction:
    first = windows[0]
    if len(windows) == 1 and not first.encoding.is_cut:
        return Prediction(row.texts[0], first.encoding.ranges, first.outputs)
    whole = [window for window in windows if not window.encoding.is_piece]
    pieces = [window for window in windows if window.encoding.is_piece]
    parts = _covering(whole, pieces) if pieces else whole
    joint: list[object] = []
    for head in heads:
        said_of_parts = _said(head, parts)
        if said_of_parts:
            joint.append(head.join(row, said_of_parts, _said(head, whole)))
    ranges = np.concatenate([encoding.ranges[slice(*encoding.kept)] for encoding, _ in parts])
    is_windowed = any(encoding.is_cut for encoding, _ in windows)
    return Prediction(row.texts[0], ranges, Outputs.of(joint), is_windowed=is_windowed, n_pieces=max(1, len(pieces)))


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
        own = np.setdiff1d(_kept(encoding), covered)
        for run in np.split(own, np.flatnonzero(np.diff(own) > 1) + 1):
            if len(run):
                kept = (int(run[0]) - encoding.start, int(run[-1]) + 1 - encoding.start)
                parts.append(WindowOutput(encoding._replace(kept=kept), outputs))
    return sorted(parts, key=lambda part: part.encoding.start + part.encoding.kept[0])


def _kept(encoding: Encoding) -> range:
    """Returns the tokens of the hypothesis whose predictions are used."""
    start, end = encoding.kept
    return range(encoding.start + start, encoding.start + end)


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
    said = [rows[0].outputs for rows in readings]
    for head in heads:
        joined = head.over_rows(readings, said, decoding=decoding, combine=combine)
        if joined is not None:
            said = [outputs.changed(output) for outputs, output in zip(said, joined, strict=True)]
    return [
        rows[0] if len(rows) == 1 and outputs is rows[0].outputs else _joint(rows, outputs)
        for rows, outputs in zip(readings, said, strict=True)
    ]


def of_readings(heads: Sequence[Head], model_input: ModelInput, predictions: Sequence[Prediction]) -> Prediction:
    """Returns the prediction for a segment from those for its readings, without a score."""
    if len(predictions) == 1:
        return predictions[0]
    outputs = Outputs.of(
        head.over_readings(model_input, [prediction.outputs.get(head.output) for prediction in predictions])
        for head in heads
    )
    return _joint(predictions, outputs)


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
    is_windowed = any(prediction.is_windowed for prediction in predictions)
    return predictions[0]._replace(outputs=outputs, score=score, is_windowed=is_windowed)

"""Vectors of rows, for heads that read one vector a row: an embedding of a text, or a score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from matese.model.config import ModelConfig
from matese.model.heads.head import Combine
from matese.model.prediction import FloatArray, Prediction
from matese.model.texts.encoding import Encoding


def joined(windows: Sequence[tuple[Encoding, FloatArray]]) -> FloatArray:
    """Returns the mean of the windows' vectors, weighted by the number of kept tokens: (n,), float32."""
    if len(windows) == 1:
        return windows[0][1]
    shares = np.array([encoding.kept[1] - encoding.kept[0] for encoding, _ in windows], np.float64)
    vectors = np.stack([vector for _, vector in windows])  # (windows, n)
    mean: FloatArray = (vectors * (shares / shares.sum())[:, None]).sum(0).astype(np.float32)
    return mean


def scores(
    name: str, readings: Sequence[Sequence[Prediction]], config: ModelConfig, combine: Combine | None
) -> list[float]:
    """Returns the score of each reading from the embeddings of its texts, which were read alone.

    Args:
        name: of the head whose outputs are the embeddings.
        readings: the predictions for the texts of each reading: the hypothesis, then the others.
        config: settings of the model, which reads one kind of input.
        combine: scores embeddings with the network.
    """
    assert combine is not None
    roles = ("hypothesis", *config.inputs[0].split("+"))
    columns = zip(*readings, strict=True)
    texts = {
        role: np.stack([text.outputs[name] for text in column]) for role, column in zip(roles, columns, strict=True)
    }
    found: list[float] = combine(texts).tolist()
    return found

"""Vectors of rows, for heads that read one vector a row: an embedding of a text, or a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from matese.model.arrays import Floats
from matese.model.heads.head import Combine
from matese.model.prediction import Prediction
from matese.model.texts.encoding import Encoding, InputKind


@dataclass(frozen=True, slots=True)
class RowVector:
    """What such a head says of a row.

    Attributes:
        values: (1,), a score; or (width,), the embedding of a text that is read alone.
    """

    values: Floats


def joined(windows: Sequence[tuple[Encoding, RowVector]]) -> RowVector:
    """Returns the mean of the windows' vectors, weighted by the number of kept tokens, in float32."""
    if len(windows) == 1:
        return windows[0][1]
    shares = np.array([encoding.kept[1] - encoding.kept[0] for encoding, _ in windows], np.float64)
    vectors = np.stack([vector.values for _, vector in windows])  # (windows, n)
    return RowVector((vectors * (shares / shares.sum())[:, None]).sum(0).astype(np.float32))


def scores(readings: Sequence[Sequence[Prediction]], inputs: InputKind, combine: Combine | None) -> list[float]:
    """Returns the score of each reading from the embeddings of its texts, which were read alone.

    Args:
        readings: the predictions for the texts of each reading: the hypothesis, then the others.
        inputs: the kind of input that the model reads.
        combine: scores embeddings with the network.
    """
    assert combine is not None
    roles = ("hypothesis", *inputs.split("+"))
    columns = zip(*readings, strict=True)
    texts = {
        role: np.stack([text.outputs[RowVector].values for text in column])
        for role, column in zip(roles, columns, strict=True)
    }
    found: list[float] = combine(texts).tolist()
    return found

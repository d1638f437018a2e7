"""Vectors of the rows of a batch, for heads that read one vector a row; `embeddings` has what becomes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from matese.model.heads.embeddings import RowVector
from matese.model.heads.networks import HeadOutput
from matese.model.texts.encoding import Encoding


@dataclass(frozen=True, slots=True)
class RowVectors(HeadOutput):
    """What such a head says.

    Attributes:
        values: (batch, 1), the score of each row; or (batch, width), the embedding of a text that is read alone.
    """

    values: Tensor

    def rows(self, encodings: Sequence[Encoding]) -> Sequence[RowVector]:
        """Returns the vector of each row."""
        return [RowVector(vector) for vector in self.values.cpu().numpy()]

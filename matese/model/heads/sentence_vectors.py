"""The mean states of sentences, by which a long text is aligned with its source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor
from torch.nn import functional

from matese.model.encoder.pooling import in_full
from matese.model.heads.networks import HeadOutput
from matese.model.states import BatchStates
from matese.model.texts.encoding import Encoding
from matese.model.texts.pieces import SentenceStates


@dataclass(frozen=True, slots=True)
class SentenceVectors(HeadOutput):
    """What a network says of sentences.

    Attributes:
        values: (batch, most sentences of a row, width), float32 even under autocast.
    """

    values: Tensor

    @classmethod
    def of(cls, states: BatchStates) -> SentenceVectors | None:
        """Returns the vectors of a batch; None if no row has sentences."""
        numbers = states.batch.sentences
        if numbers is None:
            return None
        is_inside = functional.one_hot(numbers)[..., 1:].transpose(1, 2).float()  # (batch, sentences, tokens)
        shares = is_inside / is_inside.sum(-1, keepdim=True).clamp(min=1)
        with in_full(shares):
            return cls(shares @ states.encoded.float())

    def rows(self, encodings: Sequence[Encoding]) -> list[SentenceStates | None]:
        """Returns the vectors of each row; None for a row without sentences."""
        return [
            None if row.sentences is None else SentenceStates(vectors[: len(row.sentences)])
            for row, vectors in zip(encodings, self.values.cpu().numpy(), strict=True)
        ]

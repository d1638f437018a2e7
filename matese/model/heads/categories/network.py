"""The layers that predict the category of an error."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from matese.model.config import ModelConfig
from matese.model.encoder import pooling
from matese.model.heads.networks import HeadNetwork, Outputs, in_sequence
from matese.model.prediction import FloatArray
from matese.model.states import States
from matese.model.texts.encoding import Encoding
from matese.mqm import CATEGORIES


class CategoryHead(nn.Sequential, HeadNetwork):
    """Says "categories": (batch, hypothesis tokens, categories), logits given that the token is in an error.

    It reads the states of the last extra layer and of the encoder, and the embeddings. The last states encode where
    errors are; the earlier ones keep more about the words themselves.
    """

    @classmethod
    def of(cls, config: ModelConfig, width: int, inner: int | None) -> CategoryHead:
        """Returns the head with random weights."""
        return cls(nn.Linear(3 * width, width), nn.GELU(), nn.Linear(width, len(CATEGORIES)))

    def forward(self, states: States, outputs: Outputs) -> Outputs:  # type: ignore[override]  # not of tensors
        """Returns the logits."""
        with pooling.in_full(states.final):
            encoded = states.dropout(pooling.of_hypothesis(states.encoded, states.batch.positions))
            read = [states.hypothesis.float(), encoded.float(), states.embeddings.float()]
            return {"categories": in_sequence(self, torch.cat(read, -1))}

    @staticmethod
    def rows(output: Tensor, encodings: Sequence[Encoding]) -> Sequence[FloatArray]:
        """Returns the logits of each row."""
        logits = output.cpu().numpy()
        return [logits[row, : len(encoding.ranges)] for row, encoding in enumerate(encodings)]

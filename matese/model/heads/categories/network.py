"""The layers that predict the category of an error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from matese.model.config import ModelConfig
from matese.model.encoder import pooling
from matese.model.heads.categories.decoding import CategoryScores
from matese.model.heads.networks import HeadNetwork, HeadOutput, in_sequence
from matese.model.states import BatchStates
from matese.model.texts.encoding import Encoding
from matese.mqm import CATEGORIES


@dataclass(frozen=True, slots=True)
class CategoryLogits(HeadOutput):
    """What the head says.

    Attributes:
        logits: (batch, hypothesis tokens, categories), float32, given that the token is in an error.
    """

    logits: Tensor

    def rows(self, encodings: Sequence[Encoding]) -> Sequence[CategoryScores]:
        """Returns the logits of each row."""
        logits = self.logits.cpu().numpy()
        return [CategoryScores(logits[row, : len(encoding.ranges)]) for row, encoding in enumerate(encodings)]


class CategoryHead(nn.Sequential, HeadNetwork):
    """Says the main category of each token, given that it is in an error.

    It reads the states of the last extra layer and of the encoder, and the embeddings. The last states encode where
    errors are; the earlier ones keep more about the words themselves. All are detached, so that what the head learns
    changes neither marks nor scores.
    """

    is_detached = True

    @classmethod
    def of(cls, config: ModelConfig, width: int, inner: int | None) -> CategoryHead:
        """Returns the head with random weights."""
        return cls(nn.Linear(3 * width, width), nn.GELU(), nn.Linear(width, len(CATEGORIES)))

    def forward(self, states: BatchStates) -> CategoryLogits:
        """Returns the logits."""
        with pooling.in_full(states.final):
            encoded = states.dropout(pooling.of_hypothesis(states.encoded, states.batch.positions))
            read = [states.hypothesis.float(), encoded.float(), states.embeddings.float()]
            return CategoryLogits(in_sequence(self, torch.cat(read, -1).detach()))

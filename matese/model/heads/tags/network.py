"""The layer that predicts the tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from matese.model.config import ModelConfig
from matese.model.encoder.pooling import in_full
from matese.model.heads.networks import HeadNetwork, HeadOutput
from matese.model.heads.tags.bio import TAGS
from matese.model.prediction import TagProbabilities
from matese.model.states import BatchStates
from matese.model.texts.encoding import Encoding


@dataclass(frozen=True, slots=True)
class TagLogits(HeadOutput):
    """What the head says.

    Attributes:
        logits: (batch, hypothesis tokens, tags), float32.
    """

    logits: Tensor

    def rows(self, encodings: Sequence[Encoding]) -> Sequence[TagProbabilities]:
        """Returns the log-probabilities of each row."""
        logs = torch.log_softmax(self.logits.cpu().double(), -1).numpy()
        return [TagProbabilities(logs[row, : len(encoding.ranges)]) for row, encoding in enumerate(encodings)]


class TagHead(nn.Linear, HeadNetwork):
    """Says the logits of the tags."""

    @classmethod
    def of(cls, config: ModelConfig, width: int, inner: int | None) -> TagHead:
        """Returns the head with random weights."""
        return cls(width, len(TAGS))

    def forward(self, states: BatchStates) -> TagLogits:  # type: ignore[override]  # not of tensors
        """Returns the logits."""
        with in_full(states.hypothesis):
            return TagLogits(nn.Linear.forward(self, states.hypothesis.float()))

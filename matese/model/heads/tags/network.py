"""The layer that predicts the tags."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from matese.model.config import ModelConfig
from matese.model.encoder.pooling import in_full
from matese.model.heads.networks import HeadNetwork, Outputs
from matese.model.heads.tags.bio import TAGS
from matese.model.prediction import FloatArray
from matese.model.states import States
from matese.model.texts.encoding import Encoding


class TagHead(nn.Linear, HeadNetwork):
    """Says "tags": (batch, hypothesis tokens, tags), logits."""

    @classmethod
    def of(cls, config: ModelConfig, width: int, inner: int | None) -> TagHead:
        """Returns the head with random weights."""
        return cls(width, len(TAGS))

    def forward(self, states: States, outputs: Outputs) -> Outputs:  # type: ignore[override]  # not of tensors
        """Returns the logits."""
        with in_full(states.hypothesis):
            return {"tags": nn.Linear.forward(self, states.hypothesis.float())}

    @staticmethod
    def rows(output: Tensor, encodings: Sequence[Encoding]) -> Sequence[FloatArray]:
        """Returns the log-probabilities of each row."""
        log_probabilities = torch.log_softmax(output.cpu().double(), -1).numpy()
        return [log_probabilities[row, : len(encoding.ranges)] for row, encoding in enumerate(encodings)]

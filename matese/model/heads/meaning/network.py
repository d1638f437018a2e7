"""The layers that find errors of meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from matese.model.config import ModelConfig
from matese.model.encoder import pooling
from matese.model.encoder.extra_layer import ExtraLayer
from matese.model.heads.meaning.decoding import MeaningLogits
from matese.model.heads.networks import HeadNetwork, HeadOutput
from matese.model.states import BatchStates
from matese.model.texts.encoding import Encoding


@dataclass(frozen=True, slots=True)
class MeaningTensors(HeadOutput):
    """What the head says.

    Attributes:
        token_logits: (batch, hypothesis tokens), float32, that a token belongs to an error of meaning.
        segment_logits: (batch,), float32, that the segment has an error of meaning.
    """

    token_logits: Tensor
    segment_logits: Tensor

    def rows(self, encodings: Sequence[Encoding]) -> Sequence[MeaningLogits]:
        """Returns the logits of each row."""
        tokens = self.token_logits.cpu().numpy()
        segments = self.segment_logits.tolist()
        return [
            MeaningLogits(segments[row], tokens[row, : len(encoding.ranges)]) for row, encoding in enumerate(encodings)
        ]


class MeaningHead(HeadNetwork):
    """Says whether the hypothesis says something else than the other texts.

    It has a transformer layer of its own on the encoder, and learns from contrasts only: texts with the same meaning in
    other words, and close texts with an error of meaning.
    """

    @classmethod
    def of(cls, config: ModelConfig, width: int, inner: int | None) -> MeaningHead:
        """Returns the head with random weights."""
        return cls(width, config.layers.extra_heads, config.layers.dropout, inner)

    def __init__(self, width: int, n_heads: int, dropout: float, inner: int | None = None) -> None:
        """Initialises the weights at random; see `ExtraLayer` for the arguments."""
        super().__init__()
        self.layer = ExtraLayer(width, n_heads, dropout, inner)
        self.tokens = nn.Linear(width, 1)
        nn.init.constant_(self.tokens.bias, -2.0)
        self.segment = nn.Sequential(nn.Linear(4 * width, width), nn.GELU(), nn.Dropout(dropout), nn.Linear(width, 1))

    def forward(self, states: BatchStates) -> MeaningTensors:
        """Returns the logits."""
        batch = states.batch
        read = self.layer(states.encoded, batch.mask)
        hypothesis = pooling.of_hypothesis(read, batch.positions)
        with pooling.in_full(read):
            hypothesis = hypothesis.float()
            read = read.float()
            is_context = batch.roles > 1
            pooled = [
                pooling.mean(hypothesis, batch.hypothesis_mask),
                pooling.mean(read, is_context),
                pooling.largest(hypothesis, batch.hypothesis_mask),
                pooling.largest(read, is_context),
            ]
            of_tokens = self.tokens(hypothesis).squeeze(-1)
            return MeaningTensors(of_tokens, self.segment(torch.cat(pooled, 1)).squeeze(-1))

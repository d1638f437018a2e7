"""The layers that predict the expected score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from matese.model.config import ModelConfig
from matese.model.encoder import pooling
from matese.model.heads.networks import HeadNetwork, HeadOutput, in_sequence
from matese.model.heads.score.decoding import ExpectedScore
from matese.model.heads.score.settings import CONTEXTS, ScoreSettings
from matese.model.states import BatchStates
from matese.model.texts.encoding import Encoding
from matese.mqm import LOWEST_SCORE


@dataclass(frozen=True, slots=True)
class ScoreTensor(HeadOutput):
    """What the head says.

    Attributes:
        values: (batch,), float32, between LOWEST_SCORE and 0.
    """

    values: Tensor

    def rows(self, encodings: Sequence[Encoding]) -> Sequence[ExpectedScore]:
        """Returns the score of each row."""
        return [ExpectedScore(value) for value in self.values.tolist()]


class ScoreHead(nn.Sequential, HeadNetwork):
    """Says the expected score."""

    @classmethod
    def of(cls, config: ModelConfig, width: int, inner: int | None) -> ScoreHead:
        """Returns the head with random weights; it starts near the typical score, a few points below 0."""
        n_pooled = 1 + len(CONTEXTS[_settings(config).pooling])
        last = nn.Linear(width, 1)
        nn.init.constant_(last.bias, -2.0)
        return cls(nn.Linear(n_pooled * width, width), nn.GELU(), nn.Dropout(config.layers.dropout), last)

    def forward(self, states: BatchStates) -> ScoreTensor:
        """Returns the score."""
        batch = states.batch
        roles = CONTEXTS[_settings(states.config).pooling]
        contexts = [pooling.mean(states.final, batch.roles > role) for role in roles]
        with pooling.in_full(states.final):
            pooled = pooling.mean(states.hypothesis.float(), batch.hypothesis_mask)
            pooled = torch.cat([pooled, *(context.float() for context in contexts)], 1)
            logit = in_sequence(self, pooled).squeeze(-1)
            similarity = states.similarity
            logit = logit if similarity is None else logit + similarity.float()
            return ScoreTensor(LOWEST_SCORE * torch.sigmoid(logit))


def _settings(config: ModelConfig) -> ScoreSettings:
    assert config.heads.score is not None
    return config.heads.score

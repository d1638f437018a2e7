"""The layers of PEAR, whose score changes its sign if the two translations change places in the head."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from matese.model.config import ModelConfig
from matese.model.encoder import pooling
from matese.model.heads.networks import HeadNetwork
from matese.model.heads.quality.network import RowVectors, feed_forward
from matese.model.states import BatchStates
from matese.model.texts.encoding import ROLES

_SMALLEST = 1e-6
"""`pear/models/pairwise/pairwise_metric.py` of pear-mt 1.1.1, like all else here."""


class PreferenceHead(HeadNetwork):
    """Says how much better the second text of a row is than the third, beside the first, the source."""

    @classmethod
    def of(cls, config: ModelConfig, width: int, inner: int | None) -> PreferenceHead:
        """Returns the head with random weights."""
        return cls(width, config)

    def __init__(self, width: int, config: ModelConfig) -> None:
        """Initialises the weights at random; the scale at 1."""
        super().__init__()
        settings = config.heads.preference
        assert settings is not None
        self.projection = nn.Sequential(nn.Linear(3 * width, width), nn.GELU(), nn.LayerNorm(width))
        layers = feed_forward(width, settings.hidden_sizes, settings.activation, settings.final_activation)
        self.layers = nn.Sequential(*layers)
        self.scale = nn.Parameter(torch.tensor(math.log(math.expm1(1.0))))  # softplus makes 1 of it

    def forward(self, states: BatchStates) -> RowVectors:
        """Returns the scores."""
        # A row is read as its first text beside two others, which here is the source.
        with pooling.in_full(states.final):
            source, hypothesis, other = (_mean(states, role) for role in ("hypothesis", "source", "reference"))
            difference = self._value(hypothesis, source) - self._value(other, source)  # (batch, 1)
            return RowVectors((functional.softplus(self.scale) + _SMALLEST) * difference)

    def _value(self, text: Tensor, source: Tensor) -> Tensor:
        features = torch.cat([text, text * source, (text - source).abs()], 1)
        value: Tensor = self.layers(self.projection(features))
        return value


def _mean(states: BatchStates, role: str) -> Tensor:
    """Returns the mean state of the tokens of a text, (batch, width); zeros for a text without tokens."""
    is_of_text = (states.batch.roles == ROLES.index(role)).unsqueeze(2)  # (batch, tokens, 1)
    return (states.final.float() * is_of_text).sum(1) / is_of_text.sum(1).clamp(min=1)

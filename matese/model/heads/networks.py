"""The interface of a head's layers in torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from matese.model.config import RegressionConfig, TaggerConfig
from matese.model.inputs import Inputs
from matese.model.texts.encoding import Encoding

Outputs = Mapping[str, Any]
"""What heads say of a batch, by their names."""


@dataclass(frozen=True, slots=True)
class States:
    """What the heads read of a batch.

    Attributes:
        batch: the input.
        config: settings of the model.
        encoded: (batch, tokens, width), states of the encoder.
        final: (batch, tokens, width), states of the last extra layer.
        hypothesis: (batch, hypothesis tokens, width), those of the hypothesis, after dropout.
        similarity: (batch,), term that the texts' similarity adds to the logit of the score; None without one.
        dropout: of states that heads read.
        embed: returns the embeddings of the hypothesis' tokens: (batch, hypothesis tokens, width).
    """

    batch: Inputs
    config: TaggerConfig
    encoded: Tensor
    final: Tensor
    hypothesis: Tensor
    similarity: Tensor | None
    dropout: nn.Module
    embed: Callable[[], Tensor]


@dataclass(frozen=True, slots=True)
class PooledStates:
    """What the heads of a model of the COMET family read of a batch.

    Attributes:
        batch: the input.
        config: settings of the model.
        layers: (batch, tokens, width) each, states of the embeddings and of each layer of the encoder.
        pooled: (batch, width), float32, embedding of each row.
    """

    batch: Inputs
    config: RegressionConfig
    layers: Sequence[Tensor]
    pooled: Tensor


class HeadNetwork(nn.Module):
    """The layers of a head. A subclass may also be one of torch's modules, whose names its tensors then have."""

    @classmethod
    def of(cls, config: Any, width: int, inner: int | None) -> HeadNetwork:  # noqa: ANN401  (of its kind of model)
        """Returns the head with random weights.

        Args:
            config: settings of the model.
            width: of the states.
            inner: inner width of transformer layers; None for four times the outer.
        """
        raise NotImplementedError

    def forward(self, states: States, outputs: Outputs) -> Outputs:
        """Returns the outputs that the head adds or replaces, in float32 even under autocast.

        Args:
            states: what the head reads.
            outputs: what the heads before say.
        """
        raise NotImplementedError

    def combine(self, texts: Mapping[str, Tensor]) -> Tensor:
        """Returns the score of each reading, (readings,), from embeddings of its texts, which were read alone.

        Args:
            texts: embeddings by role, such as "hypothesis": (readings, width) each.
        """
        raise NotImplementedError

    @staticmethod
    def rows(output: Any, encodings: Sequence[Encoding]) -> Sequence[Any]:  # noqa: ANN401  (the head's own)
        """Returns the output for each row of a batch, without padding, in numpy; None for a row without any."""
        raise NotImplementedError


def in_sequence(layers: nn.Sequential, states: Tensor) -> Tensor:
    """Returns what the layers make of states, for a head that is a sequence but reads `States`."""
    for layer in layers:
        states = layer(states)
    return states

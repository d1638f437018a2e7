"""The interface of a head's layers in torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from matese.model.config import TaggerConfig
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


class HeadNetwork(nn.Module):
    """The layers of a head. A subclass may also be one of torch's modules, whose names its tensors then have."""

    @classmethod
    def of(cls, config: TaggerConfig, width: int, inner: int | None) -> HeadNetwork:
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

    @staticmethod
    def rows(output: Any, encodings: Sequence[Encoding]) -> Sequence[Any]:  # noqa: ANN401  (the head's own)
        """Returns the output for each row of a batch, without padding, in numpy; None for a row without any."""
        raise NotImplementedError


def in_sequence(layers: nn.Sequential, states: Tensor) -> Tensor:
    """Returns what the layers make of states, for a head that is a sequence but reads `States`."""
    for layer in layers:
        states = layer(states)
    return states

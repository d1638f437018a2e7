"""The interface of a head's layers in torch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from matese.model.config import ModelConfig
from matese.model.states import States
from matese.model.texts.encoding import Encoding

Outputs = Mapping[str, Any]
"""What heads say of a batch, by their names."""


class HeadNetwork(nn.Module, ABC):
    """The layers of a head. A subclass may also be one of torch's modules, whose names its tensors then have."""

    @classmethod
    @abstractmethod
    def of(cls, config: ModelConfig, width: int, inner: int | None) -> HeadNetwork:
        """Returns the head with random weights.

        Args:
            config: settings of the model.
            width: of the states.
            inner: inner width of transformer layers; None for four times the outer.
        """

    @abstractmethod
    def forward(self, states: States, outputs: Outputs) -> Outputs:
        """Returns the outputs that the head adds or replaces, in float32 even under autocast.

        Args:
            states: what the head reads.
            outputs: what the heads before say.
        """

    def combine(self, texts: Mapping[str, Tensor]) -> Tensor:
        """Returns the score of each reading, (readings,), from embeddings of its texts, which were read alone.

        Args:
            texts: embeddings by role, such as "hypothesis": (readings, width) each.
        """
        raise NotImplementedError

    def activations(self) -> Sequence[nn.Module]:
        """Returns the modules that dropout follows in training without a layer of its own; none by default."""
        return ()

    @staticmethod
    @abstractmethod
    def rows(output: Any, encodings: Sequence[Encoding]) -> Sequence[Any]:  # noqa: ANN401  (the head's own)
        """Returns the output for each row of a batch, without padding, in numpy; None for a row without any."""


def in_sequence(layers: nn.Sequential, states: Tensor) -> Tensor:
    """Returns what the layers make of states, for a head that is a sequence but reads `States`."""
    for layer in layers:
        states = layer(states)
    return states

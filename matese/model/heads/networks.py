"""The interface of a head's layers in torch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from matese.model.config import ModelConfig
from matese.model.prediction import Outputs, WindowOutput
from matese.model.states import BatchStates
from matese.model.texts.encoding import Encoding


class HeadOutput(ABC):
    """What a head says of a batch. Each head has its own type, a dataclass of tensors."""

    __slots__ = ()

    @abstractmethod
    def rows(self, encodings: Sequence[Encoding]) -> Sequence[object]:
        """Returns what the head says of each row of the batch, without padding, in numpy; None for nothing."""


@dataclass(frozen=True, slots=True)
class NetworkOutput(Outputs):
    """Output of any network for a batch: a `HeadOutput` of each head."""

    def windows(self, encodings: Sequence[Encoding]) -> Iterator[WindowOutput]:
        """Yields the output of each row of the batch, without padding."""
        columns = [head.rows(encodings) for head in self.by_type.values()]
        for encoding, *said in zip(encodings, *columns, strict=True):
            yield WindowOutput(encoding, Outputs.of(said))


class HeadNetwork(nn.Module, ABC):
    """The layers of a head. A subclass may also be one of torch's modules, whose names its tensors then have.

    Attributes:
        is_detached: whether the head reads detached states, so that what it learns changes nothing else.
    """

    is_detached: ClassVar[bool] = False

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
    def forward(self, states: BatchStates) -> HeadOutput:
        """Returns what the head says, in float32 even under autocast."""

    def combine(self, texts: Mapping[str, Tensor]) -> Tensor:
        """Returns the score of each reading, (readings,), from embeddings of its texts, which were read alone.

        Args:
            texts: embeddings by role, such as "hypothesis": (readings, width) each.
        """
        raise NotImplementedError

    def activations(self) -> Sequence[nn.Module]:
        """Returns the modules that dropout follows in training without a layer of its own; none by default."""
        return ()


def in_sequence(layers: nn.Sequential, states: Tensor) -> Tensor:
    """Returns what the layers make of states, for a head that is a sequence but reads `BatchStates`."""
    for layer in layers:
        states = layer(states)
    return states

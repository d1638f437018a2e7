"""The interface of what a validation measures."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

from matese.model.network import Network
from matese.model.texts.encoding import InputKind
from matese.training.corpus import Corpus, Draw


class DevMetrics(ABC):
    """Computes the figures of the dev data for one kind of input.

    Attributes:
        corpus: the dev data.
        inputs: the kind of input.
    """

    def __init__(self, corpus: Corpus, inputs: InputKind) -> None:
        self.corpus = corpus
        self.inputs = inputs
        self._segments: list[Any] = []

    @abstractmethod
    def measure(self, network: Network, draws: Sequence[Draw]) -> Iterable[object]:
        """Yields what is needed of each segment for the figures."""

    @abstractmethod
    def figures(self, segments: Sequence[Any]) -> Mapping[str, float]:
        """Returns the figures by name from what `measure` yielded, NaN where they are undefined."""

    def update(self, network: Network, draws: Sequence[Draw]) -> None:
        """Adds a batch of segments."""
        self._segments += self.measure(network, draws)

    def compute(self) -> dict[str, float]:
        """Returns the figures over all devices, without undefined ones, and resets them."""
        segments = self._segments
        self._segments = []
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            of_devices: list[Any] = [None] * torch.distributed.get_world_size()
            torch.distributed.all_gather_object(of_devices, segments)
            segments = list(itertools.chain.from_iterable(of_devices))
        return {name: value for name, value in self.figures(segments).items() if not math.isnan(value)}

"""The interface of what a validation measures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from torch import nn

from matese.model.network_output import NetworkOutput


class DevMetrics(nn.Module, ABC):
    """Computes the figures of the dev data for one kind of input."""

    @abstractmethod
    def update(self, batch: Any, output: NetworkOutput) -> None:  # noqa: ANN401  (of the subclass)
        """Adds a batch and the network's output for its `inputs`."""

    @abstractmethod
    def compute(self) -> dict[str, float]:
        """Returns the figures by name, without undefined ones, and resets them."""

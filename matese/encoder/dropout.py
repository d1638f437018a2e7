"""Monte Carlo dropout: a model's predictions with parts of it switched off, as samples of what it could have learned.

Gal and Ghahramani 2016 ("Dropout as a Bayesian Approximation"). A pass is one sample of the weights: it switches off
the same units for all tokens and texts. Its predictions therefore do not depend on batches, and those for two systems
are of the same network.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import torch
from torch import Tensor, nn

_MOST_DIMENSIONS = 3
"""(batch, tokens, width). A tensor with more of them holds attention weights, which keep all their entries."""


class Dropout:
    """Passes through a model in evaluation mode; outside of `passing`, the model is unchanged."""

    def __init__(self, module: nn.Module, p: float) -> None:
        """Prepares a model.

        Args:
            module: any model; see `sites`.
            p: share of the units that a pass switches off, between 0 and 1, exclusive.
        """
        self._p = p
        self._number: int | None = None
        self._masks: dict[tuple[int, int, int], Tensor] = {}
        self._lock = threading.RLock()
        for site, one in enumerate(sites(module)):
            one.register_forward_hook(self._hook(site))

    @contextmanager
    def passing(self, number: int) -> Iterator[None]:
        """Switches units off while the body runs: the same ones for the same number."""
        with self._lock:
            self._number = number
            try:
                yield
            finally:
                self._number = None

    def _hook(self, site: int) -> Any:  # noqa: ANN401  (the hook's signature is torch's)
        def drop(_module: nn.Module, _given: object, output: Tensor) -> Tensor | None:
            if self._number is None or output.ndim > _MOST_DIMENSIONS:
                return None
            return output * self._mask(self._number, site, output)

        return drop

    def _mask(self, number: int, site: int, output: Tensor) -> Tensor:
        """Returns the factor of each unit, (width,): 0, or what keeps the mean."""
        key = (number, site, output.shape[-1])
        if key not in self._masks:
            generator = torch.Generator().manual_seed(number * 100_003 + site)
            kept = torch.rand(output.shape[-1], generator=generator) >= self._p
            self._masks[key] = (kept / (1 - self._p)).to(output.device)
        return self._masks[key].to(output.dtype)


def sites(module: nn.Module) -> Iterator[nn.Module]:
    """Yields the parts whose output dropout applies to in training.

    These are the dropout layers of other libraries, and what our own models name in `dropout_sites`: they have no such
    layers, because they only predict.
    """
    for one in module.modules():
        if isinstance(one, nn.Dropout):
            yield one
        elif hasattr(one, "dropout_sites"):
            yield from cast(Any, one).dropout_sites()

"""Monte Carlo dropout: predictions with random units of the model switched off, as samples of its uncertainty.

Gal and Ghahramani 2016 ("Dropout as a Bayesian Approximation"). A pass is one sample of the weights: it switches off
the same units for all tokens and texts. Its predictions therefore do not depend on the batches, and predictions for two
systems come from the same network.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import torch
from torch import Tensor, nn

_MOST_DIMENSIONS = 3
"""Dimensions of states, (batch, tokens, width). A tensor with more dimensions holds attention weights: no dropout."""


class Dropout:
    """Applies dropout to a model in evaluation mode; outside `passing`, the model is unchanged."""

    def __init__(self, module: nn.Module, p: float) -> None:
        """Prepares a model, see `sites`; a pass switches off the share `p` of the units, between 0 and 1."""
        self._p = p
        self._number: int | None = None
        self._masks: dict[tuple[int, int, int], Tensor] = {}
        self._lock = threading.RLock()
        for site, part in enumerate(sites(module)):
            part.register_forward_hook(self._hook(site))

    @contextmanager
    def passing(self, number: int) -> Iterator[None]:
        """Switches units off while the body runs, always the same units for the same number."""
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
        """Returns the factor of each unit, (width,): 0, or the factor that preserves the mean."""
        key = (number, site, output.shape[-1])
        if key not in self._masks:
            generator = torch.Generator().manual_seed(number * 100_003 + site)
            kept = torch.rand(output.shape[-1], generator=generator) >= self._p
            self._masks[key] = (kept / (1 - self._p)).to(output.device)
        return self._masks[key].to(output.dtype)


def sites(module: nn.Module) -> Iterator[nn.Module]:
    """Yields the modules to whose output dropout applies in training.

    These are the dropout layers of other libraries, and the modules in `dropout_sites` of our models, which have no
    dropout layers because they only predict.
    """
    for part in module.modules():
        if isinstance(part, nn.Dropout):
            yield part
        elif hasattr(part, "dropout_sites"):
            yield from cast(Any, part).dropout_sites()

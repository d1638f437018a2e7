"""The mean of the weights of the last steps, which becomes the model (Izmailov et al. 2018, arXiv 1803.05407)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback
from torch import Tensor, nn

EVERY = 5
"""Optimizer steps between two weights that count, which hardly differ from step to step; the last step counts."""


class WeightAverage(Callback):
    """Keeps the mean of a network's trained weights over the last steps, in float32, and validates and saves it.

    During a validation, and until the state is saved after it, the network has the mean in place of its own weights.

    Attributes:
        n_steps: optimizer steps of the whole training, which is not known before the trainer is.
    """

    def __init__(self, network: nn.Module, *, share: float) -> None:
        """Creates the callback.

        Args:
            network: the network that is trained.
            share: share of the steps, at the end, that count; 0 to leave all as it is.
        """
        self._network = network
        self._share = share
        self.n_steps = 0
        self._n = 0
        self._counted_step = 0
        self._means: dict[str, Tensor] = {}
        self._own: dict[str, Tensor] = {}

    def state_dict(self) -> dict[str, Any]:
        """Returns the mean so far, of how many weights it is, and the last step that counted."""
        return {"n": self._n, "step": self._counted_step, "means": self._means}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Restores the callback from a state."""
        self._n = state_dict["n"]
        self._counted_step = state_dict["step"]
        self._means = dict(state_dict["means"])

    def on_train_batch_end(self, trainer: pl.Trainer, *_: object) -> None:
        """Adds the weights to the mean after an optimizer step that counts."""
        step = trainer.global_step
        first = self.n_steps * (1 - self._share)
        if step <= first or (self.n_steps - step) % EVERY or step == self._counted_step:
            return
        self._counted_step = step
        self._n += 1
        weights = self._trained()
        with torch.no_grad():
            if self._n == 1:
                self._means = {name: tensor.detach().float().clone() for name, tensor in weights.items()}
                return
            means = [self._means[name].to(tensor.device) for name, tensor in weights.items()]
            torch._foreach_lerp_(means, [tensor.float() for tensor in weights.values()], 1 / self._n)
            self._means = dict(zip(weights, means, strict=True))

    def on_validation_start(self, *_: object) -> None:
        """Puts the mean in place of the weights."""
        weights = self._trained() if self._n else {}
        self._own = {name: tensor.detach().clone() for name, tensor in weights.items()}
        self._set(self._means)

    def on_train_epoch_end(self, *_: object) -> None:
        """Puts the weights back, before the state is saved."""
        self._set(self._own)
        self._own = {}

    def _trained(self) -> dict[str, nn.Parameter]:
        return {name: tensor for name, tensor in self._network.named_parameters() if tensor.requires_grad}

    def _set(self, values: Mapping[str, Tensor]) -> None:
        parameters = dict(self._network.named_parameters())
        with torch.no_grad():
            for name, value in values.items():
                parameters[name].copy_(value)

"""Muon (Jordan et al. 2024) for the matrices of the layers, AdamW for all other parameters, as one optimizer.

Muon orthogonalises the update of a matrix, from which an encoder trained from scratch learns faster.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

from matese.errors import InputError


class Muon(torch.optim.Optimizer):
    """Trains matrices with `torch.optim.Muon` and everything else with AdamW."""

    def __init__(
        self, matrices: Iterable[Mapping[str, Any]], others: Iterable[Mapping[str, Any]], *, is_fused: bool
    ) -> None:
        """Raises an InputError if torch is too old.

        Args:
            matrices: parameter groups of Muon, of parameters with two dimensions; learning rates are as AdamW's.
            others: parameter groups of AdamW.
            is_fused: whether AdamW has a fused kernel for the device.
        """
        make: Any = getattr(torch.optim, "Muon", None)
        if make is None:
            raise InputError(f"training.muon_learning_rate: needs torch 2.9 or newer, this is {torch.__version__}")
        self._parts: tuple[torch.optim.Optimizer, ...] = (
            make([dict(group) for group in matrices], adjust_lr_fn="match_rms_adamw"),
            torch.optim.AdamW([dict(group) for group in others], betas=(0.9, 0.98), fused=is_fused),
        )
        super().__init__(self._groups(), {})
        self.param_groups = self._groups()

    def _groups(self) -> list[dict[str, Any]]:
        """Returns the groups of both optimizers, not copies, so that schedules change their learning rates."""
        return list(itertools.chain.from_iterable(part.param_groups for part in self._parts))

    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """Changes all parameters; returns the loss of the closure."""
        loss = None if closure is None else closure()
        for part in self._parts:
            part.step()
        return loss

    def state_dict(self) -> dict[str, Any]:
        """Returns the states of both optimizers."""
        return {"parts": [part.state_dict() for part in self._parts]}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Takes what `state_dict` returned."""
        for part, state in zip(self._parts, state_dict["parts"], strict=True):
            part.load_state_dict(state)
        self.param_groups = self._groups()

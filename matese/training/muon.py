"""Muon (Jordan et al. 2024) for the matrices of the layers, AdamW for all other parameters, as one optimizer.

Muon orthogonalises the update of a matrix, from which an encoder trained from scratch learns faster.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

from matese.encoder.hardware import choose_precision

_MOMENTUM = 0.95
_RMS = 0.2
"""Root mean square of an update at learning rate 1, about that of AdamW's (Liu et al. 2025), so that rates compare."""
_COEFFICIENTS = (3.4445, -4.7750, 2.0315)
"""Of the polynomial that five times brings all singular values near 1 (Jordan et al. 2024)."""


class Muon(torch.optim.Optimizer):
    """Trains matrices with Muon and everything else with AdamW."""

    def __init__(
        self, matrices: Iterable[Mapping[str, Any]], others: Iterable[Mapping[str, Any]], *, is_fused: bool
    ) -> None:
        """Makes both.

        Args:
            matrices: parameter groups of Muon, of parameters with two dimensions; learning rates are as AdamW's.
            others: parameter groups of AdamW.
            is_fused: whether AdamW has a fused kernel for the device.
        """
        self._parts = (
            _OfMatrices([dict(group) for group in matrices], {}),
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


class _OfMatrices(torch.optim.Optimizer):
    # Not `torch.optim.Muon`, which computes in bfloat16 on any hardware: minutes for a step where that is emulated.
    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for matrix in group["params"]:
                if matrix.grad is None:
                    continue
                state = self.state[matrix]
                if not state:
                    state["mean"] = torch.zeros_like(matrix)
                mean = state["mean"].lerp_(matrix.grad, 1 - _MOMENTUM)
                update = _orthogonalised(matrix.grad.lerp(mean, _MOMENTUM))
                matrix.mul_(1 - group["lr"] * group["weight_decay"])
                matrix.add_(update, alpha=-group["lr"] * _RMS * max(matrix.shape) ** 0.5)


def _orthogonalised(matrix: Tensor) -> Tensor:
    """Returns about U @ V.T, where U, S and V.T are the matrix's singular value decomposition (Newton-Schulz)."""
    linear, cubic, quintic = _COEFFICIENTS
    is_tall = matrix.shape[0] > matrix.shape[1]
    wide = matrix.T if is_tall else matrix
    wide = wide / wide.norm().clamp(min=1e-7)
    if choose_precision("auto", matrix.device) == "bf16":
        wide = wide.bfloat16()
    for _ in range(5):
        square = wide @ wide.T
        wide = torch.addmm(wide, torch.addmm(square, square, square, beta=cubic, alpha=quintic), wide, beta=linear)
    return wide.T if is_tall else wide

"""Pool the states of tokens: those of a text, or of a whole row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from matese.model.encoder.settings import Pooling

PoolFunction = Callable[[Tensor], Tensor]
"""From the states of rows, (batch, tokens, width), to something of each row, in float32."""


def mean(states: Tensor, mask: Tensor) -> Tensor:
    """Returns the mean over the masked-in tokens, 0 without any: (batch, width)."""
    kept = mask.unsqueeze(-1)
    return (states * kept).sum(1) / kept.sum(1).clamp(min=1)


def largest(states: Tensor, mask: Tensor) -> Tensor:
    """Returns the largest values over the masked-in tokens, 0 without any: (batch, width)."""
    if not states.shape[1]:  # no row has a token
        return states.sum(1)
    greatest = states.masked_fill(~mask.unsqueeze(-1), torch.finfo(states.dtype).min).amax(1)
    return greatest * mask.any(1, keepdim=True)


def of_hypothesis(states: Tensor, positions: Tensor) -> Tensor:
    """Returns the states of the hypothesis' tokens: (batch, hypothesis tokens, width).

    Args:
        states: (batch, tokens, width).
        positions: (batch, hypothesis tokens), their places.
    """
    return states.gather(1, positions.unsqueeze(-1).expand(-1, -1, states.shape[-1]))


def in_full(states: Tensor) -> torch.autocast:
    """Returns a context without autocast: heads are small, and rounding to bfloat16 changes a logit by up to 0.01."""
    return torch.autocast(states.device.type, enabled=False)


def _average(mask: Tensor) -> PoolFunction:
    weights = (mask / mask.sum(1, keepdim=True)).unsqueeze(1)  # (batch, 1, tokens)
    return lambda states: (weights @ states.float()).squeeze(1)


def _first(mask: Tensor) -> PoolFunction:
    return lambda states: states[:, 0].float()


def _maximum(mask: Tensor) -> PoolFunction:
    return lambda states: states.float().masked_fill(~mask.unsqueeze(-1), -torch.inf).amax(1)


class RowPooling(NamedTuple):
    """How the tokens of a row become one embedding.

    Attributes:
        of: returns the function from the mask, (batch, tokens).
        is_linear: whether the pooled sum of layers is the sum of the pooled layers.
    """

    of: Callable[[Tensor], PoolFunction]
    is_linear: bool


POOLINGS: Mapping[Pooling, RowPooling] = {
    "avg": RowPooling(_average, is_linear=True),
    "cls": RowPooling(_first, is_linear=True),
    "max": RowPooling(_maximum, is_linear=False),
}

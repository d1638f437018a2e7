"""How tensors are stored: as they are, in half the bits, or with large tables of embeddings in 8 bits; and put back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import torch
from torch import Tensor, nn

StoredPrecision = Literal["float32", "float16", "int8"]

SCALES = ".scales"
"""Behind the name of a table, the name of its scales."""
_LARGEST = 127
_TABLE_ROWS = 1024
"""Matrices with so many rows are tables of embeddings, of which each row is as large as it is by itself."""


def packed(tensors: Mapping[str, Tensor], precision: StoredPrecision) -> dict[str, Tensor]:
    """Returns tensors as they are stored.

    Args:
        tensors: by name, floating-point.
        precision: float32; float16; or int8, which is float16 save for tables of embeddings: of these each row is
            stored as whole numbers from -127 to 127 and one scale.
    """
    if precision != "int8":
        return {name: tensor.to(getattr(torch, precision)) for name, tensor in tensors.items()}
    stored = {}
    for name, tensor in tensors.items():
        if tensor.ndim != 2 or len(tensor) < _TABLE_ROWS:
            stored[name] = tensor.half()
            continue
        scales = tensor.float().abs().amax(1, keepdim=True).clamp(min=torch.finfo(torch.float32).tiny) / _LARGEST
        stored[name] = (tensor.float() / scales).round().to(torch.int8)
        stored[name + SCALES] = scales
    return stored


def unpacked(stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Returns stored tensors in float32, the reverse of `packed` as far as its precision goes."""
    tensors = {}
    for name, tensor in stored.items():
        if not (name.endswith(SCALES) and name.removesuffix(SCALES) in stored):
            scales = stored.get(name + SCALES)
            tensors[name] = tensor.float() if scales is None else tensor.float() * scales
    return tensors


def put(tensors: Mapping[str, Tensor], module: nn.Module) -> None:
    """Makes tensors those of a module, in place of its own and without a copy: they may be of a file that is mapped.

    Raises:
        ValueError: if one has another shape than what stands there.
    """
    own = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    for name, tensor in tensors.items():
        if own[name].shape != tensor.shape:
            raise ValueError(f"{name} is {tuple(tensor.shape)}: must be {tuple(own[name].shape)}")
        own[name].data = tensor.to(own[name].dtype)

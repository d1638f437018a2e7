"""Store tensors in model directories, in 32, 16, 8 or 4 bits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from torch import Tensor

StoredPrecision = Literal["float32", "float16", "int8"]

SCALES = ".scales"
"""Suffix that makes the name of the scales from the name of a tensor stored in 8 or 4 bits."""
BLOCK = 32
"""Number of adjacent values that share a scale in a tensor stored in 4 bits."""
_LARGEST_INT8 = 127
_LOWEST_INT4 = -8
_FEWEST = 2**15
"""Least number of values in a tensor that is stored in fewer than 16 bits."""


def pack(tensors: Mapping[str, Tensor], precision: StoredPrecision) -> dict[str, Tensor]:
    """Returns floating-point tensors by name as they are stored.

    int8 is float16 except for matrices, whose rows are stored as integers from -127 to 127 with one scale. A matrix
    that was released in 4 bits (blocks of 32 integers from -8 to 7 with one scale, the format Q4_0 of llama.cpp) is
    stored in 4 bits, without loss.
    """
    import torch

    if precision != "int8":
        return {name: tensor.to(getattr(torch, precision)) for name, tensor in tensors.items()}
    stored = {}
    for name, tensor in tensors.items():
        if tensor.ndim < 2 or tensor.numel() < _FEWEST:
            stored[name] = tensor.half()
        elif (blocks := _in_4_bits(tensor)) is not None:
            stored[name], stored[name + SCALES] = blocks
        else:
            tiny = torch.finfo(torch.float32).tiny
            scales = tensor.float().abs().amax(-1, keepdim=True).clamp(min=tiny) / _LARGEST_INT8
            stored[name] = (tensor.float() / scales).round().to(torch.int8)
            stored[name + SCALES] = scales
    return stored


def _in_4_bits(tensor: Tensor) -> tuple[Tensor, Tensor] | None:
    """Returns integers from -8 to 7, two per byte, and scales, (..., blocks); None if they would not be exact."""
    import torch

    if tensor.shape[-1] % BLOCK:
        return None
    blocks = tensor.float().reshape(*tensor.shape[:-1], -1, BLOCK)
    largest = blocks.gather(-1, blocks.abs().argmax(-1, keepdim=True))  # the number that is stored as -8
    scales = (largest / _LOWEST_INT4).half()
    steps = torch.where(scales == 0, 1, scales.float())
    numbers = (blocks / steps).round().clamp(_LOWEST_INT4, -_LOWEST_INT4 - 1)
    if not torch.equal((numbers * scales.float()).half(), blocks.half()):
        return None
    halves = (numbers - _LOWEST_INT4).to(torch.uint8).flatten(-2)
    return halves[..., ::2] + 16 * halves[..., 1::2], scales.squeeze(-1)


def unpack(stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Returns stored tensors in float32: the inverse of `pack`, up to its precision."""
    import torch

    tensors = {}
    for name, tensor in stored.items():
        if not (name.endswith(SCALES) and name.removesuffix(SCALES) in stored):
            scales = stored.get(name + SCALES)
            if scales is None:
                tensors[name] = tensor.float()
            elif tensor.dtype == torch.uint8:
                tensors[name] = torch.from_numpy(of_4_bits(tensor.numpy(), scales.numpy()))
            else:
                tensors[name] = tensor.float() * scales
    return tensors


def of_4_bits(halves: npt.NDArray[Any], scales: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Returns the numbers of a tensor that `pack` stores in 4 bits."""
    numbers = np.empty((*halves.shape, 2), np.float32)
    numbers[..., 0] = halves & 15
    numbers[..., 1] = halves >> 4
    numbers += _LOWEST_INT4
    blocks = numbers.reshape(*scales.shape, BLOCK)
    blocks *= scales.astype(np.float32)[..., None]
    return blocks.astype(np.float16).astype(np.float32).reshape(*halves.shape[:-1], 2 * halves.shape[-1])

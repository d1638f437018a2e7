"""Attention within the rows of a batch: rows padded to equal length, or packed one after the other."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn import functional

Attention = Callable[[Tensor, Tensor, Tensor], Tensor]
"""From queries, keys and values to attended values, all (..., tokens, heads, head width)."""

_LONG = 160
"""Tokens of a row from which on attention in float32 is quicker than plain products in bfloat16."""


def padding_mask(is_token: Tensor, dtype: torch.dtype) -> Tensor:
    """Returns the mask for `padded`, (batch, 1, 1, tokens): 0 for tokens, the lowest number of the type for padding.

    `is_token` is (batch, tokens).
    """
    lowest = torch.finfo(dtype).min
    return torch.zeros_like(is_token, dtype=dtype).masked_fill(is_token == 0, lowest)[:, None, None]


def padded(mask: Tensor, *, record: Callable[[Tensor, Tensor], None] | None = None) -> Attention:
    """Returns the attention of padded rows, fused by torch or, if it is recorded, as plain matrix products.

    The gradient of fused attention is slow on a CPU in other types than float32: there, training computes attention in
    float32 or, of short rows, as plain products (`python -m benchmarks.engines --parts`).

    The mask, (batch, 1, 1, tokens), is added to the products of queries and keys. What is recorded are the
    shares that a token reads of each token, (batch, heads, tokens, tokens), and the values, (batch, heads, tokens,
    width).
    """

    def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        query, key, value = (heads.transpose(1, 2) for heads in (query, key, value))  # (batch, heads, tokens, width)
        has_slow_gradient = query.requires_grad and query.device.type == "cpu" and query.dtype != torch.float32
        if record is not None or (has_slow_gradient and query.shape[2] < _LONG):
            shares = (query @ key.transpose(2, 3) * query.shape[-1] ** -0.5 + mask).softmax(-1)
            if record is not None:
                record(shares, value)
            attended: Tensor = shares @ value
        elif has_slow_gradient:
            with torch.autocast("cpu", enabled=False):
                attended = functional.scaled_dot_product_attention(
                    query.float(), key.float(), value.float(), mask.float()
                ).to(query.dtype)
        else:
            attended = functional.scaled_dot_product_attention(query, key, value, mask.to(query.dtype))
        return attended.transpose(1, 2)

    return attend


def packed(offsets: Tensor, longest: int) -> Attention:
    """Returns the attention of packed rows: by torch's kernel on a GPU, otherwise with padding.

    Offsets are the start of each row and the end, (rows + 1,), int32; a row has at most `longest` tokens.
    """

    def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        if query.is_cuda:
            from torch.nn.attention.varlen import varlen_attn

            attended = varlen_attn(query, key, value, offsets, offsets, longest, longest)
            assert isinstance(attended, Tensor)  # a pair only if more is requested
            return attended
        attended = torch.empty_like(query)
        for rows in _similar_rows(offsets):
            firsts = torch.tensor([start for start, _ in rows])
            lengths = torch.tensor([end - start for start, end in rows])
            steps = torch.arange(int(lengths.max()))
            is_token = steps < lengths.unsqueeze(1)  # (rows, tokens of the longest row)
            places = (firsts.unsqueeze(1) + steps).clamp(max=len(query) - 1)
            mask = padding_mask(is_token, query.dtype)
            result = padded(mask)(*(part[places] for part in (query, key, value)))
            attended[places[is_token]] = result[is_token]
        return attended

    return attend


def _similar_rows(offsets: Tensor) -> list[list[tuple[int, int]]]:
    """Returns start and end of the rows in groups of similar length, which are computed together."""
    groups: list[list[tuple[int, int]]] = []
    shortest = 0
    for start, end in sorted(pairwise(offsets.tolist()), key=lambda row: row[1] - row[0]):
        if not groups or end - start > 1.25 * shortest + 2:
            groups.append([])
            shortest = end - start
        groups[-1].append((start, end))
    return groups


def has_kernel(device: torch.device, dtype: torch.dtype, n_heads: int, head_width: int) -> bool:
    """Returns whether the device has a kernel for `packed` that agrees with fused attention on five tokens.

    Only newer GPUs have one, and none for float32.
    """
    if device.type != "cuda":
        return False
    numbers = torch.linspace(-1, 1, 5 * n_heads * head_width).view(5, n_heads, head_width).to(device, dtype)
    query = numbers.sin()
    key = (3 * numbers).cos()
    value = (5 * numbers).sin()
    try:
        offsets = torch.tensor([0, 2, 5], dtype=torch.int32, device=device)
        result = packed(offsets, 3)(query, key, value).float().cpu()
    except Exception:  # an older torch, GPU or build without the kernel: padded rows work everywhere
        return False
    expected = packed(offsets.cpu(), 3)(*(tensor.float().cpu() for tensor in (query, key, value)))
    return torch.allclose(result, expected, atol=0.05)

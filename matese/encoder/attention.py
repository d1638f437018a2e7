"""Ways to let the tokens of each row attend to one another: rows that are padded, and rows one behind the other."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn import functional

Attention = Callable[[Tensor, Tensor, Tensor], Tensor]
"""From queries, keys and values, each (..., tokens, heads, width of a head), to as much."""


def hiding(is_token: Tensor, kind: torch.dtype) -> Tensor:
    """Returns what hides padding, for `padded`: the lowest number of a kind where there is no token, else 0.

    Args:
        is_token: (batch, tokens), true where there is a token.
        kind: of the numbers.
    """
    lowest = torch.finfo(kind).min
    return torch.zeros_like(is_token, dtype=kind).masked_fill(is_token == 0, lowest)[:, None, None]


def padded(mask: Tensor, *, is_eager: bool) -> Attention:
    """Returns the attention of padded rows.

    Args:
        mask: (batch, 1, 1, tokens), added to the products of queries and keys.
        is_eager: for plain matrix products, otherwise torch's fused attention.
    """

    def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        query, key, value = (one.transpose(1, 2) for one in (query, key, value))  # (batch, heads, tokens, width)
        if is_eager:
            products = query @ key.transpose(2, 3) * query.shape[-1] ** -0.5 + mask
            attended: Tensor = products.softmax(-1) @ value
        else:
            attended = functional.scaled_dot_product_attention(query, key, value, mask.to(query.dtype))
        return attended.transpose(1, 2)

    return attend


def packed(offsets: Tensor, longest: int) -> Attention:
    """Returns the attention of rows that stand one behind the other: on a GPU by torch's kernel, else row by row.

    Args:
        offsets: (rows + 1,), int32, where each row begins, and the end.
        longest: tokens of a row at most.
    """

    def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        if query.is_cuda:
            from torch.nn.attention.varlen import varlen_attn

            attended = varlen_attn(query, key, value, offsets, offsets, longest, longest)
            assert isinstance(attended, Tensor)  # a pair only where more is asked for
            return attended
        rows = []
        for start, end in pairwise(offsets.tolist()):
            own = [one[start:end].transpose(0, 1) for one in (query, key, value)]  # (heads, tokens, width of a head)
            rows.append(functional.scaled_dot_product_attention(own[0], own[1], own[2]))
        return torch.cat(rows, 1).transpose(0, 1)

    return attend


def has_kernel(device: torch.device, kind: torch.dtype, n_heads: int, width: int) -> bool:
    """Whether a GPU has a kernel for `packed` and it says what the fused attention says: it is tried on five tokens.

    Args:
        device: a GPU has it from some generation on; other devices have not.
        kind: of the numbers; there is none for float32.
        n_heads: of the attention.
        width: of a head.
    """
    if device.type != "cuda":
        return False
    numbers = torch.linspace(-1, 1, 5 * n_heads * width).view(5, n_heads, width).to(device, kind)
    query, key, value = numbers.sin(), (3 * numbers).cos(), (5 * numbers).sin()
    try:
        offsets = torch.tensor([0, 2, 5], dtype=torch.int32, device=device)
        found = packed(offsets, 3)(query, key, value).float().cpu()
    except Exception:  # an older torch, GPU or build without it; whatever the reason, padded rows do
        return False
    expected = packed(offsets.cpu(), 3)(*(one.float().cpu() for one in (query, key, value)))
    return torch.allclose(found, expected, atol=0.05)

"""The learned weighted sum of an encoder's layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

_EPSILON = 1e-12
_DROPPED = -1e4
"""Weight of a layer that is left out, before softmax or sparsemax: low, but finite, in case all layers are left out."""


class LayerMix(nn.Module):
    """The learned weighted sum of all encoder layers: Rei et al. 2020, equation 1."""

    def __init__(self, n_layers: int, *, is_sparse: bool, is_normed: bool, dropout: float) -> None:
        """Gives all layers the same weight; see `ModelConfig` for the settings."""
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(n_layers))
        self.gamma = nn.Parameter(torch.ones(1))
        self._is_sparse = is_sparse
        self._is_normed = is_normed
        self._dropout = dropout

    def forward(self, layers: Sequence[Tensor], mask: Tensor, read: Callable[[Tensor], Tensor]) -> Tensor:
        """Returns the mix of the layers, (batch, tokens, width) each, after a linear function reads each of them.

        Reading before mixing avoids sums over all tokens. The mask is (batch, tokens), True for tokens.
        """
        logits: Tensor = self.weights
        if self.training and self._dropout:
            is_dropped = torch.rand_like(logits) < self._dropout
            logits = logits.masked_fill(is_dropped, _DROPPED)
        shares = self.gamma * (sparsemax(logits) if self._is_sparse else logits.softmax(0))
        mixed = shares.new_zeros(())
        for share, layer in zip(shares, layers, strict=True):
            vectors = read(layer)
            if self._is_normed:
                mean, deviation = _moments(layer, mask)
                shape = (-1, *[1] * (vectors.ndim - 1))
                vectors = (vectors - mean.view(shape)) / deviation.view(shape)
            mixed = mixed + share * vectors
        return mixed


def sparsemax(values: Tensor) -> Tensor:
    """Returns the nearest probability distribution, usually sparse: Martins and Astudillo 2016, algorithm 1.

    >>> sparsemax(torch.tensor([0.0, 0.5, -3.0])).tolist()
    [0.25, 0.75, 0.0]
    """
    ordered = values.sort(descending=True).values
    counts = torch.arange(1, len(values) + 1, device=values.device)
    sums = ordered.cumsum(0) - 1
    n_kept = (counts * ordered > sums).sum()
    return (values - sums[n_kept - 1] / n_kept).clamp(min=0)


def _moments(layer: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the mean and standard deviation of all numbers of each row, without padding: (batch,) each."""
    kept = mask.unsqueeze(-1)
    n_numbers = mask.sum(1) * layer.shape[-1]
    mean = (layer.float() * kept).sum((1, 2)) / n_numbers
    variance = (((layer.float() - mean[:, None, None]) * kept) ** 2).sum((1, 2)) / n_numbers
    return mean, (variance + _EPSILON).sqrt()

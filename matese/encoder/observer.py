"""Record the states, attention and values of each layer of our encoders, for explanations."""

from __future__ import annotations

import torch
from torch import Tensor

from matese.encoder.attention import Attention


class Observer:
    """Records a pass through an encoder; gradients reach everything that is recorded.

    Attributes:
        states: (batch, tokens, width) for the embeddings and for each layer.
        attentions: (batch, heads, tokens, tokens) for each layer; a row sums to 1 and shows what a token reads.
        values: (batch, heads, tokens, head width) for each layer.
    """

    def __init__(self, *, baseline: Tensor | None = None, share: float | Tensor = 1.0) -> None:
        """Creates an observer that may interpolate between a baseline, (batch, tokens, width), and the embeddings.

        The share, of each row if it is (batch, 1, 1), is the weight of the embeddings, from 0 (baseline) to 1.
        """
        self._baseline, self._share = baseline, share
        self.states: list[Tensor] = []
        self.attentions: list[Tensor] = []
        self.values: list[Tensor] = []

    def embed(self, states: Tensor) -> Tensor:
        """Records the embeddings and returns the input of the first layer."""
        start = states.detach()
        if self._baseline is not None:
            start = self._baseline + self._share * (start - self._baseline)
        start = start.clone().requires_grad_()
        self.states.append(start)
        return start

    def attention(self, mask: Tensor) -> Attention:
        """Returns an attention that is recorded; see `attention.padded` for the mask."""

        def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
            query, key, value = (heads.transpose(1, 2) for heads in (query, key, value))  # (batch, heads, tokens, ...)
            products = query @ key.transpose(2, 3) * query.shape[-1] ** -0.5 + mask
            attention = torch.softmax(products, -1)
            self.attentions.append(attention)
            self.values.append(value)
            return (attention @ value).transpose(1, 2)

        return attend

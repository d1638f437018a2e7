"""Record the states, attention and values of each layer of our encoders, for explanations."""

from __future__ import annotations

from torch import Tensor


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
        self._baseline = baseline
        self._share = share
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

    def record(self, attention: Tensor, values: Tensor) -> None:
        """Records the attention of a layer, see `attention.padded`."""
        self.attentions.append(attention)
        self.values.append(values)

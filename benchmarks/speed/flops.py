"""Floating-point operations of a transformer's matrix products: twice the multiplications, no padding, no softmax."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Stack:
    """Layers of one shape.

    Attributes:
        n_layers: how many.
        width: of a token's state.
        inner: width within the feed-forward part.
    """

    n_layers: int
    width: int
    inner: int

    def encode(self, n: int) -> int:
        """Returns the operations of `n` tokens that attend to one another."""
        projections, feed_forward = 8 * self.width**2, 4 * self.width * self.inner
        return self.n_layers * (n * (projections + feed_forward) + 4 * n * n * self.width)

    def decode(self, n: int, n_encoded: int) -> int:
        """Returns those of `n` tokens that attend to one another and to the encoder's."""
        projections = 4 * self.width**2 * (n + n_encoded)
        return self.encode(n) + self.n_layers * (projections + 4 * n * n_encoded * self.width)

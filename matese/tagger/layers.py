"""The transformer layers between an encoder and the heads."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from matese.encoder import attention


class ExtraLayer(nn.TransformerEncoderLayer):
    """torch's layer, with its parameters under its names, but with fused attention where nothing is learned.

    The path that torch takes there rounds the products of queries and keys to bfloat16 before their softmax, which
    moves spans (docs/performance.md, Agreement).
    """

    def __init__(self, width: int, n_heads: int, dropout: float) -> None:
        """Makes it with random weights: normalised after each part, as wide inside as usual."""
        super().__init__(width, n_heads, 4 * width, dropout, activation="gelu", batch_first=True)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:  # type: ignore[override]  # of fewer arguments
        """Returns the next states.

        Args:
            states: (batch, tokens, width).
            mask: (batch, tokens), True where there is a token.
        """
        if self.training:
            return super().forward(states, src_key_padding_mask=~mask)
        own = self.self_attn
        projected = functional.linear(states, own.in_proj_weight, own.in_proj_bias)
        query, key, value = projected.view(*projected.shape[:-1], 3, own.num_heads, -1).unbind(-3)
        attend = attention.padded(attention.hiding(mask, projected.dtype), is_eager=False)
        attended = attend(query, key, value).flatten(-2)
        states = self.norm1(states + own.out_proj(attended))
        made: Tensor = self.norm2(states + self.linear2(functional.gelu(self.linear1(states))))
        return made

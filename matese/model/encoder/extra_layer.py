"""The transformer layers that are added to an encoder."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from matese.model.encoder import attention


class ExtraLayer(nn.TransformerEncoderLayer):
    """torch's transformer layer, with the same parameter names but our attention.

    torch's own fast path rounds the products of queries and keys to bfloat16 before the softmax, which moves spans.
    """

    def __init__(self, width: int, n_heads: int, dropout: float, inner: int | None = None) -> None:
        """Initialises the weights at random; the inner width is four times the outer unless it is given."""
        super().__init__(width, n_heads, inner or 4 * width, dropout, activation="gelu", batch_first=True)

    def dropout_sites(self) -> tuple[nn.Module, ...]:
        """Returns the modules that dropout follows in training, except torch's dropout layers."""
        return self.self_attn.out_proj, self.linear2

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:  # type: ignore[override]  # fewer arguments
        """Returns the next states: (batch, tokens, width).

        Args:
            states: (batch, tokens, width).
            mask: (batch, tokens), True where there is a token.
        """
        if self.training and self.dropout.p:
            return super().forward(states, src_key_padding_mask=~mask)
        attention_layer = self.self_attn
        projected = functional.linear(states, attention_layer.in_proj_weight, attention_layer.in_proj_bias)
        query, key, value = projected.view(*projected.shape[:-1], 3, attention_layer.num_heads, -1).unbind(-3)
        attend = attention.padded(attention.padding_mask(mask, projected.dtype))
        attended = attend(query, key, value).flatten(-2)
        states = self.norm1(states + attention_layer.out_proj(attended))
        normed: Tensor = self.norm2(states + self.linear2(functional.gelu(self.linear1(states))))
        return normed

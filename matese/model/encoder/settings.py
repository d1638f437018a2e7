"""Which layers a model has besides its encoder's, and which states its heads read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from matese.validation.options import Count, CountOrZero, ShareBelowOne

LearnedMix = Literal["softmax", "sparsemax"]
Mix = Literal["last", "sum-last-4", "softmax", "sparsemax"]
Pooling = Literal["avg", "cls", "max"]
"""How the tokens of a row become one embedding: their mean, the first token, or the maximum."""


@dataclass(frozen=True)
class LayerSettings:
    """The layers between texts and heads.

    Attributes:
        mix: which encoder layers are read: the last; the sum of the last four (as in the released MaTESe models); a mix
            with learned weights, normalised by softmax or sparsemax (Rei et al. 2020, equation 1); or the number of one
            layer, 0 for the embeddings.
        mix_norm: whether the layers are normalised before they are mixed with learned weights.
        mix_dropout: probability that a layer is left out of that mix, in training (Rei et al. 2020, section 2.2).
        extra: number of transformer layers on top of the encoder, randomly initialised.
        extra_heads: attention heads of each extra layer, and of the layer of the meaning head.
        dropout: in the extra layers, before the heads and in their hidden layers.
    """

    mix: int | Mix = "last"
    mix_norm: bool = False
    mix_dropout: ShareBelowOne = 0.0
    extra: CountOrZero = 2
    extra_heads: Count = 8
    dropout: ShareBelowOne = 0.1

    @property
    def has_learned_mix(self) -> bool:
        """Whether the layers of the encoder are mixed with learned weights."""
        return self.mix in get_args(LearnedMix)

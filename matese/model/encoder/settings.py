"""Which layers a model has besides its encoder's, and which states its heads read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from matese.errors import InputError, one_of

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
    mix_dropout: float = 0.0
    extra: int = 2
    extra_heads: int = 8
    dropout: float = 0.1

    def __post_init__(self) -> None:
        if not isinstance(self.mix, int) and self.mix not in get_args(Mix):
            raise InputError(f"mix {self.mix!r}: must be {one_of(get_args(Mix))}, or the number of a layer")
        for name, lowest in (("extra", 0), ("extra_heads", 1)):
            if getattr(self, name) < lowest:
                raise InputError(f"{name} {getattr(self, name)}: must be {lowest} or more")
        for rate in ("dropout", "mix_dropout"):
            if not 0 <= getattr(self, rate) < 1:
                raise InputError(f"{rate} {getattr(self, rate)}: must be at least 0 and less than 1")

    @property
    def has_learned_mix(self) -> bool:
        """Whether the layers of the encoder are mixed with learned weights."""
        return self.mix in get_args(LearnedMix)


def check_pooling(pooling: str) -> None:
    """Raises an InputError unless a pooling is one of `Pooling`."""
    if pooling not in get_args(Pooling):
        raise InputError(f"pooling {pooling!r}: must be {one_of(get_args(Pooling))}")

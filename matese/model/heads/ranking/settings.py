"""The settings of the head of a ranking model."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from matese.errors import InputError
from matese.model.encoder.settings import Pooling
from matese.model.texts.settings import TextSettings


@dataclass(frozen=True)
class RankingSettings:
    """The model scores the distances of embeddings (Rei et al. 2020, section 2.4).

    Attributes:
        pooling: how the tokens of a text become one embedding: their mean, the first token, or the maximum.
    """

    pooling: Pooling = "avg"

    def check(self, texts: TextSettings, heads: Collection[str]) -> None:
        """Raises an InputError unless source, hypothesis and reference are read alone."""
        if texts.layout != "alone":
            raise InputError(f"texts.layout {texts.layout}: must be alone for heads.ranking")
        if texts.inputs != ("source+reference",):
            raise InputError(f"texts.inputs {list(texts.inputs)}: must be source+reference for heads.ranking")

"""The settings of the head of a ranking model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from matese.model.encoder.settings import Pooling


@dataclass(frozen=True)
class RankingSettings:
    """The model scores the distances of embeddings (Rei et al. 2020, section 2.4).

    Attributes:
        pooling: how the tokens of a text become one embedding: their mean, the first token, or the maximum.
    """

    of_texts: ClassVar = {"layout": "alone", "inputs": ("source+reference",)}
    pooling: Pooling = "avg"

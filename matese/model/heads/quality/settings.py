"""The settings of the head that scores a whole segment."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from matese.errors import InputError
from matese.model.encoder.settings import Pooling
from matese.model.texts.settings import TextSettings
from matese.validation.options import Count

Activation = Literal["GELU", "ReLU", "SiLU", "Identity", "Tanh", "Sigmoid", "Softplus", "Softsign", "Hardtanh", "Mish"]
"""Activations of torch. Of these, COMET finds those in title case, and PEAR the first five."""
Widths = tuple[Count, ...]


@dataclass(frozen=True)
class QualitySettings:
    """The model scores embeddings by feed-forward layers.

    They are those of the texts that it reads alone (an estimator: Rei et al. 2020, section 2.3), or those of rows of
    several texts (a unified model).

    Attributes:
        pooling: how the tokens of a row become one embedding: their mean, the first token, or the maximum.
        hidden_sizes: widths of the hidden layers.
        activation: activation after each hidden layer.
        final_activation: activation after the last layer; null for none.
        score_weights: weights of the scores of a segment's three rows (source, reference, both), and of the MQM score
            of the marked errors, in the score (xCOMET); null for the mean of the rows.
    """

    pooling: Pooling = "avg"
    hidden_sizes: Widths = ()
    activation: Activation = "Tanh"
    final_activation: Activation | None = None
    score_weights: tuple[float, float, float, float] | None = None

    def check(self, texts: TextSettings, heads: Collection[str]) -> None:
        """Raises an InputError for weights of errors that the model does not mark."""
        if self.score_weights is not None and "word_labels" not in heads:
            raise InputError("heads.quality.score_weights: must be null without heads.word_labels")

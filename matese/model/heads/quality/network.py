"""The feed-forward layers that score the embedding of a row, or the embeddings of several texts."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from matese.model.config import ModelConfig
from matese.model.encoder import pooling
from matese.model.heads.networks import HeadNetwork, HeadOutput
from matese.model.heads.quality.decoding import RowVector
from matese.model.states import BatchStates
from matese.model.texts.encoding import Encoding


@dataclass(frozen=True, slots=True)
class RowVectors(HeadOutput):
    """What a head says that reads one vector a row.

    Attributes:
        values: (batch, 1), the score of each row; or (batch, width), the embedding of a text that is read alone.
    """

    values: Tensor

    def rows(self, encodings: Sequence[Encoding]) -> Sequence[RowVector]:
        """Returns the vector of each row."""
        return [RowVector(vector) for vector in self.values.cpu().numpy()]


class QualityHead(nn.Sequential, HeadNetwork):
    """Says the score of each row, or the embedding of a text that is read alone.

    Hidden layers with an activation and, in training, dropout, and a last layer with one output.
    """

    @classmethod
    def of(cls, config: ModelConfig, width: int, inner: int | None) -> QualityHead:
        """Returns the head with random weights."""
        return cls(_n_features(config) * width, config)

    def __init__(self, n_inputs: int, config: ModelConfig) -> None:
        """Initialises the weights at random."""
        settings = config.heads.quality
        assert settings is not None
        super().__init__(*feed_forward(n_inputs, settings.hidden_sizes, settings.activation, settings.final_activation))
        self._reads_alone = config.texts.layout == "alone"
        self._pooling = settings.pooling
        self._dropout = config.layers.dropout
        self._n_hidden = 2 * len(settings.hidden_sizes)

    def activations(self) -> list[nn.Module]:
        """Returns the activations of the hidden layers, which dropout follows in training."""
        return list(self)[1 : self._n_hidden : 2]

    def forward(self, states: BatchStates) -> RowVectors:
        """Returns the scores or the embeddings."""
        pooled = states.pooled(self._pooling)
        if self._reads_alone:
            return RowVectors(pooled)
        with pooling.in_full(pooled):
            return RowVectors(self.score(pooled))

    def score(self, features: Tensor) -> Tensor:
        """Returns (batch, 1) from features, (batch, n_inputs)."""
        for number, layer in enumerate(self):
            features = layer(features)
            if number % 2 and number < self._n_hidden:  # after an activation
                features = functional.dropout(features, self._dropout, self.training)
        return features

    def combine(self, texts: Mapping[str, Tensor]) -> Tensor:
        """Returns the score of each hypothesis from its features: Rei et al. 2020, section 2.3."""
        hypothesis = texts["hypothesis"]
        contexts = [texts[role] for role in ("reference", "source") if role in texts]
        features = [hypothesis, contexts[0]]
        for context in contexts:
            features += [hypothesis * context, (hypothesis - context).abs()]
        return self.score(torch.cat(features, 1)).squeeze(1)


def feed_forward(
    n_inputs: int, hidden_sizes: Sequence[int], activation: str, final_activation: str | None
) -> list[nn.Module]:
    """Returns hidden layers, each before an activation, and a last layer with one output."""
    widths = [n_inputs, *hidden_sizes]
    layers: list[nn.Module] = []
    for before, after in itertools.pairwise(widths):
        layers += [nn.Linear(before, after), getattr(nn, activation)()]
    layers.append(nn.Linear(widths[-1], 1))
    return layers if final_activation is None else [*layers, getattr(nn, final_activation)()]


def _n_features(config: ModelConfig) -> int:
    """Returns the input width of the first layer, in widths of the encoder."""
    if config.texts.layout != "alone":
        return 1
    return 6 if config.texts.inputs == ("source+reference",) else 4

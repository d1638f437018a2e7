"""What heads read: states of the tokens of a batch, computed when a head first asks for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from matese.model.config import ModelConfig
from matese.model.encoder import pooling
from matese.model.encoder.layer_mix import LayerMix
from matese.model.encoder.settings import Pooling
from matese.model.inputs import Inputs


@dataclass(frozen=True)
class BatchStates:
    """What the heads of a network read of a batch.

    Attributes:
        batch: the input.
        config: settings of the model.
        layers: (batch, tokens, width) each, states of the embeddings and of each layer of the encoder; only the last if
            no other is read.
        similarity: (batch,), term that the texts' similarity adds to the logit of the score; None without one.
        mix: of the layers, with learned weights; None without one.
        extra_layers: on top of the encoder.
        dropout: of states that heads read.
        embed: returns the embeddings of ids.
    """

    batch: Inputs
    config: ModelConfig
    layers: Sequence[Tensor]
    similarity: Tensor | None
    mix: LayerMix | None
    extra_layers: Sequence[nn.Module]
    dropout: nn.Module
    embed: Callable[[Tensor], Tensor]

    @property
    def mask(self) -> Tensor:
        """True for tokens: (batch, tokens)."""
        return self.batch.mask if self.batch.decoder_mask is None else self.batch.decoder_mask

    @cached_property
    def encoded(self) -> Tensor:
        """States of the encoder, from the layers that are read: (batch, tokens, width)."""
        layer_mix = self.config.layers.mix
        if isinstance(layer_mix, int):
            return self.layers[layer_mix]
        if self.mix is not None:
            return self._mixed(self.mix, Tensor.float)
        return self.layers[-1] if layer_mix == "last" else torch.stack(list(self.layers[-4:])).sum(0)

    @cached_property
    def final(self) -> Tensor:
        """States of the last extra layer: (batch, tokens, width)."""
        states = self.encoded
        for layer in self.extra_layers:
            states = layer(states, self.mask)
        return states

    @cached_property
    def hypothesis(self) -> Tensor:
        """Those of the hypothesis, after dropout: (batch, hypothesis tokens, width)."""
        dropped: Tensor = self.dropout(pooling.of_hypothesis(self.final, self.batch.positions))
        return dropped

    @cached_property
    def embeddings(self) -> Tensor:
        """Embeddings of the hypothesis' tokens: (batch, hypothesis tokens, width)."""
        ids = self.batch.ids if self.batch.decoder_ids is None else self.batch.decoder_ids
        return self.embed(ids.gather(1, self.batch.positions))

    def pooled(self, kind: Pooling) -> Tensor:
        """Returns the embedding of each row, from its final states: (batch, width), float32."""
        row_pooling = pooling.POOLINGS[kind]
        pool = row_pooling.of(self.mask)
        if self.mix is not None and not self.extra_layers and row_pooling.is_linear:
            return self._mixed(self.mix, pool)  # the pooled mix, without sums over all tokens
        with pooling.in_full(self.final):
            return pool(self.final)

    def _mixed(self, mix: LayerMix, read: pooling.PoolFunction) -> Tensor:
        with pooling.in_full(self.layers[-1]):
            mixed: Tensor = mix(self.layers, self.mask, read)
            return mixed

"""Explanations from inside a model: attention, gradients and states of an encoder of the RoBERTa family."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from matese.errors import UsageError
from matese.evaluation.statistics.arrays import FloatArray
from matese.explanation.method import Method
from matese.model.encoder.observer import Observer
from matese.model.model_input import Reading
from matese.model.observation import ObservedReading, ObservedText
from matese.model.texts.encoding import TextEncoder

_STEPS = 20
"""Points on the way of integrated gradients, from rows of padding to the texts."""


class Inspection(ObservedReading):
    """The states of a model for one reading, of which any number of methods can be asked.

    Attributes:
        n_layers: of the encoder.
        n_heads: of each layer.
    """

    def __init__(self, module: object, text_encoder: TextEncoder, reading: Reading) -> None:
        """Computes the reading once. Raises as `ObservedReading`."""
        super().__init__(module, text_encoder, reading)
        config = self._module.encoder.config
        self.n_layers: int = config.num_hidden_layers
        self.n_heads: int = config.num_attention_heads
        self._gradients: dict[str, tuple[Tensor, ...]] = {}
        self._read: dict[tuple[str, int], Tensor] = {}

    def weights(self, method: Method) -> list[tuple[ObservedText, FloatArray]]:
        """Returns a number for each token of each text that a method explains.

        Raises:
            UsageError: if the model has no such layer or head.
        """
        if method.layer is not None and method.layer > self.n_layers:
            raise UsageError(
                f"layer {method.layer} of {method}: must be at most {self.n_layers}, the last of the model"
            )
        if method.head is not None and method.head >= self.n_heads:
            raise UsageError(f"head {method.head} of {method}: must be less than {self.n_heads}, the heads of a layer")
        usual_layer = 0 if method.name == "gradient-norm" else self.n_layers
        layer = usual_layer if method.layer is None else method.layer
        if method.name == "embed-align":
            return self._aligned(layer)
        if method.name == "integrated-gradients":
            weights = self._integrated()
        elif method.name == "gradient-norm":
            weights = self._gradient("states")[layer].norm(dim=-1)  # (rows, tokens)
        elif method.name == "gradient-hidden":
            weights = -(self._observer.states[layer] * self._gradient("states")[layer]).sum(-1)  # (rows, tokens)
        else:
            heads = self._heads(method.name, layer - 1)  # (rows, heads, tokens)
            weights = heads.mean(1) if method.head is None else heads[:, method.head]
        rows = weights.detach().double().cpu().numpy()
        return [(part, rows[part.row, part.places]) for part in self.parts]

    def _heads(self, name: str, layer: int) -> Tensor:
        """Returns how much the tokens of a row read each token, on average: (rows, heads, tokens)."""
        if (name, layer) not in self._read:
            attention = self._observer.attentions[layer]
            if name == "attention-norm":
                attention = attention * self._observer.values[layer].norm(dim=-1)[:, :, None]
            if name == "attention-gradient":
                attention = -attention * self._gradient("attentions")[layer]
            if name == "attention-value-gradient":  # "attn x grad" of Rei's thesis, chapter 4
                attention = attention * self._gradient("values")[layer].norm(dim=-1)[:, :, None]
            is_token = self._batch.mask[:, None, :, None]
            self._read[name, layer] = (attention * is_token).sum(2) / is_token.sum(2)
        return self._read[name, layer]

    def _gradient(self, name: str) -> tuple[Tensor, ...]:
        """Returns the gradients of the score with respect to the observer's "states", "attentions" or "values"."""
        if name not in self._gradients:
            inputs = getattr(self._observer, name)
            self._gradients[name] = torch.autograd.grad(
                self.score, inputs, retain_graph=True, allow_unused=True, materialize_grads=True
            )
        return self._gradients[name]

    def _integrated(self) -> Tensor:
        """Returns the integrated gradients of the embeddings, of Sundararajan et al. 2017, negated: (rows, tokens)."""
        way = self._observer.states[0].detach() - self._empty
        shares = (torch.arange(_STEPS, device=way.device) + 0.5) / _STEPS
        if self._is_one_row:  # all steps in one batch
            passes = [(shares[:, None, None], self._collated(self._rows * _STEPS))]
        else:
            passes = [(share, self._batch) for share in shares]
        total = torch.zeros_like(way)
        for share, batch in passes:
            observer, score = self._pass(Observer(baseline=self._empty, share=share), batch)
            gradient = torch.autograd.grad(score, observer.states[0])[0]
            total += gradient.sum(0, keepdim=True) if self._is_one_row else gradient
        return -(way * total / _STEPS).sum(-1)

    @cached_property
    def _empty(self) -> Tensor:
        """The embeddings of the same rows with padding in place of all texts."""
        is_text = self._batch.roles > 0
        batch = self._batch._replace(ids=self._batch.ids.masked_fill(is_text, self._pad_id))
        observer, _ = self._pass(Observer(), batch)
        return observer.states[0].detach()

    def _aligned(self, layer: int) -> list[tuple[ObservedText, FloatArray]]:
        """Returns 1 minus the highest cosine of each token with one of the other texts, of the hypothesis else."""
        states = torch.nn.functional.normalize(self._observer.states[layer].detach().double(), dim=-1)
        hypothesis, *contexts = (states[part.row, part.places] for part in self.parts)
        aligned = [(hypothesis, torch.cat(contexts) if contexts else hypothesis[:0])]
        aligned += [(context, hypothesis) for context in contexts]
        weights = [1 - (text @ read.T).amax(-1) if len(read) else torch.ones(len(text)) for text, read in aligned]
        return [(part, weight.cpu().numpy()) for part, weight in zip(self.parts, weights, strict=True)]

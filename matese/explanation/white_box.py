"""Explanations from inside a model: attention, gradients and states of an encoder of the RoBERTa family.

The scalar that is differentiated is the model's score of one reading: of a tagger the score head or, without one, the
expected score of the tags.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from matese import mqm
from matese.annotation import Segment
from matese.encoder.encoding import ROLES, Encoding, IntArray, TextEncoder
from matese.encoder.observer import Observer
from matese.encoder.roberta import Roberta
from matese.errors import ModelError, UsageError
from matese.explanation.method import LongTextError, Method
from matese.inference.inputs import Inputs, collate
from matese.inference.model_input import contexts, inputs_of
from matese.regression.config import ROWS
from matese.regression.model import Regressor
from matese.tagger import tags
from matese.tagger.model import Tagger

_STEPS = 20
"""Points on the way of integrated gradients, from rows of padding to the texts."""


@dataclass(frozen=True, slots=True)
class Part:
    """The tokens of one text in the rows that the model reads.

    Attributes:
        text: name of the text in ROLES.
        row: number of the row.
        first: position of its first token in the row.
        ranges: (tokens, 2), in code points of the text.
    """

    text: str
    row: int
    first: int
    ranges: IntArray

    @property
    def places(self) -> slice:
        """Its tokens in the row."""
        return slice(self.first, self.first + len(self.ranges))


class Reading:
    """One reading of a segment in a model, of which any number of methods can be asked.

    Attributes:
        parts: the hypothesis and the other texts.
        score: what the methods differentiate.
        n_layers: of the encoder.
        n_heads: of each layer.
    """

    def __init__(self, module: object, text_encoder: TextEncoder, segment: Segment) -> None:
        """Computes the reading once.

        Raises:
            ModelError: if the model has another encoder than one of the RoBERTa family.
            LongTextError: if the texts are longer than the model reads at once.
        """
        if not isinstance(module, Tagger | Regressor) or not isinstance(module.encoder, Roberta):
            raise ModelError(
                "this method looks inside encoders of the RoBERTa family; use leave-one-out or lime for others"
            )
        self._module: Any = module
        self.n_layers = module.encoder.config.num_hidden_layers
        self.n_heads = module.encoder.config.num_attention_heads
        self._rows, self.parts = _rows(module, text_encoder, segment)
        self._device = next(module.parameters()).device
        self._pad_id = text_encoder.pad_id
        self._batch = self._collated(self._rows)
        self._has = {"source": segment.source is not None, "reference": bool(segment.references)}
        self._is_one_row = len(self._rows) == 1
        self._lengths = self._batch.mask.sum(1).tolist()
        self._observer, self.score = self._pass(Observer())
        self._gradients: dict[str, tuple[Tensor, ...]] = {}
        self._read: dict[tuple[str, int], Tensor] = {}

    def weights(self, method: Method) -> list[tuple[Part, np.ndarray[Any, np.dtype[np.float64]]]]:
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
        layer = self.n_layers if method.layer is None else method.layer
        if method.name == "embed-align":
            return self._aligned(layer)
        if method.name == "integrated-gradients":
            found = self._integrated()
        elif method.name == "gradient-hidden":
            states = self._observer.states
            found = -(states[layer] * self._gradient("states", states)[layer]).sum(-1)  # (rows, tokens)
        else:
            heads = self._heads(method.name, layer - 1)  # (rows, heads, tokens)
            found = heads.mean(1) if method.head is None else heads[:, method.head]
        rows = found.detach().double().cpu().numpy()
        return [(part, rows[part.row, part.places]) for part in self.parts]

    def _heads(self, name: str, layer: int) -> Tensor:
        """Returns how much the tokens of a row read each token, on average: (rows, heads, tokens)."""
        if (name, layer) in self._read:
            return self._read[name, layer]
        observer = self._observer
        attention = observer.attentions[layer]
        if name == "attention-norm":
            attention = attention * observer.values[layer].norm(dim=-1)[:, :, None]
        if name == "attention-gradient":
            attention = -attention * self._gradient("attentions", observer.attentions)[layer]
        is_token = self._batch.mask[:, None, :, None]
        self._read[name, layer] = (attention * is_token).sum(2) / is_token.sum(2)
        return self._read[name, layer]

    def _gradient(self, name: str, tensors: list[Tensor]) -> tuple[Tensor, ...]:
        if name not in self._gradients:
            found = torch.autograd.grad(self.score, tensors, retain_graph=True, allow_unused=True)
            self._gradients[name] = tuple(
                torch.zeros_like(tensor) if own is None else own for tensor, own in zip(tensors, found, strict=True)
            )
        return self._gradients[name]

    def _integrated(self) -> Tensor:
        """Returns the integrated gradients of the embeddings, of Sundararajan et al. 2017, negated: (rows, tokens)."""
        way = self._observer.states[0].detach() - self._empty
        shares = (torch.arange(_STEPS, device=way.device) + 0.5) / _STEPS
        if self._is_one_row:
            batch = self._collated(self._rows * _STEPS)
            observer, score = self._pass(Observer(baseline=self._empty, share=shares[:, None, None]), batch)
            total = torch.autograd.grad(score, observer.states[0])[0].sum(0, keepdim=True)
            return -(way * total / _STEPS).sum(-1)
        total = torch.zeros_like(way)
        for share in shares.tolist():
            observer, score = self._pass(Observer(baseline=self._empty, share=share))
            total += torch.autograd.grad(score, observer.states[0])[0]
        return -(way * total / _STEPS).sum(-1)

    def _collated(self, rows: list[Encoding]) -> Inputs:
        batch = collate(rows, pad_id=self._pad_id)
        return replace(batch, texts=None).to(self._device)  # texts that a model reads alone are observed in their rows

    @cached_property
    def _empty(self) -> Tensor:
        """The embeddings of the same rows with padding in place of all texts."""
        is_text = self._batch.roles > 0
        batch = replace(self._batch, ids=self._batch.ids.masked_fill(is_text, self._pad_id))
        observer, _ = self._pass(Observer(), batch)
        return observer.states[0].detach()

    def _aligned(self, layer: int) -> list[tuple[Part, np.ndarray[Any, np.dtype[np.float64]]]]:
        """Returns 1 minus the highest cosine of each token with one of the other texts, of the hypothesis else."""
        states = torch.nn.functional.normalize(self._observer.states[layer].detach().double(), dim=-1)
        own = [states[part.row, part.places] for part in self.parts]
        found = []
        for number, part in enumerate(self.parts):
            others = own[1:] if number == 0 else own[:1]
            other = torch.cat(others)
            distance = 1 - (own[number] @ other.T).amax(-1) if len(other) else torch.ones(len(own[number]))
            found.append((part, distance.cpu().numpy()))
        return found

    def _pass(self, observer: Observer, batch: Inputs | None = None) -> tuple[Observer, Tensor]:
        with _observed(self._module.encoder, observer), torch.enable_grad():
            output = self._module(batch or self._batch)
            if isinstance(self._module, Tagger):
                return observer, _score_of(output.score, output.tag_logits)
            if self._is_one_row:
                return observer, output.vectors.sum()
            vectors = iter(output.vectors.unsqueeze(1))
            hypothesis = next(vectors)
            texts = {name: next(vectors) if has else None for name, has in self._has.items()}
            return observer, self._module.estimate(hypothesis, texts["source"], texts["reference"]).sum()


@contextmanager
def _observed(encoder: Roberta, observer: Observer) -> Iterator[None]:
    encoder.observer = observer
    try:
        yield
    finally:
        encoder.observer = None


def _score_of(score: Tensor | None, logits: Tensor) -> Tensor:
    if score is not None:
        return score.sum()
    probabilities = logits.softmax(-1)
    minor, major = probabilities[..., tags.B_MINOR].sum(), probabilities[..., tags.B_MAJOR].sum()
    return -(mqm.MATESE.minor * minor + mqm.MATESE.major * major)


def _rows(module: Tagger | Regressor, text_encoder: TextEncoder, segment: Segment) -> tuple[list[Encoding], list[Part]]:
    """Returns what the model reads of a segment with at most one reference, and where its texts stand there."""
    texts = [segment.hypothesis, *contexts(segment)]
    tokens = text_encoder.tokenize(texts)
    roles = ["hypothesis", *inputs_of(segment).split("+")]
    if isinstance(module, Tagger) or module.config.architecture in ROWS:
        rows = [text_encoder.join(tokens[0], tokens[1:], inputs_of(segment))]
    else:
        rows = [text_encoder.join(own, [], None) for own in tokens]
    if any(len(windows) > 1 for windows in rows):
        raise LongTextError(
            f"segment {segment.hypothesis[:40]!r} is longer than the model reads at once: must be explained by "
            "leave-one-out or lime"
        )
    encodings = [windows[0] for windows in rows]
    parts = []
    for number, (name, own) in enumerate(zip(roles, tokens, strict=True)):
        row = 0 if len(rows) == 1 else number
        role = ROLES.index(name if len(rows) == 1 else "hypothesis")
        places = np.flatnonzero(encodings[row].roles == role)
        parts.append(Part(name, row, int(places[0]) if len(places) else 0, own.ranges))
    return encodings, parts

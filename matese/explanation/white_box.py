"""Explanations from inside a model: attention, gradients and states of an encoder of the RoBERTa family.

The scalar that is differentiated is the model's score of one reading: of a tagger the score head, after an error of
meaning has lowered it, or, without one, the expected score of the tags; of a model that scores the combinations of
source and reference, that of both together.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from matese import mqm
from matese.errors import ModelError, UsageError
from matese.evaluation.statistics.arrays import FloatArray
from matese.explanation.method import LongTextError, Method
from matese.model.encoder.observer import Observer
from matese.model.encoder.roberta import Roberta
from matese.model.heads.meaning import decoding
from matese.model.heads.meaning.network import MeaningTensors
from matese.model.heads.meaning.settings import MeaningRule
from matese.model.heads.row_vectors import RowVectors
from matese.model.heads.tags import bio
from matese.model.inputs import Inputs, collate
from matese.model.model_input import Reading
from matese.model.network import Network
from matese.model.network_output import NetworkOutput
from matese.model.texts.encoding import ROLES, Encoding, TextEncoder

_STEPS = 20
"""Points on the way of integrated gradients, from rows of padding to the texts."""
_STEP = 1e-4
"""Half the distance between the points from which a slope is computed."""


class Part(NamedTuple):
    """The tokens of one text in the rows that the model reads.

    Attributes:
        text: name of the text in ROLES.
        row: number of the row.
        first: position of its first token in the row.
        characters: range of each token, in code points of the text.
    """

    text: str
    row: int
    first: int
    characters: list[tuple[int, int]]

    @property
    def places(self) -> slice:
        """Its tokens in the row."""
        return slice(self.first, self.first + len(self.characters))


class Inspection:
    """The states of a model for one reading, of which any number of methods can be asked.

    Attributes:
        parts: the hypothesis and the other texts.
        score: what the methods differentiate.
        n_layers: of the encoder.
        n_heads: of each layer.
    """

    def __init__(self, module: object, text_encoder: TextEncoder, reading: Reading) -> None:
        """Computes the reading once.

        Raises:
            ModelError: if the model has another encoder than one of the RoBERTa family.
            LongTextError: if the texts are longer than the model reads at once.
        """
        if not isinstance(module, Network) or not isinstance(module.encoder, Roberta):
            raise ModelError(
                "this method looks inside encoders of the RoBERTa family; use leave-one-out or lime for others"
            )
        self._module: Any = module
        self.n_layers = module.encoder.config.num_hidden_layers
        self.n_heads = module.encoder.config.num_attention_heads
        self._rows, self.parts = _rows(module, text_encoder, reading)
        self._device = next(module.parameters()).device
        self._pad_id = text_encoder.pad_id
        self._batch = self._collated(self._rows)
        self._reading = reading
        self._is_one_row = len(self._rows) == 1
        self._observer, self.score = self._pass(Observer())
        self._gradients: dict[str, tuple[Tensor, ...]] = {}
        self._read: dict[tuple[str, int], Tensor] = {}

    def weights(self, method: Method) -> list[tuple[Part, FloatArray]]:
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
            weights = self._integrated()
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
            is_token = self._batch.mask[:, None, :, None]
            self._read[name, layer] = (attention * is_token).sum(2) / is_token.sum(2)
        return self._read[name, layer]

    def _gradient(self, name: str) -> tuple[Tensor, ...]:
        """Returns the gradient of the score with respect to each of the observer's "states" or "attentions"."""
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

    def _aligned(self, layer: int) -> list[tuple[Part, FloatArray]]:
        """Returns 1 minus the highest cosine of each token with one of the other texts, of the hypothesis else."""
        states = torch.nn.functional.normalize(self._observer.states[layer].detach().double(), dim=-1)
        hypothesis, *others = (states[part.row, part.places] for part in self.parts)
        aligned = [(hypothesis, torch.cat(others) if others else hypothesis[:0])]
        aligned += [(other, hypothesis) for other in others]
        weights = [1 - (text @ read.T).amax(-1) if len(read) else torch.ones(len(text)) for text, read in aligned]
        return [(part, weight.cpu().numpy()) for part, weight in zip(self.parts, weights, strict=True)]

    @torch.enable_grad()
    def _pass(self, observer: Observer, batch: Inputs | None = None) -> tuple[Observer, Tensor]:
        encoder: Roberta = self._module.encoder
        encoder.observer = observer
        try:
            output = self._module(batch or self._batch)
        finally:
            encoder.observer = None
        if self._module.config.heads.tags is not None:
            return observer, self._score_of_tagger(output)
        if self._is_one_row:
            return observer, output[RowVectors].values.sum()
        embeddings = output[RowVectors].values  # (rows, width)
        texts = {part.text: embeddings[part.row].unsqueeze(0) for part in self.parts}
        return observer, self._module.combine(texts).sum()

    def _score_of_tagger(self, output: NetworkOutput) -> Tensor:
        if output.score is None:
            return _score_of_tags(output.tag_logits)
        rule = self._module.config.decoding.meaning_rule(self._reading.inputs)
        meaning = output.get(MeaningTensors)
        if rule is None or meaning is None:
            return output.score.sum()
        return _after_rule(rule, output.score, meaning.segment_logits, len(self._reading.hypothesis)).sum()


def _after_rule(rule: MeaningRule, scores: Tensor, logits: Tensor, n_characters: int) -> Tensor:
    """Returns the expected scores as `meaning.decoding` lowers them, (batch,), with their slopes.

    The rule is computed in numpy, so its slopes in score and logit are those between two points close by.
    """
    given = scores.detach().cpu().double().numpy(), logits.detach().cpu().double().numpy()

    def lowered(score: FloatArray, logit: FloatArray) -> FloatArray:
        lengths = np.full(len(score), n_characters, dtype=np.float64)
        return decoding.lower_scores(rule, score, logit - rule.threshold, lengths).astype(np.float64)

    total = torch.from_numpy(lowered(*given)).to(scores)
    for number, tensor in enumerate((scores, logits)):
        above, below = ([*given] for _ in range(2))
        above[number] = given[number] + _STEP
        below[number] = given[number] - _STEP
        slope = (lowered(*above) - lowered(*below)) / (2 * _STEP)
        total = total + torch.from_numpy(slope).to(scores) * (tensor - tensor.detach())
    return total


def _score_of_tags(logits: Tensor) -> Tensor:
    probabilities = logits.softmax(-1)
    minor = probabilities[..., bio.B_MINOR].sum()
    major = probabilities[..., bio.B_MAJOR].sum()
    return -(mqm.MATESE.minor * minor + mqm.MATESE.major * major)


def _rows(module: Network, text_encoder: TextEncoder, reading: Reading) -> tuple[list[Encoding], list[Part]]:
    """Returns what the model reads of a reading, and where its texts stand there."""
    texts = [reading.hypothesis, *reading.contexts]
    tokens = text_encoder.tokenize(texts)
    names = ["hypothesis", *reading.inputs.split("+")]
    if module.config.texts.layout == "alone":
        rows = [text_encoder.join(text, [], None) for text in tokens]
    else:
        rows = [text_encoder.join(tokens[0], tokens[1:], reading.inputs)]
    if any(window.is_cut for windows in rows for window in windows):
        raise LongTextError(
            f"segment {reading.hypothesis[:40]!r} is longer than the model reads at once; explain it by "
            "leave-one-out or lime"
        )
    encodings = [windows[0] for windows in rows]
    parts = []
    for number, (name, text) in enumerate(zip(names, tokens, strict=True)):
        row, role = (0, name) if len(rows) == 1 else (number, "hypothesis")
        places = np.flatnonzero(encodings[row].roles == ROLES.index(role))
        characters = [(start, end) for start, end in text.ranges.tolist()]
        parts.append(Part(name, row, int(places[0]) if len(places) else 0, characters))
    return encodings, parts

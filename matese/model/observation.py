"""A model that reads once, with gradients and observed: for explanations from inside, and for what can be left out.

The scalar that is differentiated is the model's score of one reading: of a tagger the score head, after an error of
meaning has lowered it, or, without one, the expected score of the tags; of a model that scores the combinations of
source and reference, that of both together. Of a text of several sentences, it is the score of the whole, without that
of the pieces.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from matese import mqm
from matese.errors import ModelError
from matese.model.encoder.observer import Observer
from matese.model.encoder.roberta import Roberta
from matese.model.heads.meaning.decoding import words_of_longest
from matese.model.heads.meaning.network import MeaningTensors
from matese.model.heads.meaning.settings import MeaningRule
from matese.model.heads.networks import NetworkOutput
from matese.model.heads.quality.network import RowVectors
from matese.model.heads.score.network import ScoreTensor
from matese.model.heads.tags import bio
from matese.model.heads.tags.network import TagLogits
from matese.model.inputs import Inputs, collate
from matese.model.model_input import LongTextError, Reading
from matese.model.network import Network
from matese.model.texts.encoding import ROLES, Encoding, TextEncoder

_STEP = 1e-4
"""Half the distance between the points from which a slope is computed."""


class ObservedText(NamedTuple):
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


class ObservedReading:
    """One reading of a model with an encoder of the RoBERTa family.

    Attributes:
        parts: the hypothesis and the other texts.
        score: what can be differentiated.
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
        self._rows, self.parts = _rows(module, text_encoder, reading)
        self._device = next(module.parameters()).device
        self._pad_id = text_encoder.pad_id
        self._batch = self._collated(self._rows)
        self._reading = reading
        self._is_one_row = len(self._rows) == 1
        self._observer, self.score = self._pass(Observer())

    def _collated(self, rows: list[Encoding]) -> Inputs:
        batch = collate(rows, pad_id=self._pad_id)
        return batch._replace(texts=None).to(self._device)  # texts that a model reads alone are observed in their rows

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
        said = output.get(ScoreTensor)
        if said is None:
            return _score_of_tags(output[TagLogits].logits)
        rule = self._module.config.decoding.of(self._reading.inputs).meaning
        meaning = output.get(MeaningTensors)
        if rule is None or meaning is None:
            return said.values.sum()
        return _after_rule(rule, said.values, meaning.segment_logits, words_of_longest([self._reading])).sum()


def _after_rule(rule: MeaningRule, scores: Tensor, logits: Tensor, n_words: int) -> Tensor:
    """Returns the expected scores as the rule changes them, (batch,), with their slopes.

    The rule is computed in plain numbers, so its slopes are those between two points close by.
    """
    changed = []
    for score, logit in zip(scores.tolist(), logits.tolist(), strict=True):
        value = rule.score(score, logit, n_words)
        of_score = (rule.score(score + _STEP, logit, n_words) - rule.score(score - _STEP, logit, n_words)) / 2
        of_logit = (rule.score(score, logit + _STEP, n_words) - rule.score(score, logit - _STEP, n_words)) / 2
        changed.append((value, of_score / _STEP, of_logit / _STEP))
    values, score_slopes, logit_slopes = torch.tensor(changed, dtype=torch.float64).T.to(scores)
    total: Tensor = values + score_slopes * (scores - scores.detach()) + logit_slopes * (logits - logits.detach())
    return total


def _score_of_tags(logits: Tensor) -> Tensor:
    probabilities = logits.softmax(-1)
    minor = probabilities[..., bio.B_MINOR].sum()
    major = probabilities[..., bio.B_MAJOR].sum()
    return -(mqm.MATESE.minor * minor + mqm.MATESE.major * major)


def _rows(module: Network, text_encoder: TextEncoder, reading: Reading) -> tuple[list[Encoding], list[ObservedText]]:
    """Returns what the model reads of a reading, and where its texts stand there."""
    texts = [reading.hypothesis, *reading.contexts]
    tokens = text_encoder.tokenize(texts)
    names = ["hypothesis", *reading.inputs.split("+")]
    if module.config.texts.layout == "alone":
        rows = [text_encoder.join(text, [], None) for text in tokens]
    else:
        rows = [text_encoder.join(tokens[0], tokens[1:], reading.inputs, reading.languages)]
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
        parts.append(ObservedText(name, row, int(places[0]) if len(places) else 0, characters))
    return encodings, parts

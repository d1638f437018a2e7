"""The layers that find errors of meaning, and what they change in tags and score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from matese.model.config import ModelConfig
from matese.model.encoder import pooling
from matese.model.encoder.extra_layer import ExtraLayer
from matese.model.heads.meaning.decoding import RAMP, SHARE
from matese.model.heads.networks import HeadNetwork, Outputs
from matese.model.heads.tags.bio import IS_MAJOR
from matese.model.states import States
from matese.model.texts.encoding import ROLES, Encoding
from matese.mqm import LOWEST_SCORE


@dataclass(frozen=True, slots=True)
class MeaningOutput:
    """What the head says.

    Attributes:
        token_logits: (batch, hypothesis tokens), float32, that a token belongs to an error of meaning.
        segment_logits: (batch,), float32, that the segment has an error of meaning.
    """

    token_logits: Tensor
    segment_logits: Tensor


class MeaningHead(HeadNetwork):
    """Says "meaning", and lowers the score and changes the tags of a segment with an error of meaning.

    It has a transformer layer of its own on the encoder, and learns from contrasts only: texts with the same meaning in
    other words, and close texts with an error of meaning.
    """

    @classmethod
    def of(cls, config: ModelConfig, width: int, inner: int | None) -> MeaningHead:
        """Returns the head with random weights."""
        return cls(width, config.extra_heads, config.dropout, inner)

    def __init__(self, width: int, n_heads: int, dropout: float, inner: int | None = None) -> None:
        """Initialises the weights at random; see `ExtraLayer` for the arguments."""
        super().__init__()
        self.layer = ExtraLayer(width, n_heads, dropout, inner)
        self.tokens = nn.Linear(width, 1)
        nn.init.constant_(self.tokens.bias, -2.0)
        self.segment = nn.Sequential(nn.Linear(4 * width, width), nn.GELU(), nn.Dropout(dropout), nn.Linear(width, 1))

    def forward(self, states: States, outputs: Outputs) -> Outputs:
        """Returns the logits and, in prediction with thresholds, the changed tags and score."""
        batch = states.batch
        read = self.layer(states.encoded, batch.mask)
        hypothesis = pooling.of_hypothesis(read, batch.positions)
        with pooling.in_full(read):
            hypothesis = hypothesis.float()
            read = read.float()
            is_context = batch.roles > 1
            pooled = [
                pooling.mean(hypothesis, batch.hypothesis_mask),
                pooling.mean(read, is_context),
                pooling.largest(hypothesis, batch.hypothesis_mask),
                pooling.largest(read, is_context),
            ]
            meaning = MeaningOutput(self.tokens(hypothesis).squeeze(-1), self.segment(torch.cat(pooled, 1)).squeeze(-1))
            if self.training or not states.config.meaning_thresholds:
                return {"meaning": meaning}
            return {"meaning": meaning, **_changed(outputs, meaning, states)}

    @staticmethod
    def rows(output: MeaningOutput, encodings: Sequence[Encoding]) -> Sequence[None]:
        """Returns nothing: the head speaks through tags and score."""
        return [None] * len(encodings)


def _changed(outputs: Outputs, meaning: MeaningOutput, states: States) -> Outputs:
    """Returns a lower score, and words as Major, where the head exceeds its threshold.

    The score falls by up to `SHARE` of its distance from the lowest one, along a `RAMP` around the threshold.
    """
    roles = states.batch.roles
    contexts = [(roles == ROLES.index(name)).any(1) for name in ("source", "reference")]
    thresholds = torch.full_like(meaning.segment_logits, math.inf)
    for inputs, threshold in zip(states.config.inputs, states.config.meaning_thresholds, strict=True):
        is_read = [contexts[number] == (name in inputs) for number, name in enumerate(("source", "reference"))]
        thresholds = thresholds.masked_fill(is_read[0] & is_read[1], threshold)
    above = meaning.segment_logits - thresholds  # (batch,)
    share = (torch.tanh(above.clamp(min=0)).unsqueeze(1) * meaning.token_logits.sigmoid()).unsqueeze(2)
    probabilities = outputs["tags"].softmax(-1)
    major = probabilities * torch.tensor(IS_MAJOR, device=probabilities.device)
    major = major / major.sum(-1, keepdim=True)
    mixed = (1 - share) * probabilities + share * major
    changed = {"tags": mixed.clamp(min=torch.finfo(torch.float32).tiny).log()}
    if "score" in outputs:
        fall = SHARE * ((above + RAMP) / (2 * RAMP)).clamp(0, 1)
        changed["score"] = outputs["score"] + (LOWEST_SCORE - outputs["score"]) * fall
    return changed

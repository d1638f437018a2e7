"""The losses, each a mean over what is known: 0 where nothing is."""

from __future__ import annotations

import dataclasses

import torch
from torch import Tensor, nn
from torch.nn import functional

from matese.tagger.batch import IGNORED
from matese.tagger.model import TaggerOutput
from matese.tagger.tags import TAGS

_SCORE_UNIT = 5.0
"""A Major error: the unit of the score head's loss, which brings it to the size of the tags' loss."""

_MARGIN = 0.5
"""Scores nearer than half a Minor error are not put in an order."""


class Habits(nn.Module):
    """What raters of some test sets add to tags, and how they spread scores and add to them; 0 for the usual ones."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.tags = nn.Embedding(number + 1, len(TAGS), padding_idx=0)
        self.scores = nn.Embedding(number + 1, 2, padding_idx=0)
        for embedding in (self.tags, self.scores):
            nn.init.zeros_(embedding.weight)

    def forward(self, output: TaggerOutput, habits: Tensor) -> TaggerOutput:
        """Returns the output as each segment's raters would have it; `habits` is (batch,)."""
        spread, added = self.scores(habits).unbind(-1)
        score = None if output.score is None else output.score * spread.exp() + added
        return dataclasses.replace(output, tag_logits=output.tag_logits + self.tags(habits).unsqueeze(1), score=score)


def tags(logits: Tensor, tag_ids: Tensor, weights: Tensor | None, smoothing: float) -> Tensor:
    """Returns the cross-entropy of the tags.

    Args:
        logits: (batch, tokens, tags).
        tag_ids: (batch, tokens), IGNORED where there is none.
        weights: (tags,), of each tag.
        smoothing: share of the probability that is taken from the true tag.
    """
    flat = tag_ids.flatten()
    total = functional.cross_entropy(
        logits.flatten(0, 1), flat, weight=weights, ignore_index=IGNORED, label_smoothing=smoothing, reduction="sum"
    )
    known = flat != IGNORED
    weight = known.sum() if weights is None else (weights[flat.clamp(min=0)] * known).sum()
    return torch.where(known.any(), total / weight.clamp(min=torch.finfo(torch.float32).tiny), total * 0)


def scores(predicted: Tensor, gold: Tensor) -> Tensor:
    """Returns the mean squared error, in Major errors; both are (batch,), gold nan where there is none."""
    known = gold.isfinite()
    errors = ((predicted - gold.nan_to_num()) / _SCORE_UNIT).square() * known
    return errors.sum() / known.sum().clamp(min=1)


def ranking(predicted: Tensor, gold: Tensor, groups: Tensor) -> Tensor:
    """Returns the logistic loss over pairs of translations of one source (RankNet, Burges et al. 2005).

    Args:
        predicted: (batch,), scores.
        gold: (batch,), nan where there is none: pairs with one are left out.
        groups: (batch,), -1 for none.
    """
    together = (groups.unsqueeze(1) == groups.unsqueeze(0)) & (groups >= 0)
    is_better = together & (gold.unsqueeze(1) > gold.unsqueeze(0) + _MARGIN)  # nan is never greater
    losses = functional.softplus(predicted.unsqueeze(0) - predicted.unsqueeze(1))
    return (losses * is_better).sum() / is_better.sum().clamp(min=1)


def doubts(logits: Tensor, gold: Tensor) -> Tensor:
    """Returns the binary cross-entropy of what share of others does not hold each token.

    Args:
        logits: (batch, tokens).
        gold: (batch, tokens), 0 to 1, nan where it is not known.
    """
    known = gold.isfinite()
    found = functional.binary_cross_entropy_with_logits(logits.float(), gold.nan_to_num(), reduction="none")
    return (found * known).sum() / known.sum().clamp(min=1)

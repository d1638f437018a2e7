"""The training losses. Each is a mean over the known labels, and 0 without any."""

from __future__ import annotations

import dataclasses

import torch
from torch import Tensor, nn
from torch.nn import functional

from matese import mqm
from matese.mqm import LOWEST_SCORE
from matese.tagger.model import TaggerOutput
from matese.tagger.tags import B_MAJOR, B_MINOR, TAGS, O
from matese.training.targets import ANY_ERROR, IGNORED

_SCORE_UNIT = 5.0
"""MQM points by which score errors are divided, to make their loss about as large as that of the tags."""
_MARGIN = 0.5
"""Least difference between ranked scores, in MQM points: half a Minor error."""

_TRIPLET_MARGIN = 1.0
_ROUNDING = 1e-6
"""Tolerance for scores in single precision, so that a difference of exactly the gap counts."""


class RaterBias(nn.Module):
    """Adjusts the output to groups of raters who mark or score differently from the others.

    A group has one number for each tag, added to the logits, and a factor and an offset for scores. The bias is trained
    with the tagger but is not part of the model. Group 0 has no bias.
    """

    def __init__(self, n_groups: int) -> None:
        super().__init__()
        self.tags = nn.Embedding(n_groups + 1, len(TAGS), padding_idx=0)
        self.scores = nn.Embedding(n_groups + 1, 2, padding_idx=0)
        for embedding in (self.tags, self.scores):
            nn.init.zeros_(embedding.weight)

    def forward(self, output: TaggerOutput, rater_groups: Tensor) -> TaggerOutput:
        """Returns the output adjusted to the raters of each segment; `rater_groups` is (batch,)."""
        score = None if output.score is None else self.adjust(output.score, rater_groups)
        logits = output.tag_logits + self.tags(rater_groups).unsqueeze(1)
        return dataclasses.replace(output, tag_logits=logits, score=score)

    def adjust(self, scores: Tensor, rater_groups: Tensor) -> Tensor:
        """Returns MQM scores on the scale of the raters of each segment; both are (batch,)."""
        spread, offset = self.scores(rater_groups).unbind(-1)
        adjusted: Tensor = scores * spread.exp() + offset
        return adjusted


def tags(logits: Tensor, tag_ids: Tensor) -> Tensor:
    """Returns the cross-entropy of the tags.

    Args:
        logits: (batch, tokens, tags).
        tag_ids: (batch, tokens), IGNORED where unknown, ANY_ERROR where only O is ruled out.
    """
    flat, rows = tag_ids.flatten(), logits.flatten(0, 1)
    is_error = flat == ANY_ERROR
    known = flat.masked_fill(is_error, IGNORED)
    total = functional.cross_entropy(rows, known, ignore_index=IGNORED, reduction="sum")
    any_error = rows.logsumexp(-1) - rows[:, O + 1 :].logsumexp(-1)
    total = total + (any_error * is_error).sum()
    return total / (flat != IGNORED).sum().clamp(min=1)


def omissions(logits: Tensor, gold: Tensor) -> Tensor:
    """Returns the binary cross-entropy of whether the hypothesis lacks each token of the contexts.

    Args:
        logits: (batch, tokens).
        gold: (batch, tokens), 1 or 0, IGNORED where unknown.
    """
    known = gold != IGNORED
    losses = functional.binary_cross_entropy_with_logits(logits, gold.clamp(min=0).float(), reduction="none")
    return (losses * known).sum() / known.sum().clamp(min=1)


def categories(logits: Tensor, gold: Tensor, weights: Tensor | None = None) -> Tensor:
    """Returns the cross-entropy of the errors' categories; an error's logits are the mean over its tokens.

    Args:
        logits: (batch, tokens, categories).
        gold: (batch, tokens), see `Example.category_ids`.
        weights: (categories,); None for equal weights.
    """
    known, n_categories = gold != IGNORED, logits.shape[-1]
    if not known.any():
        return logits.sum() * 0
    # Two errors of one segment have different numbers.
    rows = torch.arange(len(gold), device=gold.device).unsqueeze(1)
    numbers = gold + (gold.max() // n_categories + 1) * n_categories * rows
    errors, places, counts = torch.unique(numbers[known], return_inverse=True, return_counts=True)
    totals = logits.new_zeros(len(errors), n_categories).index_add(0, places, logits[known])
    return functional.cross_entropy(totals / counts.unsqueeze(1), errors % n_categories, weights)


def tag_scores(logits: Tensor, mask: Tensor) -> Tensor:
    """Returns the expected score of the tags, which approaches the lowest MQM score: (batch,).

    With p = P(B-Minor) + 5 P(B-Major), summed over the tokens, it is -25 (1 - exp(-p / 25)); differentiable, unlike
    `matese.tagger.prediction.score_of_tags`.

    Args:
        logits: (batch, tokens, tags).
        mask: (batch, tokens), True for tokens.
    """
    begins = (logits.softmax(-1)[..., [B_MINOR, B_MAJOR]] * mask.unsqueeze(-1)).sum(1)
    penalty = mqm.MATESE.minor * begins[:, 0] + mqm.MATESE.major * begins[:, 1]
    return LOWEST_SCORE * (1 - torch.exp(penalty / LOWEST_SCORE))


def scores(predicted: Tensor, gold: Tensor) -> Tensor:
    """Returns the mean squared error of the scores, in units of a Major error.

    Args:
        predicted: (batch,).
        gold: (batch,), nan where unknown.
    """
    known = gold.isfinite()
    errors = ((predicted - gold.nan_to_num()) / _SCORE_UNIT).square() * known
    return errors.sum() / known.sum().clamp(min=1)


def ranking(predicted: Tensor, gold: Tensor, groups: Tensor) -> Tensor:
    """Returns the logistic loss over pairs of translations of one source (RankNet, Burges et al. 2005).

    Args:
        predicted: (batch,), scores.
        gold: (batch,), nan where unknown; such segments are in no pair.
        groups: (batch,), translations of one source have the same number; -1 for segments without a group.
    """
    together = (groups.unsqueeze(1) == groups.unsqueeze(0)) & (groups >= 0)
    is_better = together & (gold.unsqueeze(1) > gold.unsqueeze(0) + _MARGIN)  # nan is never greater
    losses = functional.softplus(predicted.unsqueeze(0) - predicted.unsqueeze(1))
    return (losses * is_better).sum() / is_better.sum().clamp(min=1)


def labels(logits: Tensor, label_ids: Tensor, weights: Tensor | None) -> Tensor:
    """Returns the weighted cross-entropy of the severity labels.

    Args:
        logits: (batch, tokens, labels).
        label_ids: (batch, tokens), IGNORED where unknown.
        weights: (labels,); None for equal weights.
    """
    if (label_ids == IGNORED).all():
        return logits.sum() * 0
    return functional.cross_entropy(logits.flatten(0, 1), label_ids.flatten(), weights, ignore_index=IGNORED)


def qualities(predicted: Tensor, gold: Tensor) -> Tensor:
    """Returns the mean squared error of scores.

    Args:
        predicted: (batch,).
        gold: (batch,), nan where unknown.
    """
    known = gold.isfinite()
    return ((predicted - gold.nan_to_num()).square() * known).sum() / known.sum().clamp(min=1)


def triplets(hypotheses: Tensor, anchors: Tensor, gold: Tensor, groups: Tensor, *, gap: float) -> Tensor:
    """Returns the triplet margin loss over pairs of translations of one source: Rei et al. 2020, equations 3 and 4.

    The better translation must be closer to the anchor than the worse one by a margin of 1.0, as in
    `comet/models/ranking/ranking_metric.py` of unbabel-comet.

    Args:
        hypotheses: (batch, width).
        anchors: (batch, width), the sources or the references.
        gold: (batch,), scores, nan where unknown.
        groups: (batch,), translations of one source have the same number; -1 for segments without a group.
        gap: smallest score difference of a pair.
    """
    is_better = better_pairs(gold, groups, gap=gap)
    distances = functional.pairwise_distance(hypotheses, anchors)
    costs = functional.relu(distances.unsqueeze(1) - distances.unsqueeze(0) + _TRIPLET_MARGIN)
    return (costs * is_better).sum() / is_better.sum().clamp(min=1)


def better_pairs(gold: Tensor, groups: Tensor, *, gap: float) -> Tensor:
    """Returns whether each row's translation is better than each column's: (batch, batch).

    Both must be in one group, and their scores must differ by the gap or more; a smaller difference is a tie (Ma et
    al. 2019).
    """
    together = (groups.unsqueeze(1) == groups.unsqueeze(0)) & (groups >= 0)
    difference = gold.unsqueeze(1) - gold.unsqueeze(0)  # nan is never greater
    return together & (difference > 0) & (difference >= gap - _ROUNDING)

"""Training losses that several heads share. Each is a mean over the known labels, and 0 without any."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from matese.model.heads.learning import IGNORED

_MARGIN = 0.5
"""Least difference between ranked scores, in MQM points: half a Minor error."""

_ROUNDING = 1e-6
"""Tolerance for scores in single precision, so that a difference of exactly the gap does not count."""


def scores(predicted: Tensor, gold: Tensor, *, unit: float = 1.0) -> Tensor:
    """Returns the mean squared error of the scores in a unit; both are (batch,), gold is nan where unknown."""
    is_known = gold.isfinite()
    errors = ((predicted - gold.nan_to_num()) / unit).square() * is_known
    return errors.sum() / is_known.sum().clamp(min=1)


def ranking(predicted: Tensor, gold: Tensor, groups: Tensor) -> Tensor:
    """Returns the logistic loss over pairs of translations of one source (RankNet, Burges et al. 2005).

    Takes scores, gold scores and groups as `better_pairs`.
    """
    is_better = _together(groups) & (gold.unsqueeze(1) > gold.unsqueeze(0) + _MARGIN)  # nan is never greater
    losses = functional.softplus(predicted.unsqueeze(0) - predicted.unsqueeze(1))
    return (losses * is_better).sum() / is_better.sum().clamp(min=1)


def differences(predicted: Tensor, gold: Tensor, groups: Tensor, *, unit: float = 1.0) -> Tensor:
    """Returns the mean squared error of the differences between scores of translations of one source, in a unit.

    Takes scores, gold scores and groups as `better_pairs`.
    """
    is_known = gold.isfinite()
    is_pair = (_together(groups) & is_known.unsqueeze(1) & is_known.unsqueeze(0)).triu(1)
    gold = gold.nan_to_num()
    errors = (predicted.unsqueeze(1) - predicted.unsqueeze(0)) - (gold.unsqueeze(1) - gold.unsqueeze(0))
    return ((errors / unit).square() * is_pair).sum() / is_pair.sum().clamp(min=1)


def binary(logits: Tensor, gold: Tensor) -> Tensor:
    """Returns the mean binary cross-entropy of logits; gold is 0 or 1, of the same shape, nan or IGNORED if unknown."""
    is_known = gold.isfinite() & (gold != IGNORED)
    targets = torch.where(is_known, gold.float(), 0.0)
    errors = functional.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    return (errors * is_known).sum() / is_known.sum().clamp(min=1)


def better_pairs(gold: Tensor, groups: Tensor, *, gap: float) -> Tensor:
    """Returns whether each row's translation is better than each column's: (batch, batch).

    Both must be in one group, and their scores must differ by more than the gap; any other difference is a tie (Ma et
    al. 2019, Table 1). Scores are (batch,), nan where unknown; translations of one source have the same group,
    (batch,), which is -1 for segments without one.
    """
    difference = gold.unsqueeze(1) - gold.unsqueeze(0)  # nan is never greater
    return _together(groups) & (difference > gap + _ROUNDING)


def _together(groups: Tensor) -> Tensor:
    """Returns whether each row and each column are in one group: (batch, batch)."""
    return (groups.unsqueeze(1) == groups.unsqueeze(0)) & (groups >= 0)

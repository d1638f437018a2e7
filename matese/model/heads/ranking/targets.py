"""What ranking models learn: the order of translations of one source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from matese.model.heads.learning import LossInputs, vectors_of
from matese.model.heads.losses import better_pairs
from matese.model.heads.quality.network import RowVectors
from matese.model.heads.quality.targets import QualityTargets

_MARGIN = 1.0


class RankingTargets(QualityTargets):
    """Learns the order of "scores": (segments,), float32, see `gold_scores.quality_of`; nan where unknown."""

    name = "ranking"

    def weights(self, training: Any) -> Mapping[str, float]:  # noqa: ANN401
        """Returns 1."""
        return {"triplet": 1.0}

    def losses(self, output: RowVectors, targets: Mapping[str, Tensor], batch: LossInputs) -> Mapping[str, Tensor]:
        """Returns the triplet loss with the other texts as anchors."""
        hypotheses, *anchors = vectors_of(output.values, batch.shares)
        gap = batch.training.pair_gap
        each = [triplets(hypotheses, anchor, targets["scores"], batch.groups, gap=gap) for anchor in anchors]
        return {"triplet": torch.stack(each).sum()}


def triplets(hypotheses: Tensor, anchors: Tensor, gold: Tensor, groups: Tensor, *, gap: float) -> Tensor:
    """Returns the triplet margin loss over pairs of translations of one source: Rei et al. 2020, equations 3 and 4.

    The better translation must be closer to the anchor, its source or reference, than the worse one by a margin of 1.0,
    as in `comet/models/ranking/ranking_metric.py` of unbabel-comet. Hypotheses and anchors are (batch, width).
    """
    is_better = better_pairs(gold, groups, gap=gap)
    distances = functional.pairwise_distance(hypotheses, anchors)
    costs = functional.relu(distances.unsqueeze(1) - distances.unsqueeze(0) + _MARGIN)
    return (costs * is_better).sum() / is_better.sum().clamp(min=1)

"""What the expected score learns."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from matese.annotation import Rating
from matese.model.heads import losses
from matese.model.heads.gold_scores import has_score, score_of
from matese.model.heads.learning import ExampleWindow, HeadTargets, LabelColumns, LossInputs
from matese.model.heads.score.network import ScoreTensor
from matese.model.texts.encoding import Encoding, Tokens

SCORE_UNIT = 5.0
"""MQM points by which score errors are divided, to make their loss about as large as that of the tags."""


class ScoreTargets(HeadTargets):
    """Learns "scores": (batch,), float32, MQM scores, nan where unknown."""

    name = "score"
    output = ScoreTensor

    def judges(self, rating: Rating) -> bool:
        """Whether the whole segment was judged on a scale that can be mapped to MQM."""
        return has_score(rating)

    def columns(self, ratings: Sequence[Rating], tokens: Mapping[str, Tokens], skipped: Counter[str]) -> LabelColumns:
        """Returns the score of each segment."""
        return {"scores": np.array(list(map(score_of, ratings)), dtype=np.float32)}

    def missing(self, columns: LabelColumns) -> str | None:
        """Returns what is missing if no segment has a score."""
        return None if np.isfinite(columns["scores"]).any() else "no rating has a score"

    def example(self, columns: LabelColumns, place: ExampleWindow) -> Mapping[str, Any]:
        """Returns the score; nan for a window of a long text."""
        return {"scores": float(columns["scores"][place.segment]) if place.is_whole else math.nan}

    def collate(self, examples: Sequence[Mapping[str, Any]], encodings: Sequence[Encoding]) -> Mapping[str, Tensor]:
        """Returns the scores."""
        return {"scores": torch.tensor([example["scores"] for example in examples], dtype=torch.float32)}

    def weights(self, training: Any) -> Mapping[str, float]:  # noqa: ANN401
        """Returns the weights of the settings."""
        weights = {"score": training.score_loss_weight, "ranking": training.ranking_loss_weight}
        if training.difference_loss_weight:
            weights["difference"] = training.difference_loss_weight
        return weights

    def losses(self, output: ScoreTensor, targets: Mapping[str, Tensor], batch: LossInputs) -> Mapping[str, Tensor]:
        """Returns the losses of the scores, and of their order and differences among translations of one source."""
        gold = targets["scores"]
        parts = {
            "score": losses.scores(output.values, gold, unit=SCORE_UNIT),
            "ranking": losses.ranking(output.values, gold, batch.groups),
        }
        if batch.training.difference_loss_weight:
            parts["difference"] = losses.differences(output.values, gold, batch.groups, unit=SCORE_UNIT)
        return parts

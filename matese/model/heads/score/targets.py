"""What the expected score learns, and the quality that models of the COMET family learn."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from matese import mqm
from matese.annotation import Rating
from matese.model.heads import losses
from matese.model.heads.learning import Columns, HeadTargets, LossInputs, Place
from matese.model.texts.encoding import Encoding, Tokens
from matese.mqm import LOWEST_SCORE

SCORE_UNIT = 5.0
"""MQM points by which score errors are divided, to make their loss about as large as that of the tags."""
_SHARE_LOST: Mapping[str, Callable[[float], float]] = {
    "0-1": lambda value: 1 - value,
    "esa": lambda value: 1 - value / 100,
    "da": lambda value: 1 - value / 100,
    "hter": lambda value: value,
}
"""For each bounded scale, the distance of a value from the best one: 0 (best) to 1 (worst)."""


class ScoreTargets(HeadTargets):
    """Learns "scores": (batch,), float32, MQM scores, nan where unknown."""

    name = "score"

    def judges(self, rating: Rating) -> bool:
        """Whether the whole segment was judged on a scale that can be mapped to MQM."""
        return has_score(rating)

    def columns(self, ratings: Sequence[Rating], tokens: Mapping[str, Tokens], skipped: Counter[str]) -> Columns:
        """Returns the score of each segment; unknown in contrasts."""
        scores = [math.nan if rating.rater in self.contrast_raters else score_of(rating) for rating in ratings]
        return {"scores": np.array(scores, dtype=np.float32)}

    def example(self, columns: Columns, place: Place) -> Mapping[str, Any]:
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

    def losses(self, output: Tensor, targets: Mapping[str, Tensor], batch: LossInputs) -> Mapping[str, Tensor]:
        """Returns the losses of the scores, and of their order and differences among translations of one source."""
        gold = targets["scores"]
        parts = {
            "score": losses.scores(output, gold, unit=SCORE_UNIT),
            "ranking": losses.ranking(output, gold, batch.groups),
        }
        if batch.training.difference_loss_weight:
            parts["difference"] = losses.differences(output, gold, batch.groups, unit=SCORE_UNIT)
        return parts


class QualityTargets(HeadTargets):
    """Learns the scores of a model of the COMET family, see `quality_of`."""

    name = "quality"

    def judges(self, rating: Rating) -> bool:
        """Whether the whole segment was judged on a scale that `quality_of` supports."""
        return has_quality(rating)

    def columns(self, ratings: Sequence[Rating], tokens: Mapping[str, Tokens], skipped: Counter[str]) -> Columns:
        """Returns the quality of each segment."""
        return {"scores": np.array(list(map(quality_of, ratings)), dtype=np.float32)}


def has_score(rating: Rating) -> bool:
    """Whether the whole segment was judged, by a person or a model, on a scale that can be mapped to MQM."""
    return rating.whole is not None and (rating.whole.scale == "mqm" or rating.whole.scale in _SHARE_LOST)


def score_of(rating: Rating) -> float:
    """Returns the MQM score to train on: the judgement of the whole segment if there is one, else the spans' score.

    It is nan if the severity of a span is undecided and the whole segment was not judged.

    The judgement comes first because the merged spans of several raters are a union, with more errors than any rater
    marked, whereas `overall` is the mean of the raters' scores. Other bounded scales are mapped linearly to MQM.
    """
    whole = rating.whole
    if whole is not None and whole.scale == "mqm":
        score = whole.value
    elif whole is not None and whole.scale in _SHARE_LOST:
        score = LOWEST_SCORE * _SHARE_LOST[whole.scale](whole.value)
    elif any(span.severity is None for span in rating.errors or ()):
        return math.nan
    else:
        score = mqm.score(rating)
    return max(score, LOWEST_SCORE)


def quality_of(rating: Rating) -> float:
    """Returns the quality that a regression model learns: from 0 (worst) to 1 (best), but z-scores unchanged.

    Scores of released models ("comet") are also unchanged. nan as in `score_of`.
    """
    whole = rating.whole
    if whole is not None and whole.scale in ("z", "comet"):
        return whole.value
    return 1 - score_of(rating) / LOWEST_SCORE


def has_quality(rating: Rating) -> bool:
    """Whether the whole segment was judged, on a scale that `quality_of` supports."""
    return has_score(rating) or (rating.whole is not None and rating.whole.scale in ("z", "comet"))

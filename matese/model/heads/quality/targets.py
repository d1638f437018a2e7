"""What models of the COMET family learn of a whole segment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from matese.annotation import Rating
from matese.model.heads import losses
from matese.model.heads.gold_scores import has_quality, quality_of
from matese.model.heads.learning import HeadTargets, LabelColumns, LossInputs, vectors_of
from matese.model.heads.quality.network import RowVectors
from matese.model.texts.encoding import Tokens


class QualityTargets(HeadTargets):
    """Learns "scores": (segments,), float32, see `gold_scores.quality_of`; nan where unknown."""

    name = "quality"
    output = RowVectors
    reads_segments = True

    def judges(self, rating: Rating) -> bool:
        """Whether the whole segment was judged on a scale that `quality_of` supports."""
        return has_quality(rating)

    def columns(self, ratings: Sequence[Rating], tokens: Mapping[str, Tokens], skipped: Counter[str]) -> LabelColumns:
        """Returns the quality of each segment."""
        return {"scores": np.array(list(map(quality_of, ratings)), dtype=np.float32)}

    def of_segments(self, columns: LabelColumns, segments: Sequence[int]) -> Mapping[str, Tensor]:
        """Returns the qualities."""
        return {"scores": torch.from_numpy(columns["scores"][list(segments)])}

    def weights(self, training: Any) -> Mapping[str, float]:  # noqa: ANN401
        """Returns the weight of the settings."""
        return {"score": training.score_loss_weight}

    def losses(self, output: RowVectors, targets: Mapping[str, Tensor], batch: LossInputs) -> Mapping[str, Tensor]:
        """Returns the mean squared error of the segments' scores."""
        predicted = batch.score(vectors_of(output.values, batch.shares))
        return {"score": losses.scores(predicted, targets["scores"])}

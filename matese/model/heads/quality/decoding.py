"""Quality: a number for each reading, from the scores of its rows or from the embeddings of its texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from matese.model.arrays import Floats
from matese.model.config import ModelConfig
from matese.model.decoding import Decoding
from matese.model.heads.head import Combine, Head, Said
from matese.model.heads.word_labels import decoding as word_labels
from matese.model.heads.word_labels.decoding import LabelProbabilities
from matese.model.model_input import Row
from matese.model.prediction import Outputs, Prediction


@dataclass(frozen=True, slots=True)
class RowVector:
    """What a head says that reads one vector a row.

    Attributes:
        values: (1,), a score; or (width,), the embedding of a text that is read alone.
    """

    values: Floats


class Quality(Head):
    """Says the score of a row, or the embedding of a text that is read alone; then the score of a reading."""

    name = "quality"
    part = "quality_head"
    output = RowVector
    is_main = True
    reads_special_tokens = True
    has_numpy = False
    digits = 6

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        if config.texts.row_format == "special-tokens":  # others are MetricX, whose scores are MQM's
            self.scale = "comet"
        settings = config.heads.quality
        self._score_weights = None if settings is None else settings.score_weights
        # The weights are those of an xCOMET.
        self.scoring = config.architecture + "+".join(f"{weight:g}" for weight in self._score_weights or ())

    def join(self, row: Row, parts: Said[RowVector], whole: Said[RowVector]) -> RowVector:
        """Returns the mean vector, weighted by the number of kept tokens, in float32."""
        if len(whole) == 1:
            return whole[0][1]
        shares = np.array([encoding.kept[1] - encoding.kept[0] for encoding, _ in whole], np.float64)
        vectors = np.stack([said.values for _, said in whole])  # (windows, n)
        return RowVector((vectors * (shares / shares.sum())[:, None]).sum(0).astype(np.float32))

    def over_rows(
        self,
        readings: Sequence[Sequence[Prediction]],
        before: Sequence[Outputs],
        *,
        decoding: Decoding,
        combine: Combine | None,
    ) -> Sequence[RowVector]:
        """Returns the score of each reading."""
        if self.config.texts.layout == "alone":
            assert combine is not None
            roles = ("hypothesis", *self.config.texts.inputs[0].split("+"))
            texts = {
                role: np.stack([text.outputs[RowVector].values for text in column])
                for role, column in zip(roles, zip(*readings, strict=True), strict=True)
            }
            return [_of_score(score) for score in combine(texts).tolist()]
        if self._score_weights is None:
            return [self.mean([row.outputs[RowVector] for row in rows]) for rows in readings]
        assert self.config.heads.word_labels is not None
        severities = self.config.heads.word_labels.severities
        weighted = []
        for rows, said in zip(readings, before, strict=True):
            labels = word_labels.choose_labels(said[LabelProbabilities].values, decoding.min_confidence)
            scores = [self.expected_score(row.outputs[RowVector]) for row in rows]
            weighted.append(_weighted(scores, word_labels.mqm_score(labels, severities), self._score_weights))
        return [_of_score(score) for score in weighted]

    def mean(self, outputs: Sequence[RowVector]) -> RowVector:
        """Returns the mean score."""
        return _of_score(math.fsum(map(self.expected_score, outputs)) / len(outputs))

    def expected_score(self, output: RowVector) -> float:
        """Returns the score itself."""
        return float(output.values[0])


def _of_score(score: float) -> RowVector:
    return RowVector(np.array([score]))


def _weighted(scores: Sequence[float], of_marks: float, weights: Sequence[float]) -> float:
    """Returns xCOMET's score: the weighted sum of the rows' scores and the score of the marked errors.

    `predict_step` in `comet/models/multitask/unified_metric.py` and `xcomet_metric.py` of unbabel-comet 2.2.7.
    """
    *of_rows, of_mqm = weights
    if len(scores) == 1:
        of_rows = [math.fsum(of_rows)]
    bounded = [min(score, 1.0) for score in scores]
    return math.fsum([of_mqm * of_marks, *(w * score for w, score in zip(of_rows, bounded, strict=True))])

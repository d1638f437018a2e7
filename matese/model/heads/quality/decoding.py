"""Quality: a number for each reading, from the scores of its rows or from the embeddings of its texts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matese.annotation import Scale
from matese.model.heads import embeddings
from matese.model.heads.head import Combine, Head
from matese.model.heads.word_labels import decoding as word_labels
from matese.model.model_input import Row
from matese.model.options import Options
from matese.model.prediction import FloatArray, Prediction
from matese.model.texts.encoding import Encoding


class Quality(Head):
    """Says the score of a row, (1,), or the embedding of a text that is read alone, (width,)."""

    name = "quality"
    part = "quality_head"
    is_main = True
    reads_special_tokens = True
    has_numpy = False
    digits = 6

    @property
    def scale(self) -> Scale:
        """The scale of released models: of MetricX, that of MQM; else that of COMET."""
        return "comet" if self.config.row_format == "special-tokens" else "mqm"

    def join(self, row: Row, windows: Sequence[tuple[Encoding, FloatArray]]) -> FloatArray:
        """Returns the mean vector, weighted by the number of kept tokens."""
        return embeddings.joined(windows)

    def over_rows(
        self,
        readings: Sequence[Sequence[Prediction]],
        before: Mapping[str, Sequence[Any]],
        *,
        options: Options,
        combine: Combine | None,
    ) -> Sequence[float]:
        """Returns the score of each reading."""
        if self.config.layout == "alone":
            return embeddings.scores(self.name, readings, self.config, combine)
        scores = [[float(row.outputs[self.name][0]) for row in rows] for rows in readings]
        if self.config.score_weights is None:
            return [self.mean(of_rows) for of_rows in scores]
        marked = [
            word_labels.mqm_score(
                word_labels.choose_labels(probabilities, options.min_confidence), self.config.severities
            )
            for probabilities in before["word_labels"]
        ]
        return [_weighted(*pair, self.config.score_weights) for pair in zip(scores, marked, strict=True)]

    def mean(self, outputs: Sequence[float]) -> float:
        """Returns the mean score."""
        return math.fsum(outputs) / len(outputs)

    def expected_score(self, output: float) -> float:
        """Returns the score itself."""
        return output

    def scoring(self) -> str:
        """Returns the kind of model, with the weights of an xCOMET."""
        return self.config.architecture + "+".join(f"{weight:g}" for weight in self.config.score_weights or ())


def _weighted(scores: Sequence[float], of_marks: float, weights: Sequence[float]) -> float:
    """Returns xCOMET's score: the weighted sum of the rows' scores and the score of the marked errors.

    `predict_step` in `comet/models/multitask/unified_metric.py` and `xcomet_metric.py` of unbabel-comet 2.2.7.
    """
    *of_rows, of_mqm = weights
    if len(scores) == 1:
        of_rows = [math.fsum(of_rows)]
    bounded = [min(score, 1.0) for score in scores]
    return math.fsum([of_mqm * of_marks, *(w * score for w, score in zip(of_rows, bounded, strict=True))])

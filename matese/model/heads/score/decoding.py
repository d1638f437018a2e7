"""The expected score: a number for each row."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from matese.model.encoder.numpy_layers import Tensors, dense, gelu, mean
from matese.model.heads.head import Head, NumpyHead, Outputs, RowStates
from matese.model.model_input import Row
from matese.model.prediction import check_numbers
from matese.model.texts.encoding import Encoding
from matese.mqm import LOWEST_SCORE

_LARGEST_EXPONENT = 700.0
"""Just below the largest x for which a float can hold exp(x)."""


class Score(Head):
    """Says the expected score."""

    name = "score"
    part = "score_head"
    is_calibrated = True

    def layers(self, tensors: Tensors, width: int) -> NumpyHead:
        """Returns the head in numpy."""
        has_contexts = self.config.score_pooling == "texts"
        inner = dense(tensors, "score_head.0", (2 if has_contexts else 1) * width, width)
        outer = dense(tensors, "score_head.3", width, 1)

        def compute(states: RowStates, outputs: Outputs) -> Outputs:
            pooled = mean(states.final[states.hypothesis])
            if has_contexts:
                pooled = np.concatenate([pooled, mean(states.final[states.encoding.roles > 1])])
            (logit,) = outer(gelu(inner(pooled))).tolist()
            return {"score": LOWEST_SCORE / (1 + math.exp(min(-logit - states.similarity, _LARGEST_EXPONENT)))}

        return compute

    def join(self, row: Row, windows: Sequence[tuple[Encoding, float]]) -> float:
        """Returns the sum of the windows' scores, each weighted by the kept share of its tokens."""
        for _, score in windows:
            check_numbers(score)
        if len(windows) == 1:
            return windows[0][1]
        shares = [(encoding.kept[1] - encoding.kept[0]) / len(encoding.ranges) for encoding, _ in windows]
        total = math.fsum(score * share for (_, score), share in zip(windows, shares, strict=True))
        return max(total, LOWEST_SCORE)

    def mean(self, outputs: Sequence[float]) -> float:
        """Returns the mean score."""
        return math.fsum(outputs) / len(outputs)

    def expected_score(self, output: float) -> float:
        """Returns the score itself."""
        return output

    def scoring(self) -> str:
        """Returns the name of this way to score."""
        return "head"

    def of_copy(self, output: float) -> float:
        """Returns the highest score."""
        return 0.0

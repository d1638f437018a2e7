"""The score of a ranking model: how close the embeddings of a reading's texts are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matese.model.config import AnyConfig, RegressionConfig
from matese.model.heads import embeddings
from matese.model.heads.head import Combine, Head
from matese.model.model_input import Row
from matese.model.options import Options
from matese.model.prediction import FloatArray, Prediction
from matese.model.texts.encoding import Encoding


class Ranking(Head):
    """Says the embedding of a text: (width,)."""

    name = "ranking"
    part = "ranking"
    of_models = RegressionConfig
    config: RegressionConfig

    @classmethod
    def is_in(cls, config: AnyConfig) -> bool:
        """Whether a model with these settings has the head."""
        return isinstance(config, RegressionConfig) and config.architecture == "ranking"

    def join(self, row: Row, windows: Sequence[tuple[Encoding, FloatArray]]) -> FloatArray:
        """Returns the mean embedding, weighted by the number of kept tokens."""
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
        return embeddings.scores(self.name, readings, self.config, combine)

    def mean(self, outputs: Sequence[float]) -> float:
        """Returns the mean score."""
        return math.fsum(outputs) / len(outputs)

    def expected_score(self, output: float) -> float:
        """Returns the score itself."""
        return output

    def scoring(self) -> str:
        """Returns the name of this way to score."""
        return "ranking"

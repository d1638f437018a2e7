"""Scores of the COMET family: from windows to rows and from rows to readings."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from matese.annotation import Severity
from matese.model.arrays import Floats
from matese.model.config import ModelConfig
from matese.model.decoding import Decoding
from matese.model.heads.quality.decoding import Quality, RowVector
from matese.model.heads.ranking.decoding import Ranking
from matese.model.heads.word_labels.decoding import LabelProbabilities
from matese.model.model_input import Row
from matese.model.prediction import Outputs, Prediction
from matese.model.texts.encoding import Encoding
from tests.conftest import make_config

DECODING = Decoding(min_confidence=None)
NO_ERROR = np.array([(0.9, 0.1)] * 3)
MAJOR_ERROR = np.array([(0.9, 0.1), (0.2, 0.8), (0.9, 0.1)])  # costs 5 of 25
WORDS = {"layer": 1, "severities": (Severity.MAJOR,)}
ESTIMATOR = make_config(inputs=("source+reference",), layout="alone", quality={})
RANKING = make_config(inputs=("source+reference",), layout="alone", ranking={})
WEIGHTS = (0.125, 0.25, 0.125, 0.5)


def prediction(*vector: float) -> Prediction:
    said = RowVector(np.array(vector, np.float32))
    return Prediction("x", np.zeros((1, 2), np.int32), Outputs.of([said]))


def window(n_kept: int) -> Encoding:
    ids = np.zeros(9, np.int32)
    return Encoding(ids, ids, None, 1, np.zeros((7, 2), np.int32), (0, n_kept))


@pytest.mark.parametrize(
    ("windows", "expected"),
    [([(5, [1, 2])], [1, 2]), ([(6, [1, 2]), (2, [5, 6])], [2, 3]), ([(1, [0, 0]), (0, [9, 9])], [0, 0])],
)
def test_windows_count_by_what_is_kept_of_them(windows: list[tuple[int, list[int]]], expected: list[int]) -> None:
    outputs = [(window(n_kept), RowVector(np.array(vector, np.float32))) for n_kept, vector in windows]
    for head in (Quality, Ranking):
        joined = head(RANKING).join(Row(("x",)), outputs, outputs).values
        assert joined.tolist() == expected
        assert joined.dtype == np.float32


@pytest.mark.parametrize(
    ("weights", "rows", "labels", "expected"),
    [
        (None, [0.5], NO_ERROR, 0.5),
        (None, [0.5, 1.5, 1.0], MAJOR_ERROR, 1.0),
        (WEIGHTS, [0.5, 0.75, 1.0], NO_ERROR, 0.125 * 0.5 + 0.25 * 0.75 + 0.125 + 0.5),
        (WEIGHTS, [0.5, 0.75, 9.0], MAJOR_ERROR, 0.125 * 0.5 + 0.25 * 0.75 + 0.125 + 0.5 * 0.8),  # at most 1
        (WEIGHTS, [0.5], MAJOR_ERROR, 0.5 * 0.5 + 0.5 * 0.8),
    ],
)
def test_rows_of_a_unified_model(
    weights: tuple[float, float, float, float] | None, rows: list[float], labels: Floats, expected: float
) -> None:
    config = make_config(inputs=("source+reference",), quality={"score_weights": weights}, word_labels=WORDS)
    reading = [prediction(score) for score in rows]
    before = [Outputs.of([LabelProbabilities(labels)])]
    (score,) = Quality(config).over_rows([reading], before, decoding=DECODING, combine=None)
    assert score.values.tolist() == pytest.approx([expected])


@pytest.mark.parametrize(("head", "config"), [(Quality, ESTIMATOR), (Ranking, RANKING)])
def test_embeddings_are_scored_together_by_role(head: type[Quality | Ranking], config: ModelConfig) -> None:
    def combine(texts: Mapping[str, Floats]) -> Floats:
        assert [texts[role].tolist() for role in ("hypothesis", "source", "reference")] == [
            [[1], [4]],
            [[2], [5]],
            [[3], [6]],
        ]
        return np.array([0.25, 0.75])

    readings = [[prediction(number) for number in numbers] for numbers in ((1, 2, 3), (4, 5, 6))]
    scores = head(config).over_rows(readings, [Outputs()] * 2, decoding=DECODING, combine=combine)
    assert [score.values.tolist() for score in scores] == [[0.25], [0.75]]

"""From labels to spans: exact places, severities apart, and xCOMET's own count."""

from __future__ import annotations

import numpy as np
import pytest

from matese.annotation import ErrorSpan, Severity
from matese.model.arrays import Floats
from matese.model.decoding import Decoding
from matese.model.heads.word_labels import decoding as word_labels
from matese.model.heads.word_labels.decoding import LabelProbabilities
from matese.model.prediction import Outputs, Prediction

SEVERITIES = (Severity.MINOR, Severity.MAJOR, Severity.CRITICAL)
TEXT = "Ein altes Haus"
RANGES = np.array([(0, 0), (0, 3), (4, 7), (7, 9), (10, 14), (0, 0)], np.int32)


def find(probabilities: Floats, *, whole_words: bool = False) -> tuple[ErrorSpan, ...]:
    prediction = Prediction(TEXT, RANGES, Outputs.of([LabelProbabilities(probabilities)]))
    return word_labels.find(prediction, SEVERITIES, Decoding(min_confidence=None, whole_words=whole_words))


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([0, 0, 0, 0, 0, 0], []),
        ([1, 0, 0, 0, 0, 1], []),
        ([0, 1, 0, 0, 0, 0], [("Ein", "minor")]),
        ([0, 1, 1, 1, 1, 1], [("Ein altes Haus", "minor")]),
        ([0, 0, 1, 2, 3, 0], [("alt", "minor"), ("es", "major"), ("Haus", "critical")]),
        ([2, 2, 0, 0, 3, 3], [("Ein", "major"), ("Haus", "critical")]),
    ],
)
def test_tokens_of_one_severity_are_a_span(labels: list[int], expected: list[tuple[str, str]]) -> None:
    probabilities = 0.1 + 0.6 * np.eye(4)[labels]
    spans = find(probabilities)
    assert [(TEXT[span.start : span.end], span.severity and span.severity.value) for span in spans] == expected
    assert {span.confidence for span in spans} <= {0.7}


def test_whole_words_do_not_overlap() -> None:
    probabilities = np.eye(4)[[0, 0, 1, 2, 0, 0]]
    (span,) = find(probabilities, whole_words=True)
    assert (span.start, span.end, span.severity) == (4, 9, Severity.MINOR)


@pytest.mark.parametrize(
    ("threshold", "expected"), [(None, [0, 2, 1]), (0.3, [2, 2, 1]), (0.65, [0, 0, 1]), (0.9, [0, 0, 0])]
)
def test_labels_by_threshold(threshold: float | None, expected: list[int]) -> None:
    probabilities = np.array([[0.6, 0.1, 0.2, 0.1], [0.4, 0.1, 0.5, 0.0], [0.2, 0.5, 0.2, 0.1]])
    assert word_labels.choose_labels(probabilities, threshold) == expected


@pytest.mark.parametrize(
    ("labels", "penalty"),
    [
        ([], 0),
        ([0, 1, 0], 1),
        ([0, 1, 2, 3, 0], 1),  # the first severity of a run counts
        ([3, 0, 2, 0, 1, 0], 16),
        ([0, 2, 2], 0),  # open at the end
        ([3, 0] * 4, 25),
    ],
)
def test_the_score_of_marks_is_that_of_unbabel_comet(labels: list[int], penalty: int) -> None:
    assert word_labels.mqm_score(labels, SEVERITIES) == pytest.approx((25 - penalty) / 25)

"""Precision and recall of decisions at every threshold of a score."""

from __future__ import annotations

import math

import numpy as np
import pytest

from matese.evaluation.statistics import pass_fail


def test_no_scores_have_no_curve() -> None:
    assert pass_fail.curve(np.zeros(0, bool), np.zeros(0)) == ()
    assert pass_fail.best(()) is None


def test_nothing_is_good() -> None:
    (point,) = pass_fail.curve(np.array([False, False]), np.array([1.0, 1.0]))
    assert (point.precision, point.passed) == (0, 1)
    assert math.isnan(point.recall)
    assert pass_fail.best((point,)) is None


def test_a_curve_agrees_with_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(5)
    is_good, scores = rng.random(80) < 0.4, rng.integers(0, 15, 80) / 3
    precision, recall, thresholds = metrics.precision_recall_curve(is_good, scores)
    points = pass_fail.curve(is_good, scores)[::-1]
    assert [point.threshold for point in points] == thresholds.tolist()
    assert [point.precision for point in points] == pytest.approx(precision[:-1].tolist())
    assert [point.recall for point in points] == pytest.approx(recall[:-1].tolist())
    best = pass_fail.best(points)
    assert best is not None
    assert best.f1 == pytest.approx(max(metrics.f1_score(is_good, scores >= one) for one in thresholds))

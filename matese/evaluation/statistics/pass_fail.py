"""Scores as decisions: precision and recall of "good enough" at every threshold of a score.

A translation is good if its human score reaches a threshold, and passes if its metric score reaches another one.
Perrella et al. 2024 ("Beyond Correlation", arXiv 2410.05183) evaluate metrics as filters of data in this way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matese.evaluation.statistics.arrays import BoolArray, FloatArray


@dataclass(frozen=True, slots=True)
class PassPoint:
    """The decisions at one threshold.

    Attributes:
        threshold: least score of a translation that passes.
        passed: share of the translations that pass.
        precision: share of those that pass that are good.
        recall: share of the good ones that pass; NaN if none is good.
        f1: harmonic mean of both.
    """

    threshold: float
    passed: float
    precision: float
    recall: float
    f1: float


def curve(is_good: BoolArray, scores: FloatArray) -> tuple[PassPoint, ...]:
    """Returns the decisions at every threshold that occurs among the scores, the highest first. Shape: (scores,) twice.

    >>> points = curve(np.array([True, False, False, True]), np.array([3.0, 2.0, 1.0, 1.0]))
    >>> [(point.threshold, point.precision, point.recall) for point in points]
    [(3.0, 1.0, 0.5), (2.0, 0.5, 0.5), (1.0, 0.5, 1.0)]
    """
    order = np.argsort(-scores, kind="stable")
    ordered, hits = scores[order], np.cumsum(is_good[order])
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True)) if len(ordered) else np.zeros(0, np.int64)
    n_good = int(is_good.sum())
    return tuple(_point(float(ordered[place]), int(hits[place]), int(place) + 1, n_good, len(scores)) for place in last)


def best(points: tuple[PassPoint, ...]) -> PassPoint | None:
    """Returns the point with the highest F1; None if no translation is good, or there are none."""
    defined = [point for point in points if point.f1 == point.f1]
    return max(defined, key=lambda point: point.f1, default=None)


def _point(threshold: float, n_hits: int, n_passed: int, n_good: int, n: int) -> PassPoint:
    recall = n_hits / n_good if n_good else float("nan")
    f1 = 2 * n_hits / (n_passed + n_good) if n_good else float("nan")
    return PassPoint(threshold, n_passed / n, n_hits / n_passed, recall, f1)

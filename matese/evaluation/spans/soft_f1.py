"""SoftF1: precision, recall and F1 that also credit a prediction without a common character for being nearly empty.

Lyu et al. 2025 (arXiv 2512.07540, section 4.2; eps as in vlaks425/MBR-ESD, softf1.py). Each character has a severity:
1 if a Major span covers it, plus 0.5 if a Minor span does. With D the sum over the characters of the distance between
both sides, L the number of characters, and S the sum of the severities of a side, precision is 1 - D / (L + S + 1) with
the S of the prediction, and recall is the same with that of the gold standard. F1 is their harmonic mean. All three are
means over the segments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from matese.annotation import ErrorSpan, Severity
from matese.annotation.severities import MINOR_MAJOR
from matese.evaluation.spans import character_f1
from matese.evaluation.spans.rating_pairs import RatingPair
from matese.evaluation.statistics import arrays
from matese.evaluation.statistics.arrays import FloatArray
from matese.evaluation.statistics.bootstrap import AdditiveStatistic

_SEVERITIES = np.array([{Severity.MINOR: 0.5, Severity.MAJOR: 1.0}[severity] for severity in MINOR_MAJOR])
_EPS = 1.0
"""Keeps the figures of an empty translation defined."""


def statistic(pairs: Sequence[RatingPair]) -> AdditiveStatistic:
    """Returns the figures `soft.precision`, `soft.recall` and `soft.f1`."""
    precision, recall = np.array([_rates(pair) for pair in pairs]).T
    columns = arrays.rates("soft", precision, recall)

    def figures(sums: FloatArray) -> Mapping[str, FloatArray]:
        n, *totals = sums.T
        return {name: arrays.divide(total, n) for name, total in zip(columns, totals, strict=True)}

    return AdditiveStatistic(np.stack([np.ones(len(pairs)), *columns.values()], axis=1), figures)


def _rates(pair: RatingPair) -> tuple[float, float]:
    n_characters = len(pair.gold.segment.hypothesis)
    gold = _severities(pair.gold_spans, n_characters)
    predicted = _severities(pair.predicted_spans, n_characters)
    distance = float(np.abs(gold - predicted).sum())
    precision = 1 - distance / (n_characters + float(predicted.sum()) + _EPS)
    return precision, 1 - distance / (n_characters + float(gold.sum()) + _EPS)


def _severities(spans: Sequence[ErrorSpan], n_characters: int) -> FloatArray:
    """Returns the severity of each character, (characters,); overlapping spans of one severity count once."""
    return np.asarray(_SEVERITIES @ (character_f1.marks(spans, n_characters) > 0))

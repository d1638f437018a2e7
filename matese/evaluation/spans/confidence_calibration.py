"""Calibration of confidences: are 8 of 10 spans with confidence 0.8 right?

A predicted span is right if it is hit: if it shares a character with a gold span, whatever the severity.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from matese.evaluation.spans.rating_pairs import RatingPair
from matese.evaluation.spans.span_hit import is_hit
from matese.evaluation.statistics.arrays import FloatArray, divide
from matese.evaluation.statistics.bootstrap import AdditiveStatistic

N_BINS = 10
_EDGES = tuple(place / N_BINS for place in range(N_BINS + 1))


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Predicted spans of similar confidence.

    Attributes:
        low: lower edge, exclusive except for 0.
        high: upper edge, inclusive.
        n: number of spans.
        confidence: mean confidence; None without spans.
        precision: share of spans that are hit; None without spans.
    """

    low: float
    high: float
    n: int
    confidence: float | None
    precision: float | None


def statistic(pairs: Sequence[RatingPair]) -> AdditiveStatistic:
    """Returns the expected calibration error, `calibration.ece`; spans without a confidence do not count.

    ECE is the mean over spans of |precision - mean confidence| of their bin, with ten bins of equal width (Guo et al.
    2017, section 2). The columns are, for each bin, the number of spans, the sum of their confidences, and the number
    of spans that are hit.
    """
    table = np.zeros((len(pairs), N_BINS, 3))
    for row, pair in zip(table, pairs, strict=True):
        for span in pair.predicted_spans:
            if span.confidence is not None:
                place = max(0, bisect_left(_EDGES, span.confidence) - 1)
                row[place] += (1.0, span.confidence, float(is_hit(span, pair.gold_spans)))
    return AdditiveStatistic(table.reshape(len(pairs), -1), _figures)


def _figures(totals: FloatArray) -> Mapping[str, FloatArray]:
    n, confidence, hit = totals.reshape(-1, N_BINS, 3).transpose(2, 0, 1)
    return {"calibration.ece": divide(np.abs(hit - confidence).sum(axis=1), n.sum(axis=1))}


def reliability(calibration: AdditiveStatistic) -> tuple[ReliabilityBin, ...]:
    """Returns the reliability table of all segments of a `statistic`."""
    totals = calibration.table.sum(axis=0).reshape(N_BINS, 3).tolist()
    return tuple(
        ReliabilityBin(low, high, int(n), confidence / n if n else None, hit / n if n else None)
        for low, high, (n, confidence, hit) in zip(_EDGES, _EDGES[1:], totals, strict=False)
    )

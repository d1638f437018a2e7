"""Hypothesis Span Hit (HSH) and Target Span Hit (TSH): Perrella et al. 2022, section 2.2.

A span is hit if it shares at least one position with any span of the other side, whatever their severities. HSH is the
share of the predicted spans that are hit, TSH the share of the gold spans. Both are micro averages: the counts of all
segments are added before they are divided.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from matese.annotation import Placed
from matese.evaluation.spans.rating_pairs import RatingPair, counted_omissions
from matese.evaluation.statistics.arrays import FloatArray, divide, rates
from matese.evaluation.statistics.bootstrap import AdditiveStatistic
from matese.text.ranges import overlap


class SpanHitCounts(NamedTuple):
    """Numbers of spans of one segment or of many; predicted spans are the "hypothesis", gold spans the "target"."""

    predicted: int = 0
    predicted_hit: int = 0
    gold: int = 0
    gold_hit: int = 0


def span_hit(gold: Sequence[Placed], predicted: Sequence[Placed]) -> SpanHitCounts:
    """Returns the counts of one text; spans may overlap and be in any order.

    >>> from matese.annotation import ErrorSpan, Severity
    >>> minor, major = Severity.MINOR, Severity.MAJOR
    >>> span_hit([ErrorSpan(0, 4, minor), ErrorSpan(9, 12, major)], [ErrorSpan(3, 5, major)])
    SpanHitCounts(predicted=1, predicted_hit=1, gold=2, gold_hit=1)
    """
    predicted_hit = sum(is_hit(span, gold) for span in predicted)
    return SpanHitCounts(len(predicted), predicted_hit, len(gold), sum(is_hit(span, predicted) for span in gold))


def is_hit(span: Placed, other_side: Iterable[Placed]) -> bool:
    """Whether a span shares a position with one of the other side."""
    return any(overlap(span, opposite) for opposite in other_side)


def statistic(counts: Sequence[SpanHitCounts], *, prefix: str = "") -> AdditiveStatistic:
    """Returns the figures `hsh` and `tsh` of the segments' counts; NaN if that side has no spans."""

    def figures(totals: FloatArray) -> Mapping[str, FloatArray]:
        predicted, predicted_hit, gold, gold_hit = totals.T
        return {f"{prefix}hsh": divide(predicted_hit, predicted), f"{prefix}tsh": divide(gold_hit, gold)}

    return AdditiveStatistic(np.array(counts, dtype=np.float64).reshape(-1, 4), figures)


def omission_statistics(pairs: Sequence[RatingPair]) -> tuple[AdditiveStatistic, ...]:
    """Returns the statistic of `omissions.precision`, `.recall` and `.f1`; none if gold has no omissions.

    An omission is found if it is hit. Only texts in which the gold standard marks omissions at all are compared, since
    MQM marks them in the source only and a prediction may find the same ones in a reference.
    """
    texts = {omission.text for pair in pairs for omission in counted_omissions(pair.gold)}
    rows = []
    for pair in pairs:
        predicted = [omission for omission in counted_omissions(pair.predicted) if omission.text in texts]
        sides = (counted_omissions(pair.gold), predicted)
        names = {omission.text_name for side in sides for omission in side}
        by_text = [[[omission for omission in side if omission.text_name == name] for side in sides] for name in names]
        rows.append(np.sum([SpanHitCounts(), *(span_hit(*both) for both in by_text)], axis=0))

    def figures(totals: FloatArray) -> Mapping[str, FloatArray]:
        predicted, predicted_hit, gold, gold_hit = totals.T
        return rates("omissions", divide(predicted_hit, predicted), divide(gold_hit, gold))

    return (AdditiveStatistic(np.array(rows, dtype=np.float64), figures),) if texts else ()

"""Omissions against those of a gold standard, by overlap: an omission is found if one of the other side shares a place.

Only texts in which the gold standard marks omissions at all are compared, since MQM marks them in the source only and a
prediction may find the same ones in a reference. As of spans, Neutral and undecided ones do not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from matese.evaluation.spans import span_hit
from matese.evaluation.spans.rating_pairs import RatingPair, counted_omissions
from matese.evaluation.spans.span_hit import SpanHitCounts
from matese.evaluation.statistics.arrays import FloatArray, divide, rates
from matese.evaluation.statistics.bootstrap import AdditiveStatistic


def statistics(pairs: Sequence[RatingPair]) -> tuple[AdditiveStatistic, ...]:
    """Returns the statistic of `omissions.precision`, `.recall` and `.f1`; none if gold has no omissions."""
    texts = {omission.text for pair in pairs for omission in counted_omissions(pair.gold)}
    rows = []
    for pair in pairs:
        sides = [
            counted_omissions(pair.gold),
            [omission for omission in counted_omissions(pair.predicted) if omission.text in texts],
        ]
        names = {omission.text_name for side in sides for omission in side}
        by_text = [[[omission for omission in side if omission.text_name == name] for side in sides] for name in names]
        rows.append(span_hit.aggregate([SpanHitCounts(), *(span_hit.span_hit(*both) for both in by_text)]))
    return (AdditiveStatistic(np.array(rows, dtype=np.float64), _figures),) if texts else ()


def _figures(totals: FloatArray) -> Mapping[str, FloatArray]:
    predicted, predicted_hit, gold, gold_hit = totals.T
    return rates("omissions", divide(predicted_hit, predicted), divide(gold_hit, gold))

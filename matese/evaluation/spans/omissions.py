"""Omissions against those of a gold standard, by overlap: an omission is found if one of the other side shares a place.

Only texts in which the gold standard marks omissions at all are compared, since MQM marks them in the source only and a
prediction may find the same ones in a reference. As of spans, Neutral and undecided ones do not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from matese.annotation import Omission, Rating, Severity
from matese.evaluation.spans import span_hit
from matese.evaluation.spans.rating_pairs import RatingPair
from matese.evaluation.spans.span_hit import SpanHitCounts
from matese.evaluation.statistics.arrays import FloatArray, divide, rates
from matese.evaluation.statistics.bootstrap import AdditiveStatistic

_COUNTED = (Severity.MINOR, Severity.MAJOR, Severity.CRITICAL)


def statistics(pairs: Sequence[RatingPair]) -> tuple[AdditiveStatistic, ...]:
    """Returns the statistic of `omissions.precision`, `.recall` and `.f1`; none if gold has no omissions."""
    texts: set[str] = {omission.text for pair in pairs for omission in counted(pair.gold)}
    if not texts:
        return ()
    return (AdditiveStatistic(np.array([_counts(pair, texts) for pair in pairs], dtype=np.float64), _figures),)


def counted(rating: Rating) -> list[Omission]:
    """Returns the omissions that measures count."""
    return [omission for omission in rating.omissions if omission.severity in _COUNTED]


def _counts(pair: RatingPair, texts: set[str]) -> SpanHitCounts:
    golds, predicted = counted(pair.gold), [one for one in counted(pair.predicted) if one.text in texts]
    names = {one.text_name for one in (*golds, *predicted)}
    return span_hit.aggregate(
        [
            SpanHitCounts(),
            *(
                span_hit.span_hit(*([one for one in side if one.text_name == name] for side in (golds, predicted)))
                for name in names
            ),
        ]
    )


def _figures(totals: FloatArray) -> Mapping[str, FloatArray]:
    predicted, predicted_hit, gold, gold_hit = totals.T
    return rates("omissions", divide(predicted_hit, predicted), divide(gold_hit, gold))

"""Agreement on the main MQM categories of matched spans, between a prediction and gold or between two raters.

Spans are matched by MPP, whatever their categories; pairs in which a span has no category, or an unknown one, do not
count. `category.agreement` is the share of pairs with equal categories, `category.kappa` Cohen's kappa, and
`category.NAME.agreement` the specific agreement of one category (Dice 1945): the F1 of its labels over the pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from matese import mqm
from matese.annotation import ErrorSpan
from matese.evaluation.spans.rating_pairs import RatingPair
from matese.evaluation.spans.span_matching import match
from matese.evaluation.statistics.arrays import FloatArray, cohens_kappa, divide
from matese.evaluation.statistics.bootstrap import AdditiveStatistic

KEYS = tuple(f"category.{name.casefold().replace(' ', '_')}.agreement" for name in mqm.CATEGORIES)
"""Names of the specific agreements, in the order of `mqm.CATEGORIES`."""


def statistics(pairs: Sequence[RatingPair]) -> tuple[AdditiveStatistic, ...]:
    """Returns the statistic; none if a side has no known categories."""
    sides = ([pair.gold_spans for pair in pairs], [pair.predicted_spans for pair in pairs])
    if not all(any(mqm.main_category(span.category) for spans in side for span in spans) for side in sides):
        return ()
    table = confusion(pairs, mqm.CATEGORIES, lambda span: mqm.main_category(span.category))
    return (AdditiveStatistic(table, _figures),)


def confusion(
    pairs: Sequence[RatingPair], labels: Sequence[object], label_of: Callable[[ErrorSpan], object]
) -> FloatArray:
    """Returns how often MPP matches a gold span of one label with a predicted one of another.

    Shape: (segments, labels * labels), gold by predicted labels.
    """
    table = np.zeros((len(pairs), len(labels), len(labels)))
    for row, pair in zip(table, pairs, strict=True):
        for matched in match(pair.gold_spans, pair.predicted_spans):
            gold, predicted = map(label_of, (pair.gold_spans[matched.gold], pair.predicted_spans[matched.predicted]))
            if gold in labels and predicted in labels:
                row[labels.index(gold), labels.index(predicted)] += 1.0
    return table.reshape(len(pairs), -1)


def _figures(totals: FloatArray) -> Mapping[str, FloatArray]:
    matrices = totals.reshape(-1, len(KEYS), len(KEYS))
    observed, kappa = cohens_kappa(matrices)
    same = matrices.diagonal(axis1=1, axis2=2)
    both = matrices.sum(axis=1) + matrices.sum(axis=2)
    specific = divide(2 * same, both).T
    return {"category.agreement": observed, "category.kappa": kappa, **dict(zip(KEYS, specific, strict=True))}

"""How well decisions that a translation is free of errors agree with people's: MCC, precision, recall and F1.

The gold labels are those of task 3 of WMT 2026 (https://www2.statmt.org/wmt26/mteval-subtask3.html): a segment is
free of errors if people marked no error and, where there is an ESA score, gave it 85 or more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from matese.annotation import Rating
from matese.annotation.severities import COUNTED
from matese.evaluation.spans.rating_pairs import RatingPair
from matese.evaluation.statistics.arrays import FloatArray, divide
from matese.evaluation.statistics.bootstrap import AdditiveStatistic

LEAST_ESA = 85.0
"""Least score of a segment without errors, from 0 to 100."""


def gold_label(rating: Rating) -> bool | None:
    """Returns whether people found nothing to correct; None where they did not annotate errors.

    Neutral errors do not count.

    >>> from matese.annotation import Overall, Segment
    >>> [gold_label(Rating(Segment("a"), None, (), overall=Overall(score, "esa"))) for score in (84.0, 85.0)]
    [False, True]
    """
    whole = rating.overall
    if rating.errors is None:
        # The MQM score of a segment is the sum of its errors; any other score may miss an error.
        return whole.value == 0 if whole is not None and whole.scale == "mqm" else None
    if any(error.severity is None or error.severity in COUNTED for error in rating.all_errors):
        return False
    if whole is None or whole.scale not in ("esa", "da", "mqm"):
        return True
    return whole.value == 0 if whole.scale == "mqm" else whole.value >= LEAST_ESA


def statistics(pairs: Sequence[RatingPair]) -> Iterator[AdditiveStatistic]:
    """Yields the statistics of the figures `error_free.*`.

    There are none unless every prediction has a decision and at least one gold label is known.
    `error_free.unmarked.*` takes the segments without a marked error for those free of errors: a baseline.
    """
    golds = [gold_label(pair.gold) for pair in pairs]
    if all(label is None for label in golds) or any(pair.predicted.error_free is None for pair in pairs):
        return
    decided = [pair.predicted.error_free is not None and pair.predicted.error_free.label for pair in pairs]
    yield statistic("error_free", golds, decided)
    if all(pair.predicted.errors is not None for pair in pairs):
        yield statistic("error_free.unmarked", golds, [not pair.predicted.all_errors for pair in pairs])


def statistic(name: str, golds: Sequence[bool | None], decided: Sequence[bool]) -> AdditiveStatistic:
    """Returns the statistic of some decisions; segments without a gold label do not count."""
    cells = [(True, True), (False, True), (True, False), (False, False)]
    table = np.array([[pair == cell for cell in cells] for pair in zip(golds, decided, strict=True)], dtype=np.float64)
    return AdditiveStatistic(table.reshape(-1, 4), lambda sums: _figures(name, sums))


def _figures(name: str, sums: FloatArray) -> Mapping[str, FloatArray]:
    hits, false_alarms, misses, _ = sums.T
    return {
        f"{name}.mcc": mcc(sums),
        f"{name}.precision": divide(hits, hits + false_alarms),
        f"{name}.recall": divide(hits, hits + misses),
        f"{name}.f1": divide(2 * hits, 2 * hits + false_alarms + misses),
    }


def mcc(counts: FloatArray) -> FloatArray:
    """Returns Matthews correlation coefficients; 0 if all decisions or all gold labels are alike, as in scikit-learn.

    Args:
        counts: (..., 4), true positives, false positives, false negatives, true negatives.

    >>> mcc(np.array([[2.0, 0.0, 0.0, 2.0], [1.0, 1.0, 1.0, 1.0], [3.0, 1.0, 0.0, 0.0]])).tolist()
    [1.0, 0.0, 0.0]
    """
    hits, false_alarms, misses, rejections = np.moveaxis(np.asarray(counts, dtype=np.float64), -1, 0)
    margins = (hits + false_alarms) * (hits + misses) * (rejections + false_alarms) * (rejections + misses)
    return divide(hits * rejections - false_alarms * misses, np.sqrt(margins), empty=0.0)


def threshold(values: FloatArray, golds: FloatArray) -> float:
    """Returns the value that as many segments reach as are free of errors.

    The threshold with the highest MCC would fit noise.

    Args:
        values: (segments,), higher for a segment that is more probably free of errors.
        golds: (segments,), 1 for a segment that is free of errors, else 0.

    >>> threshold(np.array([0.9, 0.8, 0.4, 0.1, 0.3]), np.array([1, 0, 1, 0, 0]))
    0.56
    """
    return float(np.quantile(values, 1 - golds.mean()))

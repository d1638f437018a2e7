"""Precision, recall and F1 of marked characters, as the WMT tasks of 2023 and 2025 score error span detection.

2023 (WMT-QE-Task/qe-eval-scripts, wmt23/task2_evaluate.py): a character that both sides mark earns 1 if they have a
severity in common there, else 0.5. Precision and recall divide the credit by the characters that the prediction, and
the gold annotation, mark. They are undefined if that side marks none.

2025 (wmt-conference/wmt25-mteval, scripts/scoring/task2/scoring_esa.py): overlapping spans add up, so each severity has
a count at each character. The true positives are the smaller count of each severity, plus half of the smaller
remainder of the two severities. Precision or recall is 1 if its side marks nothing.

Both are micro averages over each language pair, and then the mean over language pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from matese.annotation import ErrorSpan
from matese.annotation.severities import MINOR_MAJOR
from matese.evaluation.spans.rating_pairs import RatingPair
from matese.evaluation.statistics.arrays import BoolArray, FloatArray, IntArray, divide, rates
from matese.evaluation.statistics.bootstrap import AdditiveStatistic

PARTIAL_CREDIT = 0.5
"""Credit for the right character with the wrong severity, in both tasks."""

_TASKS = (("char_wmt23", np.nan), ("char_wmt25", 1.0))


def statistic(pairs: Sequence[RatingPair]) -> AdditiveStatistic:
    """Returns the figures `char_wmt23` and `char_wmt25`."""
    groups, group_of = np.unique([pair.key.lang_pair or "" for pair in pairs], return_inverse=True)
    # For each language pair whether the segment belongs to it, and its counts.
    table = np.zeros((len(pairs), len(groups), 7))
    for row, group, pair in zip(table, group_of, pairs, strict=True):
        row[group] = (1.0, *_counts(pair))

    def figures(totals: FloatArray) -> Mapping[str, FloatArray]:
        """Language pairs without a segment in a resample do not count there."""
        sums = totals.reshape(-1, len(groups), 7)
        is_there = sums[:, :, 0] > 0
        of_pairs: dict[str, FloatArray] = {}
        for at, (name, empty) in enumerate(_TASKS):
            hits, gold, predicted = np.moveaxis(sums[:, :, 1 + 3 * at : 4 + 3 * at], 2, 0)
            of_pairs |= rates(name, divide(hits, predicted, empty=empty), divide(hits, gold, empty=empty))
        n_there = is_there.sum(axis=1).astype(np.float64)
        return {key: divide(np.where(is_there, figure, 0.0).sum(axis=1), n_there) for key, figure in of_pairs.items()}

    return AdditiveStatistic(table.reshape(len(pairs), -1), figures)


def _counts(pair: RatingPair) -> FloatArray:
    """Returns true positives, gold and predicted characters of a segment, of 2023 and then of 2025, (6,)."""
    if not pair.gold_spans and not pair.predicted_spans:
        return np.zeros(6)
    n_characters = len(pair.gold.segment.hypothesis)
    gold, predicted = (marks(spans, n_characters) for spans in (pair.gold_spans, pair.predicted_spans))
    return np.concatenate([_counts_of_2023(gold > 0, predicted > 0), _counts_of_2025(gold, predicted)])


def marks(spans: Sequence[ErrorSpan], n_characters: int) -> IntArray:
    """Returns the number of spans of each severity that cover each character, (severities, characters)."""
    marks = np.zeros((len(MINOR_MAJOR), n_characters), dtype=np.int64)
    for span in spans:
        assert span.severity is not None
        marks[MINOR_MAJOR.index(span.severity), span.start : span.end] += 1
    return marks


def _counts_of_2023(gold: BoolArray, predicted: BoolArray) -> FloatArray:
    is_gold = gold.any(axis=0)
    is_predicted = predicted.any(axis=0)
    is_same = (gold & predicted).any(axis=0)
    is_partial = is_gold & is_predicted & ~is_same
    hits = is_same.sum() + PARTIAL_CREDIT * is_partial.sum()
    return np.array([hits, is_gold.sum(), is_predicted.sum()], dtype=np.float64)


def _counts_of_2025(gold: IntArray, predicted: IntArray) -> FloatArray:
    same = np.minimum(gold, predicted)
    left_over = np.minimum((gold - same).sum(axis=0), (predicted - same).sum(axis=0))
    return np.array([same.sum() + PARTIAL_CREDIT * left_over.sum(), gold.sum(), predicted.sum()], dtype=np.float64)

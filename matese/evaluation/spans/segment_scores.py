"""Agreement of two scores of the same segments: correlations, mean absolute error, and ties."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.stats

from matese.evaluation.statistics.arrays import FloatArray, IntArray, divide, moments, pearson
from matese.evaluation.statistics.bootstrap import AdditiveStatistic, RecomputedStatistic, Statistic


def statistics(name: str, gold: FloatArray, predicted: FloatArray, *, has_error: bool = True) -> tuple[Statistic, ...]:
    """Returns the figures `NAME.pearson`, `spearman`, `kendall` (tau-b), `mae`, `ties.gold` and `ties.predicted`.

    A correlation is NaN if one of the two scores is constant. Ties are the share of pairs with equal scores.

    Args:
        name: of the score.
        gold: (segments,).
        predicted: (segments,).
        has_error: whether both are on one scale, so that there is a mean absolute error.
    """
    centred = (scores - scores.mean() if len(scores) else scores for scores in (gold, predicted))

    def sums(totals: FloatArray) -> Mapping[str, FloatArray]:
        error = {f"{name}.mae": divide(totals[:, 6], totals[:, 0])} if has_error else {}
        return {f"{name}.pearson": pearson(totals[:, :6]), **error}

    def ranks(rows: IntArray) -> Mapping[str, float]:
        both = (gold[rows], predicted[rows])
        is_constant = any(len(np.unique(scores)) < 2 for scores in both)
        return {
            f"{name}.spearman": np.nan if is_constant else float(scipy.stats.spearmanr(*both).statistic),
            f"{name}.kendall": np.nan if is_constant else float(scipy.stats.kendalltau(*both).statistic),
            f"{name}.ties.gold": share_of_ties(both[0]),
            f"{name}.ties.predicted": share_of_ties(both[1]),
        }

    table = np.column_stack([moments(*centred), np.abs(gold - predicted)])
    return AdditiveStatistic(table, sums), RecomputedStatistic(ranks)


def share_of_ties(scores: FloatArray) -> float:
    """Returns the share of pairs with equal scores; NaN if there are no pairs.

    >>> share_of_ties(np.array([0.0, 0.0, -1.0]))
    0.3333333333333333
    """
    _, counts = np.unique(scores, return_counts=True)
    n_pairs = len(scores) * (len(scores) - 1) / 2
    return float((counts * (counts - 1) / 2).sum() / n_pairs) if n_pairs else float("nan")

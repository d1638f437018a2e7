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
    one, other = (scores - scores.mean() if len(scores) else scores for scores in (gold, predicted))

    def ranks(rows: IntArray) -> Mapping[str, float]:
        return {f"{name}.{key}": value for key, value in rank_figures(gold[rows], predicted[rows]).items()}

    def figures(totals: FloatArray) -> Mapping[str, FloatArray]:
        error = {f"{name}.mae": divide(totals[:, 6], totals[:, 0])} if has_error else {}
        return {f"{name}.pearson": pearson(totals[:, :6]), **error}

    table = np.column_stack([moments(one, other), np.abs(gold - predicted)])
    return AdditiveStatistic(table, figures), RecomputedStatistic(ranks)


def rank_figures(gold: FloatArray, predicted: FloatArray) -> dict[str, float]:
    """Returns the figures that depend on the order of the scores, both (segments,)."""
    is_constant = min(len(np.unique(gold)), len(np.unique(predicted))) < 2
    spearman = np.nan if is_constant else float(scipy.stats.spearmanr(gold, predicted).statistic)
    kendall = np.nan if is_constant else float(scipy.stats.kendalltau(gold, predicted).statistic)
    return {
        "spearman": spearman,
        "kendall": kendall,
        "ties.gold": share_of_ties(gold),
        "ties.predicted": share_of_ties(predicted),
    }


def share_of_ties(scores: FloatArray) -> float:
    """Returns the share of pairs with equal scores; NaN if there are no pairs.

    >>> share_of_ties(np.array([0.0, 0.0, -1.0]))
    0.3333333333333333
    """
    _, counts = np.unique(scores, return_counts=True)
    n_pairs = len(scores) * (len(scores) - 1) / 2
    return float((counts * (counts - 1) / 2).sum() / n_pairs) if n_pairs else float("nan")

"""Localisation of errors by token scores: AUC and Recall@K of Fomicheva et al. 2021 and Rei et al. 2023.

The score of a token is 5 P(Major) + P(Minor); a token is bad if it shares a character with a gold span. Both figures
are means over the segments that have both bad and good tokens, as in the Eval4NLP task (eval4nlp/SharedTask2021,
scripts/evaluate.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from matese.annotation import ErrorSpan, TokenScores
from matese.evaluation.statistics.arrays import BoolArray, FloatArray, divide
from matese.evaluation.statistics.bootstrap import AdditiveStatistic
from matese.text.ranges import Range

MAJOR_WEIGHT = 5.0
"""Weight of a Major error if a Minor one weighs 1: Perrella et al. 2022, section 2."""


def badness(tokens: TokenScores) -> FloatArray:
    """Returns the score of each token, (tokens,), from 0 (good) to 5 (bad)."""
    rows = np.array(tokens.probabilities).reshape(-1, 5)
    _, begin_minor, inside_minor, begin_major, inside_major = rows.T
    return np.asarray(MAJOR_WEIGHT * (begin_major + inside_major) + begin_minor + inside_minor)


def bad_tokens(spans: Sequence[ErrorSpan], ranges: Iterable[Range]) -> BoolArray:
    """Returns whether each token shares a character with a span, (tokens,)."""
    return np.array(
        [any(start < span.end and span.start < end for span in spans) for start, end in ranges], dtype=np.bool_
    )


def auc(is_bad: BoolArray, scores: FloatArray) -> float:
    """Returns the probability that a bad token scores higher than a good one; ties count half; NaN without both.

    >>> auc(np.array([True, False, False]), np.array([0.5, 0.9, 0.1]))
    0.5
    """
    n_bad = int(is_bad.sum())
    n_good = len(is_bad) - n_bad
    if not n_bad or not n_good:
        return math.nan
    import scipy.stats

    ranks = scipy.stats.rankdata(scores)
    return float((ranks[is_bad].sum() - n_bad * (n_bad + 1) / 2) / (n_bad * n_good))


def recall_at_k(is_bad: BoolArray, scores: FloatArray) -> float:
    """Returns the share of the K bad tokens that are among the K highest scores; NaN without bad tokens.

    Tokens that tie for the last places share them, so that the order of the tokens does not matter.

    >>> recall_at_k(np.array([True, True, False]), np.array([0.9, 0.1, 0.1]))
    0.75
    """
    k = int(is_bad.sum())
    if not k:
        return math.nan
    last = np.sort(scores)[-k]
    above = scores > last
    tied = scores == last
    share = (k - above.sum()) / tied.sum()
    return float(((is_bad & above).sum() + share * (is_bad & tied).sum()) / k)


def statistic(gold: Sequence[Sequence[ErrorSpan]], tokens: Sequence[TokenScores | None]) -> AdditiveStatistic:
    """Returns the figures `localisation.auc` and `localisation.recall_at_k`; an empty text has no scores."""
    table = np.zeros((len(gold), 3))
    for row, spans, scored in zip(table, gold, tokens, strict=True):
        if scored is not None:
            is_bad = bad_tokens(spans, scored.ranges)
            scores = badness(scored)
            if is_bad.any() and not is_bad.all():
                row[:] = (auc(is_bad, scores), recall_at_k(is_bad, scores), 1.0)
    return AdditiveStatistic(table, _figures)


def _figures(totals: FloatArray) -> Mapping[str, FloatArray]:
    auc_sum, recall_sum, n = totals.T
    return {"localisation.auc": divide(auc_sum, n), "localisation.recall_at_k": divide(recall_sum, n)}

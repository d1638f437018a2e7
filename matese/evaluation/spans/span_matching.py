"""One-to-one matching of spans: EM, MP and MPP of Perrella et al. 2026 (arXiv 2603.19921).

In each segment, predicted spans p and gold spans g are paired. A pair adds to precision and to recall

- EM, exact match: 1 if both have the same start and end, else 0;
- MP, match with partial overlap: 1 if they share a character, else 0;
- MPP, match with partial overlap and partial credit: |p ∩ g| / |p| to precision and |p ∩ g| / |g| to recall.

The pairs are those with which the segment's F1 is maximal, for each measure separately; of several such sets of pairs,
the one with the largest sum of precision and recall, then the largest precision, then the most pairs.

If their severities differ, the pair loses the share `severity_penalty` of its credit (0: severities do not matter, 1:
no match). With weights, a span counts as many times as its penalty, and a pair as many times as the smaller of both.
Division by zero gives 1. All of this follows the authors' code (sted19/span-mt-metrics-eval), which has weights for MPP
only.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from matese import mqm
from matese.annotation import ErrorSpan
from matese.errors import InputError
from matese.evaluation.spans.rating_pairs import RatingPair
from matese.evaluation.statistics.arrays import FloatArray, divide, f1, rates
from matese.evaluation.statistics.bootstrap import AdditiveStatistic

KINDS = ("em", "mp", "mpp")
_COLUMNS = 8
"""The counts of a segment in each kind, as `_counts` lists them."""


@dataclass(frozen=True, slots=True)
class MatchingRules:
    """How severities matter.

    Attributes:
        severity_penalty: share of its credit that a pair of different severities loses, 0 to 1.
        weights: a span counts as many times as its penalty; None: each span counts once.
    """

    severity_penalty: float = 0.0
    weights: mqm.Weights | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.severity_penalty <= 1:
            raise InputError(f"severity penalty {self.severity_penalty}: must be between 0 and 1")

    def weight(self, span: ErrorSpan) -> float:
        """Returns how many times a span counts."""
        return 1.0 if self.weights is None else mqm.penalty(span, self.weights)


_PLAIN = MatchingRules()


class SpanMatch(NamedTuple):
    """A gold and a predicted span that are matched: their positions, and the credits in precision and in recall."""

    gold: int
    predicted: int
    precision: float
    recall: float


def match(
    gold: Sequence[ErrorSpan], predicted: Sequence[ErrorSpan], kind: str = "mpp", rules: MatchingRules = _PLAIN
) -> tuple[SpanMatch, ...]:
    """Returns the best one-to-one matching of two sides, whose spans may overlap and be in any order.

    Raises:
        InputError: if the kind is not one of `KINDS`.
    """
    if kind not in KINDS:
        raise InputError(f"kind {kind!r}: must be one of {', '.join(KINDS)}")
    if not gold or not predicted:
        return ()
    precision, recall = _credits(gold, predicted, rules, kind)
    if kind == "mpp":
        pairs = _best_f1(precision, recall, *(sum(map(rules.weight, spans)) for spans in (predicted, gold)))
    else:  # precision and recall grow together, so that the largest sum is the best
        pairs = tuple(zip(*linear_sum_assignment(precision, maximize=True), strict=True))
    return tuple(
        SpanMatch(int(column), int(row), float(precision[row, column]), float(recall[row, column]))
        for row, column in pairs
        if precision[row, column] > 0
    )


def statistic(pairs: Sequence[RatingPair], rules: MatchingRules) -> AdditiveStatistic:
    """Returns the figures `em`, `mp` and `mpp`, each `micro` and `macro`.

    Macro figures are means over segments of precision, recall and F1 (Opitz and Burst 2019).
    """
    table = np.array([_counts(pair, rules) for pair in pairs]).reshape(-1, len(KINDS) * _COLUMNS)
    return AdditiveStatistic(table, _figures)


def _counts(pair: RatingPair, rules: MatchingRules) -> FloatArray:
    """Returns the counts of a segment, (kinds * columns,)."""
    matches = [match(pair.gold_spans, pair.predicted_spans, kind, rules) for kind in KINDS]
    credit_predicted = np.array([sum(matched.precision for matched in of_kind) for of_kind in matches])
    credit_gold = np.array([sum(matched.recall for matched in of_kind) for of_kind in matches])
    n_predicted = np.full(len(KINDS), sum(map(rules.weight, pair.predicted_spans)))
    n_gold = np.full(len(KINDS), sum(map(rules.weight, pair.gold_spans)))
    precision = divide(credit_predicted, n_predicted, empty=1.0)
    recall = divide(credit_gold, n_gold, empty=1.0)
    n_segments = np.ones(len(KINDS))
    columns = (credit_predicted, n_predicted, credit_gold, n_gold, precision, recall, f1(precision, recall), n_segments)
    return np.stack(columns, axis=1).ravel()


def _figures(totals: FloatArray) -> Mapping[str, FloatArray]:
    figures: dict[str, FloatArray] = {}
    for kind, columns in zip(KINDS, totals.T.reshape(len(KINDS), _COLUMNS, -1), strict=True):
        credit_predicted, n_predicted, credit_gold, n_gold, precision, recall, f1_score, n_segments = columns
        of_all = (divide(credit_predicted, n_predicted, empty=1.0), divide(credit_gold, n_gold, empty=1.0))
        figures |= rates(f"{kind}.micro", *of_all)
        for name, column in (("precision", precision), ("recall", recall), ("f1", f1_score)):
            figures[f"{kind}.macro.{name}"] = divide(column, n_segments)
    return figures


def _credits(
    gold: Sequence[ErrorSpan], predicted: Sequence[ErrorSpan], rules: MatchingRules, kind: str
) -> tuple[FloatArray, FloatArray]:
    """Returns each pair's credit in precision and in recall, (predicted, gold) both."""
    starts, ends = np.array([[span.start, span.end] for span in gold]).T
    predicted_starts, predicted_ends = np.array([[span.start, span.end] for span in predicted]).T[:, :, np.newaxis]
    shared = np.maximum(0, np.minimum(ends, predicted_ends) - np.maximum(starts, predicted_starts))
    is_same = np.array([[target.severity is span.severity for target in gold] for span in predicted])
    weights = [np.array(list(map(rules.weight, spans))) for spans in (gold, predicted)]
    reward = np.where(is_same, 1.0, 1.0 - rules.severity_penalty) * np.minimum(weights[0], weights[1][:, np.newaxis])
    if kind == "mpp":
        return shared / (predicted_ends - predicted_starts) * reward, shared / (ends - starts) * reward
    is_match = (starts == predicted_starts) & (ends == predicted_ends) if kind == "em" else shared > 0
    return is_match * reward, is_match * reward


class _Partial(NamedTuple):
    """A matching of the first predicted spans: the sums of the credits of its pairs, and the pairs."""

    precision: float = 0.0
    recall: float = 0.0
    pairs: tuple[tuple[int, int], ...] = ()


def _best_f1(
    precision: FloatArray, recall: FloatArray, n_predicted: float, n_gold: float
) -> tuple[tuple[int, int], ...]:
    """Returns the pairs with which the F1 of a segment is maximal.

    F1 is the harmonic mean of two sums over the pairs, so no assignment of single pairs finds it. Predicted spans are
    taken one by one; of two matchings that leave the same gold spans to later ones, one with less of both sums can be
    forgotten, and so can one that cannot reach the F1 of the assignment by single pairs.

    Args:
        precision: credits, (predicted, gold).
        recall: likewise.
        n_predicted: what the sum of precision is divided by.
        n_gold: likewise for recall.
    """

    def order(precision: float, recall: float, n_pairs: int = 0) -> tuple[float, ...]:
        """Returns the F1 of two sums, and what decides between matchings of the same F1."""
        p = precision / n_predicted if n_predicted else 1.0
        r = recall / n_gold if n_gold else 1.0
        # Rounded, so that equal sums in another order are equal.
        return tuple(round(value, 11) for value in (2 * p * r / (p + r) if p + r else 0.0, p + r, p, r, n_pairs))

    assigned = linear_sum_assignment(f1(precision, recall), maximize=True)
    reached = order(float(precision[assigned].sum()), float(recall[assigned].sum()))[0] - 1e-10  # without rounding
    # The most that the spans from each row on can add to the sums.
    rest = [np.append(np.cumsum(side.max(axis=1)[::-1])[::-1], 0.0).tolist() for side in (precision, recall)]
    candidates = [np.flatnonzero(row).tolist() for row in precision]
    partials = {frozenset[int](): [_Partial()]}
    for row, columns in enumerate(candidates):
        later = set(itertools.chain(*candidates[row + 1 :]))
        grown: dict[frozenset[int], list[_Partial]] = {}
        for taken, matchings in partials.items():
            for matching in matchings:
                grown.setdefault(taken & later, []).append(matching)
                for column in columns:
                    if column not in taken:
                        p = float(precision[row, column])
                        r = float(recall[row, column])
                        pairs = (*matching.pairs, (row, column))
                        added = _Partial(matching.precision + p, matching.recall + r, pairs)
                        grown.setdefault((taken | {column}) & later, []).append(added)
        partials = {
            taken: [
                matching
                for matching in _undominated(matchings)
                if order(matching.precision + rest[0][row + 1], matching.recall + rest[1][row + 1])[0] >= reached
            ]
            for taken, matchings in grown.items()
        }
    last = partials[frozenset()]
    return max(last, key=lambda matching: order(matching.precision, matching.recall, len(matching.pairs))).pairs


def _undominated(partials: Sequence[_Partial]) -> list[_Partial]:
    """Returns those that no other one exceeds in one sum without falling below it in the other."""
    kept: list[_Partial] = []
    for matching in sorted(
        partials, key=lambda partial: (-partial.precision, -partial.recall, -len(partial.pairs), partial.pairs)
    ):
        if not kept or matching.recall > kept[-1].recall:
            kept.append(matching)
    return kept

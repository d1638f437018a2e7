"""Parts of an evaluation: segments by language pair, system or length, and spans by severity or category."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from matese import mqm
from matese import text as texts
from matese.annotation import ErrorSpan, Severity
from matese.evaluation.spans import pair_statistics
from matese.evaluation.spans.pair_statistics import FigureOptions, PairStatistics
from matese.evaluation.spans.rating_pairs import RatingPair
from matese.evaluation.spans.span_hit import is_hit
from matese.evaluation.spans.span_matching import MatchingRules, match
from matese.evaluation.statistics.arrays import FloatArray, divide

NONE = "none"
"""Name of the group of segments or spans that do not name their group."""
LENGTHS = (0, 10, 20, 40)
"""Smallest number of words of each group of lengths."""


def by_segment(pairs: Sequence[RatingPair], grouping: str) -> dict[str, FloatArray]:
    """Returns the members of each group of segments, as (segments,) arrays of 0 and 1.

    Args:
        pairs: one per segment.
        grouping: "lang-pair", "system" or "length".
    """
    names = np.array([_group(pair, grouping) for pair in pairs])
    return {str(name): (names == name).astype(np.float64) for name in sorted(set(names), key=_by_number)}


def by_severity(pairs: Sequence[RatingPair], options: FigureOptions) -> dict[str, PairStatistics]:
    """Returns the statistics of the spans of each severity; spans of the other one are removed on both sides."""
    return {
        severity.value: pair_statistics.of_spans([pair.with_severity(severity) for pair in pairs], options)
        for severity in (Severity.MINOR, Severity.MAJOR)
    }


def by_category(pairs: Sequence[RatingPair], rules: MatchingRules) -> dict[str, CategoryStatistic]:
    """Returns the statistic of every category of a gold span, the most frequent one first.

    If the predicted categories are main ones ("Accuracy"), gold categories count as their main ones, too.
    """
    predicted = {span.category for pair in pairs for span in pair.predicted_spans} - {None}
    has_main_ones = bool(predicted) and predicted <= set(mqm.CATEGORIES)

    def name_of(span: ErrorSpan) -> str:
        return (mqm.main_category(span.category) if has_main_ones else None) or span.category or NONE

    names = sorted({name_of(span) for pair in pairs for span in pair.gold_spans})
    tables = {name: np.zeros((len(pairs), 2, 5)) for name in names}
    for segment, pair in enumerate(pairs):
        for side, rows in enumerate(_rows(pair, rules, name_of)):
            for name, row in rows:
                if name in tables:
                    tables[name][segment, side] += row
    found = {name: CategoryStatistic(table, bool(predicted)) for name, table in tables.items()}
    return dict(sorted(found.items(), key=lambda item: (-item[1].n_gold, item[0])))


def length_group(text: str) -> str:
    """Returns the group of a text's number of words.

    >>> length_group("ein Satz"), length_group("w " * 40)
    ('0-9', '40+')
    """
    n_words = texts.count_words(text)
    start = max(edge for edge in LENGTHS if edge <= n_words)
    end = next((edge for edge in LENGTHS if edge > start), None)
    return f"{start}+" if end is None else f"{start}-{end - 1}"


@dataclass(frozen=True, slots=True)
class CategoryStatistic:
    """How many spans of one category are found.

    Few predictions name categories, so a category is measured by its gold spans: TSH, and the recall of their matching
    with all predicted spans. If the prediction does name categories, HSH and precision measure its spans alike, and
    `category` counts the spans that MPP matches with one of the same category.

    Attributes:
        table: (segments, sides, 5), sides being gold and predicted: spans, hits, credits of MP and of MPP, and spans
            that are matched with one of the same category.
        is_predicted: whether the prediction names categories.
    """

    table: FloatArray
    is_predicted: bool

    @property
    def n_gold(self) -> int:
        """Number of gold spans of the category."""
        return int(self.table[:, 0, 0].sum())

    @property
    def n_predicted(self) -> int:
        """Number of predicted spans of the category."""
        return int(self.table[:, 1, 0].sum())

    def figures(self, weights: FloatArray) -> Mapping[str, FloatArray]:
        """See `bootstrap.Statistic.figures`."""
        sums = np.einsum("rs,sac->acr", weights, self.table)
        figures: dict[str, FloatArray] = {}
        same = []
        for (hit, rate), (n, hits, partial, proportional, alike) in zip(
            (("tsh", "recall"), ("hsh", "precision")), sums, strict=True
        ):
            same.append(divide(alike, n))
            figures[hit] = divide(hits, n)
            figures[f"mp.micro.{rate}"] = divide(partial, n)
            figures[f"mpp.micro.{rate}"] = divide(proportional, n)
        if self.is_predicted:
            f1 = divide(2 * sums[0, 4], sums[0, 0] + sums[1, 0])  # 0 for a category that is never predicted
            figures |= {"category.recall": same[0], "category.precision": same[1], "category.f1": f1}
        return figures


def _rows(
    pair: RatingPair, rules: MatchingRules, name_of: Callable[[ErrorSpan], str]
) -> Iterator[list[tuple[str, FloatArray]]]:
    """Yields, for the gold spans and then for the predicted ones, the category and what it adds to the table."""
    sides = (pair.gold_spans, pair.predicted_spans)
    names = [list(map(name_of, spans)) for spans in sides]
    credit = [np.zeros((len(spans), 3)) for spans in sides]
    for column, kind in enumerate(("mp", "mpp")):
        for one in match(*sides, kind, severity_penalty=rules.severity_penalty):
            credit[0][one.gold, column], credit[1][one.predicted, column] = one.recall, one.precision
            if kind == "mpp":
                is_alike = names[0][one.gold] == names[1][one.predicted]
                credit[0][one.gold, 2] = credit[1][one.predicted, 2] = is_alike
    for own, spans, others, rows in zip(names, sides, sides[::-1], credit, strict=True):
        hits = [[1.0, float(is_hit(span, others))] for span in spans]
        yield [(name, np.append(hit, row)) for name, hit, row in zip(own, hits, rows, strict=True)]


def _group(pair: RatingPair, grouping: str) -> str:
    if grouping == "length":
        return length_group(pair.gold.segment.hypothesis)
    return (pair.key.system if grouping == "system" else pair.key.lang_pair) or NONE


def _by_number(name: str) -> tuple[float, str]:
    digits = name.rstrip("+").partition("-")[0]
    return (float(digits) if digits.isdecimal() else 0.0, name)

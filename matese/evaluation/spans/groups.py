"""Parts of an evaluation: segments by language pair, system, domain or length, and spans by severity or category."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from matese import mqm
from matese.annotation import ErrorSpan
from matese.annotation.severities import MINOR_MAJOR
from matese.evaluation.spans import pair_statistics
from matese.evaluation.spans.pair_statistics import FigureOptions, PairStatistics
from matese.evaluation.spans.rating_pairs import RatingPair
from matese.evaluation.spans.span_hit import is_hit
from matese.evaluation.spans.span_matching import MatchingRules, match
from matese.evaluation.statistics.arrays import FloatArray, divide
from matese.text.words import count_words

NONE = "none"
"""Name of the group of segments or spans that do not name their group."""
LENGTHS = (0, 10, 20, 40)
"""Smallest number of words of each group of lengths."""


def by_segment(pairs: Sequence[RatingPair], grouping: str) -> dict[str, FloatArray]:
    """Returns the members of each group by a grouping of segments, as (segments,) arrays of 0 and 1."""

    def name_of(pair: RatingPair) -> str:
        if grouping == "length":
            return length_group(pair.gold.segment.hypothesis)
        name: str | None = getattr(pair.key, grouping.replace("-", "_"))
        return name or NONE

    def by_number(name: str) -> tuple[float, str]:
        digits = name.rstrip("+").partition("-")[0]
        return (float(digits) if digits.isdecimal() else 0.0, name)

    names = np.array(list(map(name_of, pairs)))
    return {name: (names == name).astype(np.float64) for name in sorted(set(names.tolist()), key=by_number)}


def by_severity(pairs: Sequence[RatingPair], options: FigureOptions) -> dict[str, PairStatistics]:
    """Returns the statistics of the spans of each severity; spans of the other one are removed on both sides."""
    parts = {}
    for severity in MINOR_MAJOR:
        kept = []
        for pair in pairs:
            sides = (pair.gold_spans, pair.predicted_spans)
            gold, predicted = (tuple(span for span in side if span.severity is severity) for side in sides)
            kept.append(replace(pair, gold_spans=gold, predicted_spans=predicted))
        parts[severity.value] = pair_statistics.of_spans(kept, options)
    return parts


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
    statistics = {name: CategoryStatistic(table, bool(predicted)) for name, table in tables.items()}
    return dict(sorted(statistics.items(), key=lambda item: (-item[1].n_spans[0], item[0])))


def length_group(text: str) -> str:
    """Returns the group of a text's number of words.

    >>> length_group("ein Satz"), length_group("w " * 40)
    ('0-9', '40+')
    """
    n_words = count_words(text)
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
    def n_spans(self) -> tuple[int, int]:
        """Number of gold and of predicted spans of the category."""
        n_gold, n_predicted = self.table[:, :, 0].sum(axis=0)
        return int(n_gold), int(n_predicted)

    def figures(self, weights: FloatArray) -> Mapping[str, FloatArray]:
        """See `bootstrap.Statistic.figures`."""
        sums = np.einsum("rs,sac->acr", weights, self.table)
        figures: dict[str, FloatArray] = {}
        same = {}
        for (hit, rate), (n, hits, partial, proportional, alike) in zip(
            (("tsh", "recall"), ("hsh", "precision")), sums, strict=True
        ):
            figures |= {hit: divide(hits, n), f"mp.micro.{rate}": divide(partial, n)}
            figures[f"mpp.micro.{rate}"] = divide(proportional, n)
            same[f"category.{rate}"] = divide(alike, n)
        if self.is_predicted:
            f1 = divide(2 * sums[0, 4], sums[0, 0] + sums[1, 0])  # 0 for a category that is never predicted
            figures |= {**same, "category.f1": f1}
        return figures


def _rows(
    pair: RatingPair, rules: MatchingRules, name_of: Callable[[ErrorSpan], str]
) -> list[list[tuple[str, FloatArray]]]:
    """Returns, for the gold spans and then for the predicted ones, the category and what it adds to the table."""
    sides = (pair.gold_spans, pair.predicted_spans)
    names = [list(map(name_of, spans)) for spans in sides]
    rows = [
        np.array([[1.0, is_hit(span, other_side), 0.0, 0.0, 0.0] for span in spans])
        for spans, other_side in zip(sides, sides[::-1], strict=True)
    ]
    for column, kind in enumerate(("mp", "mpp"), start=2):
        for matched in match(*sides, kind, MatchingRules(rules.severity_penalty)):
            rows[0][matched.gold, column] = matched.recall
            rows[1][matched.predicted, column] = matched.precision
            if kind == "mpp":
                is_alike = names[0][matched.gold] == names[1][matched.predicted]
                rows[0][matched.gold, 4] = rows[1][matched.predicted, 4] = is_alike
    return [list(zip(*of_side, strict=True)) for of_side in zip(names, rows, strict=True)]

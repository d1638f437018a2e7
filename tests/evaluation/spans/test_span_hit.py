from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese.annotation import ErrorSpan, Omission, Rating, Segment, Severity
from matese.evaluation.spans import pair_statistics
from matese.evaluation.spans.pair_statistics import FigureOptions
from matese.evaluation.spans.rating_pairs import RatingPair
from matese.evaluation.spans.span_hit import SpanHitCounts, omission_statistics, span_hit, statistic
from matese.tasks import tag_units

MINOR = Severity.MINOR
MAJOR = Severity.MAJOR


def spans(*places: tuple[int, int], severity: Severity = MINOR) -> list[ErrorSpan]:
    return [ErrorSpan(start, end, severity) for start, end in places]


@pytest.mark.parametrize(
    ("gold", "predicted", "counts"),
    [
        ([], [], SpanHitCounts(0, 0, 0, 0)),
        ([(0, 3)], [], SpanHitCounts(0, 0, 1, 0)),
        ([], [(0, 3)], SpanHitCounts(1, 0, 0, 0)),
        ([(0, 3)], [(3, 5)], SpanHitCounts(1, 0, 1, 0)),  # touching: no position shared
        ([(0, 3)], [(2, 5)], SpanHitCounts(1, 1, 1, 1)),  # one position shared
        ([(0, 9)], [(0, 1), (4, 5), (8, 9)], SpanHitCounts(3, 3, 1, 1)),
        ([(0, 2), (2, 4), (8, 9)], [(1, 3)], SpanHitCounts(1, 1, 3, 2)),
        ([(0, 5), (2, 7)], [(4, 5)], SpanHitCounts(1, 1, 2, 2)),  # overlapping gold spans are hit both
    ],
)
def test_counts(gold: list[tuple[int, int]], predicted: list[tuple[int, int]], counts: SpanHitCounts) -> None:
    assert span_hit(spans(*gold), spans(*predicted, severity=MAJOR)) == counts


def of_corpus(*counts: SpanHitCounts) -> dict[str, float]:
    measured = statistic(counts).figures(np.ones((1, len(counts))))
    return {name: float(values[0]) for name, values in measured.items()}


def test_nothing_to_hit_is_undefined_not_zero() -> None:
    assert math.isnan(of_corpus(SpanHitCounts(predicted=0, gold=3))["hsh"])
    assert math.isnan(of_corpus(SpanHitCounts(predicted=2, gold=0))["tsh"])
    assert of_corpus(SpanHitCounts(predicted=2, gold=3))["hsh"] == 0


def test_average_is_over_spans_not_over_segments() -> None:
    # Perrella et al. 2022, section 2.2: 1 of 1 and 1 of 3 spans are 2 of 4, not (1 + 1/3) / 2.
    assert of_corpus(SpanHitCounts(1, 1, 3, 1), SpanHitCounts(3, 1, 1, 1)) == {"hsh": 0.5, "tsh": 0.5}


_PLACES = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 5)).map(lambda pair: (pair[0], sum(pair))), max_size=6)


@given(_PLACES, _PLACES)
def test_agrees_with_sets_of_positions(gold: list[tuple[int, int]], predicted: list[tuple[int, int]]) -> None:
    def hits(own: list[tuple[int, int]], other: list[tuple[int, int]]) -> int:
        marked = {position for place in other for position in range(*place)}
        return sum(not marked.isdisjoint(range(*place)) for place in own)

    expected = SpanHitCounts(len(predicted), hits(predicted, gold), len(gold), hits(gold, predicted))
    assert span_hit(spans(*gold), spans(*predicted)) == expected


SEGMENT = Segment("a", "0123456789", ("0123456789", "0123456789"))


def lacks(start: int, end: int, reference: int | None = None, severity: Severity | None = Severity.MAJOR) -> Omission:
    return Omission("source" if reference is None else "reference", reference, start, end, severity)


def pair(gold: tuple[Omission, ...], predicted: tuple[Omission, ...]) -> RatingPair:
    return RatingPair.of(*(Rating(SEGMENT, name, (), omissions=own) for name, own in (("g", gold), ("p", predicted))))


def figures(*pairs: RatingPair) -> list[float]:
    (statistic,) = omission_statistics(pairs)
    return [float(values[0]) for values in statistic.figures(np.ones((1, len(pairs)))).values()]


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        ((lacks(0, 3),), (lacks(2, 5),), (1, 1, 1)),
        ((lacks(0, 3),), (lacks(3, 5),), (0, 0, 0)),
        ((lacks(0, 3), lacks(5, 6)), (lacks(0, 1), lacks(2, 3), lacks(8, 9)), (2 / 3, 1 / 2, 4 / 7)),
        ((lacks(0, 3),), (lacks(0, 3, None, Severity.MINOR),), (1, 1, 1)),
        ((lacks(0, 3),), (lacks(0, 3, None, None), lacks(0, 3, None, Severity.NEUTRAL)), (math.nan, 0, math.nan)),
        # A gold standard that marks only the source says nothing of the references.
        ((lacks(0, 3),), (lacks(0, 3), lacks(0, 3, 0)), (1, 1, 1)),
        ((lacks(0, 3, 0),), (lacks(0, 3, 1),), (0, 0, 0)),
    ],
)
def test_an_omission_is_found_where_it_overlaps(
    gold: tuple[Omission, ...], predicted: tuple[Omission, ...], expected: tuple[float, ...]
) -> None:
    assert figures(pair(gold, predicted)) == pytest.approx(expected, nan_ok=True)


def test_without_gold_omissions_there_are_no_figures() -> None:
    assert omission_statistics([pair((), (lacks(0, 1),)), pair((lacks(0, 1, None, None),), ())]) == ()
    with_none = pair((), (lacks(0, 1),))
    with_some = pair((lacks(0, 1),), (lacks(0, 1),))
    options = FigureOptions(tag_units.tagging("character"))
    names = [set(pair_statistics.measure(pair_statistics.of_pairs([one], options))) for one in (with_none, with_some)]
    assert names[1] - names[0] == {"omissions.precision", "omissions.recall", "omissions.f1"}

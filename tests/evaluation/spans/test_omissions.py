from __future__ import annotations

import math

import numpy as np
import pytest

from matese import tag_units
from matese.annotation import Omission, Rating, Segment, Severity
from matese.evaluation.spans import omissions, pair_statistics
from matese.evaluation.spans.pair_statistics import FigureOptions
from matese.evaluation.spans.rating_pairs import RatingPair

SEGMENT = Segment("a", "0123456789", ("0123456789", "0123456789"))


def lacks(start: int, end: int, reference: int | None = None, severity: Severity | None = Severity.MAJOR) -> Omission:
    return Omission("source" if reference is None else "reference", reference, start, end, severity)


def pair(gold: tuple[Omission, ...], predicted: tuple[Omission, ...]) -> RatingPair:
    return RatingPair.of(*(Rating(SEGMENT, name, (), omissions=own) for name, own in (("g", gold), ("p", predicted))))


def figures(*pairs: RatingPair) -> list[float]:
    (statistic,) = omissions.statistics(pairs)
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


def test_counts_are_added_over_segments() -> None:
    assert figures(pair((), (lacks(0, 1),)), pair((lacks(0, 1),), (lacks(0, 1),))) == pytest.approx([1 / 2, 1, 2 / 3])


def test_without_gold_omissions_there_are_no_figures() -> None:
    assert omissions.statistics([pair((), (lacks(0, 1),)), pair((lacks(0, 1, None, None),), ())]) == ()
    with_none, with_some = pair((), (lacks(0, 1),)), pair((lacks(0, 1),), (lacks(0, 1),))
    options = FigureOptions(tag_units.tagging("character"))
    names = [set(pair_statistics.measure(pair_statistics.of_pairs([one], options))) for one in (with_none, with_some)]
    assert names[1] - names[0] == {"omissions.precision", "omissions.recall", "omissions.f1"}

from __future__ import annotations

import math

import pytest

from matese.evaluation.spans import category_agreement, groups, pair_statistics
from matese.evaluation.spans.pair_statistics import PairStatistics
from matese.evaluation.spans.rating_pairs import RatingPair
from matese.evaluation.spans.span_matching import MatchingRules
from tests.evaluation.material import minor, pair

GIVEN = [
    pair(
        [minor(0, 4, "Style/Awkward"), minor(5, 9, "Accuracy/Addition"), minor(10, 14, "Fluency")],
        [minor(0, 4, "Style"), minor(5, 9, "Accuracy"), minor(10, 14, "Accuracy")],
    ),
    # The overlap decides what is matched; unmatched spans, and those without a known category, do not count.
    pair(
        [minor(0, 8, "Accuracy/Mistranslation"), minor(20, 24, "Style"), minor(30, 34, "Zeitform"), minor(35, 39)],
        [minor(2, 8, "Accuracy"), minor(26, 28, "Fluency"), minor(30, 34, "Style"), minor(35, 39, "Style")],
    ),
]


def measured(given: list[RatingPair], *parts: object) -> dict[str, float]:
    found = pair_statistics.measure(PairStatistics(tuple(given), parts))  # type: ignore[arg-type]
    return {name: figure.value for name, figure in found.items()}


def test_worked_example() -> None:
    found = measured(GIVEN, *category_agreement.statistics(GIVEN))
    # Pairs: Style-Style, Accuracy-Accuracy twice, Fluency-Accuracy.
    assert found["category.agreement"] == 0.75
    chance = (2 * 3 + 1 * 1) / 16
    assert found["category.kappa"] == pytest.approx((0.75 - chance) / (1 - chance))
    assert found["category.accuracy.agreement"] == pytest.approx(4 / 5)
    assert found["category.fluency.agreement"] == 0
    assert found["category.style.agreement"] == 1
    assert math.isnan(found["category.locale_convention.agreement"])


@pytest.mark.parametrize("gold", [[], [minor(0, 4)], [minor(0, 4, "Zeitform")]])
def test_a_side_without_categories_has_no_agreement(gold: list[object]) -> None:
    other = [minor(0, 4, "Style")]
    assert category_agreement.statistics([pair(gold, other)]) == ()  # type: ignore[arg-type]
    assert category_agreement.statistics([pair(other, gold)]) == ()  # type: ignore[arg-type]


def test_subcategories_count_as_main_ones_if_the_prediction_has_main_ones() -> None:
    found = groups.by_category(GIVEN, MatchingRules())
    assert {name: own.n_spans for name, own in found.items()} == {
        "Accuracy": (2, 3),
        "Style": (2, 3),
        "Fluency": (1, 1),
        "Zeitform": (1, 0),
        "none": (1, 0),
    }
    figures = {name: measured(GIVEN, own) for name, own in found.items()}
    assert figures["Accuracy"]["category.precision"] == pytest.approx(2 / 3)
    assert figures["Accuracy"]["category.recall"] == 1
    assert figures["Accuracy"]["category.f1"] == pytest.approx(4 / 5)
    assert figures["Style"]["category.f1"] == pytest.approx(2 / 5)
    assert figures["Fluency"]["category.f1"] == 0
    assert figures["Fluency"]["mpp.micro.recall"] == 1, "found, as something else"


def test_subcategories_of_a_prediction_are_compared_as_they_are() -> None:
    given = [pair([minor(0, 4, "Style/Awkward"), minor(5, 9, "Style/Awkward")], [minor(0, 4, "Style/Awkward")])]
    (one,) = groups.by_category(given, MatchingRules()).values()
    assert measured(given, one)["category.f1"] == pytest.approx(2 / 3)
    without = [pair([minor(0, 4, "Style/Awkward")], [minor(0, 4)])]
    (one,) = groups.by_category(without, MatchingRules()).values()
    assert "category.f1" not in measured(without, one)

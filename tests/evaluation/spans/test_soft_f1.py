from __future__ import annotations

import pytest

from matese.evaluation.spans import soft_f1
from matese.evaluation.spans.rating_pairs import RatingPair
from matese.evaluation.statistics import bootstrap
from tests.evaluation.material import major, minor, pair


def figures(*pairs: RatingPair) -> tuple[float, float, float]:
    found = soft_f1.statistic(pairs).figures(bootstrap.whole_sample(len(pairs)))
    precision, recall, f1 = (float(found[f"soft.{rate}"][0]) for rate in ("precision", "recall", "f1"))
    return precision, recall, f1


@pytest.mark.parametrize(
    ("gold", "predicted", "text", "precision", "recall"),
    [
        ([], [], "", 1.0, 1.0),
        ([], [], "abcdefghij", 1.0, 1.0),
        ([major(0, 4)], [major(0, 4)], "abcdefghij", 1.0, 1.0),
        ([], [minor(0, 4)], "abcdefghij", 1 - 2 / 13, 1 - 2 / 11),
        ([], [major(0, 10)], "abcdefghij", 1 - 10 / 21, 1 - 10 / 11),
        ([minor(0, 4)], [major(0, 4)], "abcdefghij", 1 - 2 / 15, 1 - 2 / 13),
        ([major(0, 4)], [major(6, 10)], "abcdefghij", 1 - 8 / 15, 1 - 8 / 15),
        # A character of both severities has 1.5; two spans of one severity count once.
        ([major(0, 2), minor(0, 2)], [major(0, 2), major(1, 2)], "abcdefghij", 1 - 1 / 13, 1 - 1 / 14),
    ],
)
def test_definition(gold: list, predicted: list, text: str, precision: float, recall: float) -> None:  # type: ignore[type-arg]
    f1 = 2 * precision * recall / (precision + recall)
    assert figures(pair(gold, predicted, text=text)) == pytest.approx((precision, recall, f1))


def test_figures_are_means_of_the_segments() -> None:
    pairs = [pair([], [minor(0, 4)], text="abcdefghij"), pair([major(0, 4)], [major(0, 4)], text="abcdefghij")]
    each = [figures(one) for one in pairs]
    assert figures(*pairs) == pytest.approx([sum(values) / 2 for values in zip(*each, strict=True)])

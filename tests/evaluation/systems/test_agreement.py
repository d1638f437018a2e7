from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from matese.annotation import ErrorSpan, Rating, Segment
from matese.evaluation.spans import pair_statistics
from matese.evaluation.spans.pair_statistics import FigureOptions
from matese.evaluation.spans.rating_pairs import RatingPair
from matese.evaluation.spans.span_figures import SpanFigures
from matese.evaluation.systems import agreement
from matese.evaluation.systems.agreement import RatedSegment, RaterAgreement
from matese.tasks import tag_units
from tests.evaluation.material import major, minor, rating

BY_CHARACTER = FigureOptions(tag_units.tagging("character"))


def rated(*marks: tuple[str, list[ErrorSpan]], index: int = 0) -> RatedSegment:
    return tuple(rating(*errors, rater=name, index=index) for name, errors in marks)


def measure(segments: Sequence[RatedSegment], **options: Any) -> RaterAgreement:
    ratings = [one for segment in segments for one in segment]
    return agreement.measure(ratings, replace(BY_CHARACTER, figures=SpanFigures(**options)))


SEGMENTS = [
    rated(("A", [minor(0, 4)]), ("B", [major(2, 4)]), ("C", []), index=0),
    rated(("A", [minor(0, 4), major(10, 20)]), ("B", [major(10, 20)]), index=1),
    rated(("A", []), ("C", [minor(5, 9)]), index=2),
]


def test_grouping_is_by_key_and_text() -> None:
    ratings = [one for segment in SEGMENTS for one in segment]
    typed = rating(minor(0, 1), text="other", rater="D", index=0)
    segments, n_single = agreement.group([*ratings[::-1], typed])
    assert {tuple(one.rater for one in segment) for segment in segments} == {
        ("A", "B", "C"),
        ("A", "B"),
        ("A", "C"),
    }
    assert n_single == 1


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([rating(rater=None)], "has no rater; every rating needs one"),
        ([Rating(Segment("a"), "r", None)], "has no spans; give ratings of spans"),
        ([rating(rater="A"), rating(minor(0, 1), rater="A")], "A has rated segment .* twice; one rating of a rater"),
    ],
)
def test_ratings_that_cannot_be_compared(bad: list[Rating], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        agreement.group(bad)


def test_nobody_to_compare() -> None:
    with pytest.raises(ValueError, match="no segment has two raters; agreement needs segments that"):
        agreement.measure([rating(rater="A")], BY_CHARACTER)


def test_two_raters_are_an_evaluation() -> None:
    found = measure(SEGMENTS)
    assert list(found.others) == ["A", "B", "C"]
    assert found.n_shared == {("A", "B"): 2, ("A", "C"): 2, ("B", "C"): 1}
    pairs = [RatingPair.of(segment[0], segment[1]) for segment in SEGMENTS[:2]]
    alone = pair_statistics.measure(pair_statistics.of_pairs(pairs, BY_CHARACTER))
    own = found.pairs["A", "B"]
    for name in ("mpp.micro.f1", "mpp.micro.precision", "hsh", "tsh", "char_wmt25.f1", "score.pearson", "tags.mcc"):
        assert own[name].value == pytest.approx(alone[name].value, nan_ok=True)
    # Both of B's spans are hit, and two of A's three.
    assert (own["hsh"].value, own["tsh"].value) == pytest.approx((1.0, 2 / 3))


def test_pooled_figures_count_both_directions() -> None:
    pooled = measure(SEGMENTS).pooled
    for name in ("mpp.micro", "mp.micro", "char_wmt25", "tags.macro"):
        assert pooled[f"{name}.precision"].value == pytest.approx(pooled[f"{name}.recall"].value)
    assert pooled["hsh"].value == pooled["tsh"].value == pytest.approx((2 + 2) / (4 + 3 + 1))


def spans_hit(found: RaterAgreement, name: str) -> float:
    return found.others[name]["hsh"].value


def test_each_rater_is_held_against_all_others() -> None:
    found = measure(SEGMENTS)
    # A's spans: 0..4 (hit by B, not by C), 0..4 and 10..20 (with B: one of two).
    assert spans_hit(found, "A") == pytest.approx(2 / 4)
    assert spans_hit(found, "C") == 0.0


def test_severities_of_matched_spans() -> None:
    pooled = measure(SEGMENTS[:2]).pooled
    # Matched in A and B: Minor with Major, and Major with Major; both directions.
    assert pooled["severity.agreement"].value == 0.5
    assert pooled["severity.kappa"].value == pytest.approx((0.5 - 0.625) / (1 - 0.625))


def test_alpha_is_of_units() -> None:
    same = [rated(("A", [minor(0, 4)]), ("B", [minor(0, 4)]))]
    assert measure(same).alpha["alpha.severity"].value == 1.0
    other = [rated(("A", [minor(0, 4)]), ("B", [major(0, 4)]))]
    found = measure(other).alpha
    assert found["alpha.marked"].value == 1.0
    assert 0 < found["alpha.severity"].value < 1
    nobody = measure([rated(("A", []), ("B", []))]).alpha
    assert math.isnan(nobody["alpha.marked"].value)


def test_intervals_are_of_segments() -> None:
    rng = np.random.default_rng(0)
    segments = []
    for index in range(40):
        start = int(rng.integers(0, 30))
        segments.append(
            rated(("A", [minor(start, start + 5)]), ("B", [minor(start, start + 5 * (index % 2) + 1)]), index=index)
        )
    found = measure(segments, bootstrap=100, seed=1)
    figure = found.pooled["mpp.micro.f1"]
    assert figure.low < figure.value < figure.high
    assert found.alpha["alpha.marked"].low < found.alpha["alpha.marked"].value < found.alpha["alpha.marked"].high
    assert math.isnan(found.pairs["A", "B"]["mpp.micro.f1"].low)
    again = measure(segments, bootstrap=100, seed=1)
    assert (again.pooled["mpp.micro.f1"], again.alpha) == (figure, found.alpha)

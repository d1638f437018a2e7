from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from matese import mqm
from matese.annotation import Estimate, Overall, Rating, Segment, TokenScores
from matese.evaluation.spans import groups, pair_statistics, rating_pairs
from matese.evaluation.spans.pair_statistics import FigureOptions, PairStatistics
from matese.evaluation.spans.rating_pairs import RatingPair
from matese.evaluation.spans.span_figures import SpanFigures
from matese.evaluation.spans.span_matching import MatchingRules
from matese.tasks import tag_units
from tests.evaluation.material import WORKED, major, minor, pair

BY_CHARACTER = FigureOptions(tag_units.tagging("character"))


def many(n: int = 60) -> list[RatingPair]:
    """Segments of two language pairs, of which the prediction finds what stands in the first half."""
    rng = np.random.default_rng(0)
    found = []
    for number in range(n):
        start = int(rng.integers(0, 30))
        gold = [major(start, start + 8)] if rng.random() < 0.7 else []
        predicted = [minor(start, start + 4, confidence=float(rng.random()))] if rng.random() < 0.6 else []
        found.append(pair(gold, predicted, lang_pair="en-de" if number % 3 else "zh-en", system=f"S{number % 2}"))
    return found


def measure(given: list[RatingPair], **options: object) -> dict[str, float]:
    tokens = options.pop("tokens", None)
    weights = options.pop("weights", mqm.MATESE)
    how = replace(BY_CHARACTER, weights=weights, figures=SpanFigures(**options))  # type: ignore[arg-type]
    found = pair_statistics.measure(pair_statistics.of_pairs(given, how, tokens))  # type: ignore[arg-type]
    return {name: figure.value for name, figure in found.items()}


def test_worked_case() -> None:
    found = measure([WORKED])
    expected = {
        "char_wmt23.precision": 0.28125,
        "char_wmt23.recall": 9 / 28,
        "char_wmt23.f1": 0.3,
        "char_wmt25.precision": 0.28125,
        "char_wmt25.recall": 9 / 28,
        "char_wmt25.f1": 0.3,
        "hsh": 2 / 3,
        "tsh": 1.0,
        "mp.micro.precision": 2 / 3,
        "mp.micro.recall": 1.0,
        "mp.micro.f1": 0.8,
        "mpp.micro.precision": 1.25 / 3,
        "mpp.micro.recall": 0.5,
        "mpp.micro.f1": 5 / 11,
        "em.micro.f1": 0.0,
        "exact.f1": 0.0,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_figure_3_of_matese() -> None:
    # Two of three predicted spans touch a gold one, and both gold spans are touched.
    found = measure([pair([minor(0, 5), major(10, 15)], [major(2, 7), minor(14, 20), minor(30, 33)])])
    assert (found["hsh"], found["tsh"]) == pytest.approx((2 / 3, 1.0))


def test_no_spans_at_all() -> None:
    found = measure([pair([], []), pair([], [])])
    assert math.isnan(found["hsh"])
    assert math.isnan(found["tsh"])
    assert found["mpp.micro.f1"] == found["char_wmt25.f1"] == 1.0
    assert math.isnan(found["exact.f1"])
    assert math.isnan(found["tags.B-Minor.f1"])
    assert found["tags.O.f1"] == 1.0
    assert found["score.mae"] == 0.0


def test_intervals_hold_the_figures_and_are_those_of_the_seed() -> None:
    one = pair_statistics.of_pairs(many(), BY_CHARACTER)
    found, again = (pair_statistics.measure(one, n_resamples=200, seed=3) for _ in range(2))
    assert found == again
    assert found != pair_statistics.measure(one, n_resamples=200, seed=4)
    plain = pair_statistics.measure(one)
    for name, figure in found.items():
        assert figure.value == plain[name].value
        assert math.isnan(plain[name].low)
        assert figure.low <= figure.high
    assert found["mpp.micro.f1"].low < found["mpp.micro.f1"].value < found["mpp.micro.f1"].high


def test_a_resample_is_the_evaluation_of_its_segments() -> None:
    given = many(20)
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 3, size=20)
    one = pair_statistics.of_pairs(given, BY_CHARACTER).figures(counts[np.newaxis].astype(np.float64))
    other = measure([segment for segment, n in zip(given, counts, strict=True) for _ in range(n)])
    found = {name: float(values[0]) for name, values in one.items()}
    # Of ties, copies of a segment are no pairs.
    assert {name for name in found if found[name] != pytest.approx(other[name], nan_ok=True)} <= {
        name for name in found if ".ties." in name
    }


@pytest.mark.parametrize("by", ["lang-pair", "system", "length"])
def test_groups_are_evaluations_of_their_segments(by: str) -> None:
    given = [*many(20), pair([minor(0, 3)], [], text="Wort " * 12)]
    one = pair_statistics.of_pairs(given, BY_CHARACTER)
    members_of = groups.by_segment(given, by)
    assert sum(members_of.values()).tolist() == [1.0] * 21  # type: ignore[union-attr]
    for members in members_of.values():
        found = {name: figure.value for name, figure in pair_statistics.measure(one, members=members).items()}
        alone = measure([segment for segment, is_in in zip(given, members, strict=True) if is_in])
        shared = found.keys() & alone.keys()
        assert {name: found[name] for name in shared} == pytest.approx(
            {name: alone[name] for name in shared}, nan_ok=True
        )


def test_names_of_groups() -> None:
    given = [pair([], [], text="w " * n, system=system) for n, system in ((45, "b"), (3, "a"), (12, None))]
    assert list(groups.by_segment(given, "length")) == ["0-9", "10-19", "40+"]
    lengths = ["0-9", "0-9", "10-19", "20-39", "20-39", "40+"]
    assert [groups.length_group("w " * n) for n in (0, 9, 10, 20, 39, 40)] == lengths
    assert list(groups.by_segment(given, "system")) == ["a", "b", "none"]


def test_by_severity() -> None:
    found = groups.by_severity([WORKED], BY_CHARACTER)
    figures = {name: pair_statistics.measure(one) for name, one in found.items()}
    # Minor: gold 20..24, predicted 0..5 and 22..30; Major: gold 0..10, predicted 35..38.
    assert figures["minor"]["hsh"].value == 0.5
    assert figures["major"]["hsh"].value == 0.0
    assert figures["minor"]["mpp.micro.recall"].value == 0.5
    assert figures["minor"]["char_wmt25.precision"].value == pytest.approx(2 / 13)


def test_by_category() -> None:
    given = [
        pair(
            [minor(0, 4, "Style"), major(10, 20, "Accuracy/Mistranslation")], [minor(0, 2), minor(3, 5), major(12, 14)]
        ),
        pair([minor(0, 4, "Style"), minor(5, 6)], []),
    ]
    found = groups.by_category(given, MatchingRules())
    assert list(found) == ["Style", "Accuracy/Mistranslation", "none"]
    values = {name: pair_statistics.measure(PairStatistics(tuple(given), (one,))) for name, one in found.items()}
    assert (*found["Style"].n_spans, found["none"].n_spans[1]) == (2, 0, 3)
    assert values["Style"]["tsh"].value == 0.5
    assert values["Style"]["mpp.micro.recall"].value == 0.25
    assert math.isnan(values["Style"]["hsh"].value)
    assert values["Accuracy/Mistranslation"]["mpp.micro.recall"].value == 0.2
    assert values["none"]["tsh"].value == 0.0


def test_intervals_of_a_group_are_of_its_segments() -> None:
    given = [*(pair([minor(0, 4)], [minor(0, 4)], system="good") for _ in range(9)), *many(9)]
    one = pair_statistics.of_pairs(given, BY_CHARACTER)
    found = pair_statistics.measure(one, members=groups.by_segment(given, "system")["good"], n_resamples=50)[
        "mpp.micro.f1"
    ]
    assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)


def test_differences_are_paired() -> None:
    given = many()
    first = pair_statistics.of_pairs(given, BY_CHARACTER)
    better = pair_statistics.of_pairs([RatingPair.of(one.gold, one.gold) for one in given], BY_CHARACTER)
    found = pair_statistics.compare(first, better, n_resamples=200)
    assert found["mpp.micro.f1"].value == pytest.approx(1 - pair_statistics.measure(first)["mpp.micro.f1"].value)
    assert found["mpp.micro.f1"].p < 0.02
    assert found["mpp.micro.f1"].low > 0
    same = pair_statistics.compare(first, first, n_resamples=50)["mpp.micro.f1"]
    assert (same.value, same.low, same.high, same.p) == (0.0, 0.0, 0.0, 1.0)
    assert math.isnan(pair_statistics.compare(first, better)["mpp.micro.f1"].p)


def test_scores_and_expected_scores() -> None:
    def predicted(number: int, value: float) -> Rating:
        return Rating(Segment("x" * 40), "m", (minor(0, number + 1),) * number, estimate=Estimate(value, "mqm"))

    golds = [Rating(Segment("x" * 40), "r", errors) for errors in ((), (minor(0, 1),), (major(0, 1),))]
    given = [
        RatingPair.of(gold, predicted(n, value))
        for n, (gold, value) in enumerate(zip(golds, (-1, -2, -3), strict=True))
    ]
    found = measure(given)
    assert found["score.mae"] == pytest.approx((0 + 0 + 3) / 3)
    assert found["expected_score.mae"] == pytest.approx((1 + 1 + 2) / 3)
    assert found["expected_score.spearman"] == pytest.approx(1.0)
    assert measure(given, weights=mqm.Weights("w", major=1.0))["score.mae"] == pytest.approx(1 / 3)
    without = [*given, RatingPair.of(golds[0], golds[0])]
    assert not any(name.startswith("expected_score") for name in measure(without))


def test_a_person_s_judgement_is_no_expected_score() -> None:
    golds = [Rating(Segment("x" * 40), "r", errors) for errors in ((), (minor(0, 1),))]
    others = [replace(one, rater="s", overall=Overall(-3, "mqm")) for one in golds]
    assert not any(name.startswith("expected_score") for name in measure(paired(golds, others)))


def paired(golds: list[Rating], predictions: list[Rating]) -> list[RatingPair]:
    return list(rating_pairs.pair_up(golds, predictions))


def test_without_spans_only_scores_are_measured() -> None:
    def scored(value: float, scale: Any) -> Rating:
        return Rating(Segment("x" * 40), "m", None, estimate=Estimate(value, scale))

    golds = [Rating(Segment("x" * 40), "r", errors) for errors in ((), (minor(0, 1),), (major(0, 1),))]
    found = measure(paired(golds, [scored(value, "comet") for value in (0.9, 0.7, 0.8)]))
    assert set(found) == {f"expected_score.{key}" for key in ("pearson", "spearman", "kendall")} | {
        "expected_score.ties.gold",
        "expected_score.ties.predicted",
    }
    assert found["expected_score.spearman"] == pytest.approx(0.5)
    assert measure(paired(golds, [scored(-1, "mqm")] * 3))["expected_score.mae"] == pytest.approx(5 / 3)
    # Gold scores are the overall scores where people marked nothing.
    assessed = [Rating(golds[0].segment, "r", None, overall=Overall(value, "da")) for value in (10, 20, 90)]
    assert measure(paired(assessed, golds))["score.spearman"] == pytest.approx(-1.0)
    assert "score.mae" not in measure(paired(assessed, golds))
    assert measure(paired(golds, assessed))["score.spearman"] == pytest.approx(-1.0)


def test_what_is_there_only_with_confidences_and_tokens() -> None:
    assert "calibration.ece" not in measure([WORKED])
    assert "calibration.ece" in measure(many(5))
    tokens = TokenScores(((0, 10), (10, 40)), ((0.0, 0.0, 0.0, 1.0, 0.0), (1.0, 0.0, 0.0, 0.0, 0.0)))
    found = measure([pair([major(0, 5)], [])], tokens=[tokens])
    assert (found["localisation.auc"], found["localisation.recall_at_k"]) == (1.0, 1.0)

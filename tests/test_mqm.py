from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matese import mqm
from matese.annotation import ErrorSpan, Omission, Rating, Segment, Severity, UnplacedError
from matese.errors import UsageError
from matese.mqm import GOOGLE, MATESE, UNBABEL, CategoryPenalty, Weights
from matese.text.words import count_words

NEUTRAL, MINOR, MAJOR, CRITICAL = Severity


def rating(*severities: Severity | None, text: str = "one two three four", category: str | None = None) -> Rating:
    return Rating(Segment(text), None, (), unplaced=tuple(UnplacedError(severity, category) for severity in severities))


@pytest.mark.parametrize(
    ("weights", "penalties"),
    [(MATESE, (0, 0, 1, 5, 5)), (GOOGLE, (0, 0, 1, 5, 5)), (UNBABEL, (0, 0, 1, 5, 10))],
    ids=["matese", "google", "unbabel"],
)
def test_penalties_by_severity(weights: Weights, penalties: tuple[float, ...]) -> None:
    severities = (None, *Severity)
    assert tuple(mqm.penalty(UnplacedError(severity), weights) for severity in severities) == penalties
    assert tuple(mqm.penalty(ErrorSpan(0, 1, severity), weights) for severity in severities) == penalties


@pytest.mark.parametrize("category", ["Source error", "Source issue", "Non-translation!", "Other"])
def test_categories_of_wmt_beside_the_main_ones(category: str) -> None:
    assert mqm.main_category(category) == "Other"


@pytest.mark.parametrize(
    ("severity", "category", "penalty"),
    [
        # score_mqm.py of mt-metrics-eval: Major/Non-translation!:25 Minor/Fluency/Punctuation:0.1.
        (MAJOR, "Non-translation!", 25),
        (MAJOR, "non-translation", 25),
        (MINOR, "Non-translation!", 1),
        (NEUTRAL, "Non-translation!", 0),
        (None, "Non-translation!", 0),
        # The script has no Critical.
        (CRITICAL, "Non-translation!", 25),
        (CRITICAL, "Accuracy/Omission", 5),
        (MINOR, "Fluency/Punctuation/Comma", 0.1),
        (MINOR, "Fluency/Punctuation", 0.1),
        (MINOR, "fluency/punctuation", 0.1),
        (MAJOR, "Fluency/Punctuation", 5),
        (NEUTRAL, "Fluency/Punctuation", 0),
        (MINOR, "Fluency", 1),
        (MINOR, "Fluency/Punctuation marks", 1),
        (MINOR, "Punctuation", 1),
        (MINOR, "", 1),
        (MINOR, None, 1),
        (MAJOR, "Accuracy/Omission", 5),
    ],
)
def test_penalties_of_the_google_weights(severity: Severity | None, category: str | None, penalty: float) -> None:
    assert mqm.penalty(UnplacedError(severity, category), GOOGLE) == penalty
    assert mqm.penalty(ErrorSpan(0, 1, severity, category), GOOGLE) == penalty


@pytest.mark.parametrize("weights", [MATESE, GOOGLE, UNBABEL], ids=["matese", "google", "unbabel"])
def test_only_a_major_or_critical_non_translation_costs_25(weights: Weights) -> None:
    severities = (None, *Severity)
    costs = [mqm.penalty(UnplacedError(severity, "Non-translation!"), weights) for severity in severities]
    assert costs == [0, 0, 1, 25, 25]


@pytest.mark.parametrize(
    ("wanted", "category", "is_match"),
    [
        ("Fluency", "Fluency", True),
        ("Fluency", "Fluency/Grammar", True),
        ("Fluency", "Fluency-like", False),
        ("Fluency/Grammar", "Fluency", False),
        ("FLUENCY", "fluency/Grammar", True),
        ("Non-translation!", "Non-translation", True),
        ("Other", None, False),
    ],
)
def test_a_category_is_met_whole_or_up_to_a_slash(wanted: str, category: str | None, is_match: bool) -> None:
    penalty = CategoryPenalty(wanted, None, 1)
    assert all(penalty.matches(UnplacedError(severity, category)) is is_match for severity in (None, *Severity))


def test_the_first_category_that_matches_counts() -> None:
    categories = (CategoryPenalty("A/B", None, 2), CategoryPenalty("A", None, 3), CategoryPenalty("A/C", None, 4))
    weights = Weights("w", categories=categories)
    assert [mqm.penalty(UnplacedError(MAJOR, name), weights) for name in ("A/B", "A/C", "A", "D")] == [2, 3, 3, 5]


def test_an_error_free_segment_scores_0_and_not_minus_0() -> None:
    for weights in (MATESE, GOOGLE, UNBABEL):
        for text in ("", "a b"):
            score = mqm.score(rating(text=text), weights)
            assert (score, math.copysign(1, score)) == (0, 1)


def test_errors_of_the_source_and_without_a_place_count_too() -> None:
    span = ErrorSpan(0, 1, MAJOR)
    assert mqm.score(Rating(Segment("a", "b"), None, (span,), (span,), unplaced=(UnplacedError(MINOR),))) == -11


def test_omissions_count_unless_the_weights_leave_them_out() -> None:
    omissions = Omission("source", None, 0, 1, MAJOR), Omission("reference", 0, 0, 1, MINOR, "Fluency/Punctuation")
    rating = Rating(Segment("a", "b", ("c",)), None, (ErrorSpan(0, 1, MINOR),), omissions=omissions)
    scores = {name: mqm.score(rating, weights) for name, weights in mqm.PRESETS.items()}
    assert scores == {"matese": -7, "google": -6.1, "unbabel": -100, "no-omissions": -1}
    assert mqm.score(rating, replace(GOOGLE, omissions=False)) == -1


def test_overlapping_and_equal_errors_all_count() -> None:
    spans = (ErrorSpan(0, 2, MINOR), ErrorSpan(0, 2, MINOR), ErrorSpan(1, 2, MAJOR))
    assert mqm.score(Rating(Segment("ab"), None, spans)) == -7


@pytest.mark.parametrize(("floor", "score"), [(None, -50), (-25, -25), (-50, -50), (-100, -50), (0, 0)])
def test_the_floor(floor: float | None, score: float) -> None:
    """By default it is that of the paper, and Google's weights have none."""
    assert mqm.score(rating(*[MAJOR] * 10), replace(MATESE, floor=floor)) == score
    assert (mqm.score(rating(*[MAJOR] * 10)), mqm.score(rating(*[MAJOR] * 10), GOOGLE)) == (-25, -50)


@pytest.mark.parametrize(
    ("text", "score"), [("one two three four", -25), ("a", -100), ("", -1), ("  ", -1), ("很好很好很", -20)]
)
def test_unbabel_divides_by_the_words(text: str, score: float) -> None:
    assert mqm.score(rating(MINOR, text=text), UNBABEL) == score
    assert mqm.score(rating(MAJOR, text=text), UNBABEL) == max(-100, 5 * score), "which is the floor"


def test_ten_tenths_are_one() -> None:
    assert mqm.score(rating(*[MINOR] * 10, category="Fluency/Punctuation"), GOOGLE) == -1


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        *((name, (-1, -0.1, math.nan, math.inf)) for name in ("neutral", "minor", "major", "critical", "cap")),
        ("floor", (1, 0.1, math.nan, -math.inf)),
        ("per_words", (0, -1, math.nan, math.inf)),
    ],
)
def test_numbers_that_are_no_weights(name: str, numbers: tuple[float, ...]) -> None:
    for number in numbers:
        settings: dict[str, Any] = {name: number}
        with pytest.raises(ValueError, match=f"{name} "):
            Weights("w", **settings)
    with pytest.raises(ValueError, match="penalty -1: "):
        CategoryPenalty("Other", None, -1)


def test_the_cap_counts_before_the_words() -> None:
    segment = Segment("one two")
    rating = Rating(segment, "r", (), unplaced=(UnplacedError(Severity.MAJOR),) * 3)
    assert mqm.score(rating, Weights("w", cap=8, floor=None)) == -8
    assert mqm.score(rating, Weights("w", cap=8, floor=None, per_words=1)) == -4


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        (" \t\u3000\u2028", 0),
        ("a", 1),
        (" a  b ", 2),
        ("don't - stop.", 3),
        ("e\u0301 é", 2),
        ("👩‍👧 ok", 2),
        ("שלום עולם", 2),
        ("한국어 단어", 2),
        ("这是GPT-4模型", 5),
        ("すごいAI", 4),
        ("\U00020000\U0003134a", 2),
        ("ไทย", 3),
    ],
)
def test_words_are_counted_in_scripts_with_and_without_spaces(text: str, count: int) -> None:
    assert count_words(text) == count


@pytest.mark.parametrize(("scores", "mean"), [([0], 0), ([-1, 0], -0.5), ([-25, -5, 0], -10), (iter([-1.0]), -1)])
def test_the_score_of_a_corpus_is_the_mean(scores: Any, mean: float) -> None:
    assert mqm.corpus_score(scores) == mean


text = "one two three"
severities = st.none() | st.sampled_from(Severity)
categories = st.none() | st.sampled_from(["Fluency/Punctuation", "Non-translation!", "Accuracy/Omission"])
spans = st.builds(ErrorSpan, st.integers(0, 5), st.integers(6, len(text)), severities, categories)
unplaced = st.builds(UnplacedError, severities, categories)
penalties = st.floats(0, 100)
any_weights = st.sampled_from([MATESE, GOOGLE, UNBABEL]) | st.builds(
    Weights,
    st.just("any"),
    penalties,
    penalties,
    penalties,
    penalties,
    st.lists(st.builds(CategoryPenalty, st.sampled_from(["Fluency", "Accuracy"]), severities, penalties)).map(tuple),
    st.none() | st.floats(-100, 0),
    st.none() | st.floats(0.1, 100),
)


@settings(deadline=None)
@given(st.lists(spans), st.lists(spans), st.lists(unplaced), any_weights, st.randoms())
def test_a_score_does_not_depend_on_order_or_place(
    errors: list[ErrorSpan],
    source_errors: list[ErrorSpan],
    others: list[UnplacedError],
    weights: Weights,
    shuffle: random.Random,
) -> None:
    given_order = mqm.score(
        Rating(Segment(text, text), None, (*errors,), (*source_errors,), unplaced=(*others,)), weights
    )
    nowhere = [UnplacedError(error.severity, error.category) for error in (*errors, *source_errors)] + others
    shuffle.shuffle(nowhere)
    assert mqm.score(Rating(Segment(text), "other", (), unplaced=(*nowhere,)), weights) == given_order


@settings(deadline=None)
@given(st.lists(unplaced), unplaced, any_weights)
def test_a_score_is_0_or_less_not_below_its_floor_and_no_better_with_one_error_more(
    errors: list[UnplacedError], more: UnplacedError, weights: Weights
) -> None:
    score = mqm.score(Rating(Segment(text), None, (), unplaced=(*errors,)), weights)
    assert score <= 0
    assert weights.floor is None or score >= weights.floor
    assert mqm.score(Rating(Segment(text), None, (), unplaced=(*errors, more)), weights) <= score


@settings(deadline=None)
@given(st.lists(st.floats(-100, 0), min_size=1), st.randoms())
def test_a_mean_does_not_depend_on_order_and_lies_between(scores: list[float], shuffle: random.Random) -> None:
    mean = mqm.corpus_score(scores)
    assert mqm.corpus_score(shuffle.sample(scores, len(scores))) == mean
    assert min(scores) - 1e-9 <= mean <= max(scores) + 1e-9


def test_weights_are_found_by_name() -> None:
    punctuation = Rating(Segment("Gut ,"), None, (ErrorSpan(4, 5, Severity.MINOR, "Fluency/Punctuation"),))
    assert mqm.score(punctuation, "google") == mqm.score(punctuation, mqm.GOOGLE) == -0.1
    with pytest.raises(UsageError, match="google"):
        mqm.score(punctuation, "gogle")

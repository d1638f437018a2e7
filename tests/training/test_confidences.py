"""Confidence, severity and thresholds of spans: drawn hits give back what they were drawn with."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity
from matese.model.heads.tags.bio import TAGS
from matese.model.heads.tags.confidence import MarkThreshold, SpanConfidence, span_features
from matese.model.model_input import ModelInput
from matese.model.prediction import Outputs, Prediction, TagProbabilities
from matese.training import confidences
from matese.training.confidences import Candidate, Marked
from matese.training.judged import Judged

TEXT = "one two three four five six seven"
SHORT = "one two three"


def judged(text: str = TEXT, golds: tuple[ErrorSpan, ...] = (), lang_pair: str = "en-de") -> Judged:
    segment = Segment(text, None, ("reference",), SegmentKey(lang_pair=lang_pair))
    prediction = Prediction(text, np.zeros((0, 2), np.int32), Outputs(), -5.0)
    return Judged(Rating(segment, "rater", golds), ModelInput.of(segment, "reference"), prediction)


def segment(
    *shares: tuple[float, bool],
    text: str = TEXT,
    golds: tuple[ErrorSpan, ...] = (),
    lang_pair: str = "en-de",
    major_share: float = 0.5,
    budget: float | None = None,
) -> Marked:
    """Returns a segment with a candidate of one character for each probability and whether it is a hit."""
    candidates = tuple(
        Candidate(ErrorSpan(place, place + 1, Severity.MINOR, confidence=share), 1, is_hit, major_share)
        for place, (share, is_hit) in enumerate(shares)
    )
    return Marked(judged(text, golds, lang_pair), candidates, golds, text == SHORT, budget)


def drawn(n: int, true: SpanConfidence) -> tuple[np.ndarray, np.ndarray]:
    """Returns features and hits drawn with the true confidence."""
    rng = np.random.default_rng(3)
    probabilities = rng.uniform(0.02, 0.98, n)
    lengths = rng.integers(1, 4, n)
    features = np.array([span_features(*one) for one in zip(probabilities, lengths, strict=True)])
    chances = [true.of(*one) for one in zip(probabilities, lengths, strict=True)]
    return features, (rng.random(n) < chances).astype(float)


def test_the_true_weights_are_found() -> None:
    true = SpanConfidence("reference", 0.1, 0.8, 1.2, -1.0)
    found = confidences.fit_confidence(*drawn(4000, true), "reference", 0.1)
    weights = (found.probability, found.length, found.offset)
    assert weights == pytest.approx((true.probability, true.length, true.offset), abs=0.15)
    for probability, n_tokens in itertools.product((0.1, 0.4, 0.7, 0.95), (1, 3)):
        assert found.of(probability, n_tokens) == pytest.approx(true.of(probability, n_tokens), abs=0.08)


@given(st.lists(st.tuples(st.floats(-4, 4), st.booleans()), min_size=1, max_size=400), st.floats(0, 3))
def test_confidence_never_falls_where_the_probability_rises(rows: list[tuple[float, bool]], weight: float) -> None:
    odds = np.array([row[0] for row in rows])
    curve = confidences.rising_curve(odds, np.array([row[1] for row in rows], dtype=float))
    fitted = SpanConfidence("source", 0.1, weight, 0.5, 0.0, curve)  # refuses a curve that falls
    values = [fitted.of(probability, 2) for probability in np.linspace(0, 1, 40)]
    assert values == sorted(values)
    assert 0 <= values[0] <= values[-1] <= 0.99


def test_few_spans_do_not_make_it_sure() -> None:
    """Three wrong spans at the top, as in the first calibration of a model whose spans above .9 were all wrong."""
    odds = np.array([*np.linspace(-2, 2, 500), 3.0, 3.1, 3.2])
    hits = np.array([*(np.linspace(0, 1, 500) > np.tile([0.2, 0.5, 0.8, 0.9, 0.4], 100)).astype(float), 0, 0, 0])
    curve = confidences.rising_curve(odds, hits)
    assert all(before < after for (_, before), (_, after) in itertools.pairwise(curve))
    top = hits[-50:].mean()
    assert curve[-1][1] == pytest.approx(top, abs=0.1)
    assert SpanConfidence("source", 0.1, 1, 0, 0, curve).of(0.9999, 1) == curve[-1][1]


@pytest.mark.parametrize(
    ("text", "n_each", "expected"),
    [(TEXT, 30, (0.21, 0.21)), (SHORT, 30, (1.0, 1.0)), (TEXT, 1, (1.0, 1.0))],
)
def test_half_of_the_marks_are_right(text: str, n_each: int, expected: tuple[float, float]) -> None:
    """Two in three spans of .8 are right, half of those of .4, and none of .2."""
    own = [
        segment((0.8, True), text=text),
        segment((0.8, False), (0.8, True), text=text),
        segment((0.4, True), (0.4, False), text=text),
        segment((0.2, False), (0.2, False), (0.2, False), (0.2, False), text=text),
    ] * n_each
    plain = SpanConfidence("reference", 0.1, 1.0, 0.0, 0.0)
    found = confidences.find_thresholds(own, plain)
    assert (found.least, found.least_of_short) == expected


def test_short_texts_have_a_threshold_that_is_no_lower() -> None:
    plain = SpanConfidence("reference", 0.1, 1.0, 0.0, 0.0)
    long = [segment((0.5, True)), segment((0.3, False), (0.3, False))] * 40
    wrong = [segment((0.6, False), text=SHORT), segment((0.9, True), text=SHORT)] * 30
    worse = [*wrong, segment((0.6, False), text=SHORT)] * 2
    found = confidences.find_thresholds([*long, *worse], plain)
    assert found.least == 0.31
    assert found.least_of_short == 0.61
    few = confidences.find_thresholds([*long, *wrong[:4]], plain)
    assert few.least_of_short == few.least
    right = confidences.find_thresholds([*long, *[segment((0.2, True), text=SHORT)] * 40], plain)
    assert right.least_of_short == right.least


def test_marks_beyond_the_budget_do_not_count() -> None:
    plain = SpanConfidence("reference", 0.1, 1.0, 0.0, 0.0)
    own = [segment((0.8, True), (0.4, False), (0.4, False), budget=1.0)] * 40
    assert confidences.find_thresholds(own, plain).least == 0.01
    unlimited = [segment((0.8, True), (0.4, False), (0.4, False))] * 40
    assert confidences.find_thresholds(unlimited, plain).least == 0.41


def gold(severity: Severity | None) -> tuple[ErrorSpan, ...]:
    return (ErrorSpan(0, 1, severity),)


@pytest.mark.parametrize("n_major", [0, 20, 60, 100])
def test_as_many_marks_are_major_as_of_the_raters(n_major: int) -> None:
    severities = [Severity.MAJOR] * n_major + [Severity.MINOR] * (100 - n_major)
    own = [
        segment((0.6, True), golds=gold(severity), lang_pair=pair, major_share=number / 100)
        for pair in ("en-de", "en-ru")
        for number, severity in enumerate(severities)
    ]
    fitted = confidences.with_severities(
        own, SpanConfidence("reference", 0.1, 1.0, 0.0, 0.0), MarkThreshold("reference", 0.5, 0.5)
    )
    marks = [one.span for each in own for one in confidences.rated(each, fitted)]
    assert sum(span.severity is Severity.MAJOR for span in marks) == pytest.approx(2 * n_major, abs=8)
    assert [one.lang_pair for one in fitted.majors] == ["en-de", "en-ru"]
    assert fitted.major_of_short is None


def test_each_language_pair_and_length_has_its_severities() -> None:
    own = [
        segment((0.6, True), text=text, golds=gold(severity), lang_pair=pair, major_share=number / 100)
        for pair, text, severity in (
            ("en-ru", TEXT, Severity.MAJOR),
            ("en-de", TEXT, Severity.MINOR),
            ("en-de", SHORT, Severity.MAJOR),
        )
        for number in range(100)
    ]
    fitted = confidences.with_severities(
        own, SpanConfidence("reference", 0.1, 1.0, 0.0, 0.0), MarkThreshold("reference", 0.5, 0.5)
    )
    found = {
        (pair, text): fitted.of_segment(text, pair).major
        for pair, text in itertools.product(("en-ru", "en-de", "en-fr", None), (TEXT, SHORT))
    }
    assert found["en-ru", TEXT] == 0
    assert (found["en-de", TEXT] or 0) > 0.58
    assert found["en-fr", TEXT] == found[None, TEXT] == fitted.major == pytest.approx(0.3, abs=0.03)
    assert {found[pair, SHORT] for pair in ("en-ru", "en-de", "en-fr")} == {0.0}


def test_few_spans_give_no_fit() -> None:
    fitted = confidences.fit([], "source", 0.15, span_budget=None, whole_words=True)
    assert fitted.threshold is None
    assert (fitted.confidence.inputs, fitted.confidence.min_probability) == ("source", 0.15)
    assert fitted.confidence.of(0.2, n_tokens=3) == pytest.approx(0.2)


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_certain_probabilities_have_finite_odds(probability: float) -> None:
    odds, length = span_features(probability, 1)
    assert math.isfinite(odds)
    assert length == 0


def test_neutral_spans_are_no_errors() -> None:
    rows = np.tile(np.log([0.2, 0.2, 0.1, 0.4, 0.1]), (1, 1))
    assert rows.shape[1] == len(TAGS)
    read = [
        Judged(
            Rating(one.rating.segment, "rater", gold(severity)),
            one.model_input,
            Prediction(TEXT, np.array([[0, 3]], np.int32), Outputs.of([TagProbabilities(rows)]), -5.0),
        )
        for one in [judged()]
        for severity in (*Severity, None)
    ]
    found = confidences.collect(read, "reference", 0.1, span_budget=0.5)
    assert [len(one.candidates) for one in found] == [1] * 5
    expected = [severity is not Severity.NEUTRAL for severity in (*Severity, None)]
    assert [one.candidates[0].is_hit for one in found] == [bool(one.golds) for one in found] == expected
    assert found[0].candidates[0].major_share == pytest.approx(0.5 / 0.8)
    assert found[0].budget == 2.5

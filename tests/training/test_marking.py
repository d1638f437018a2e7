"""Confidence, thresholds and severity of marks: drawn hits give back what they were drawn with."""

from __future__ import annotations

import math

import numpy as np
import pytest

from matese.annotation import ErrorSpan, Rating, Segment, Severity
from matese.model.heads.tags.bio import B_MAJOR, B_MINOR, TAGS, O
from matese.model.heads.tags.decoding import Run
from matese.model.heads.tags.marking import MarkRule
from matese.model.model_input import ModelInput
from matese.model.prediction import Outputs, Prediction, TagProbabilities
from matese.training import marking
from matese.training.judged import Judged
from matese.training.marking import Candidate

LONG = 8
SHORT = 3
PLAIN = MarkRule(0.05, 1.0, 0.0, 0.0, least=0.5, least_of_short=0.5, least_of_interface=0.5, pieces=0.0, major=0.5)


def judged(
    *errors: float, gold: tuple[int, ...] = (), n_words: int = LONG, major: float = 0.5, n_pieces: int = 1
) -> Judged:
    """Returns a segment of one-letter words: error probabilities of the first, and those that people marked."""
    text = " ".join("x" * n_words)
    rows = np.full((n_words, len(TAGS)), 1e-9)
    values = np.array([*errors, *[0.0] * (n_words - len(errors))])
    rows[:, O] = 1 - values
    rows[:, B_MINOR] = (1 - major) * values
    rows[:, B_MAJOR] = major * values
    ranges = np.array([(2 * place, 2 * place + 1) for place in range(n_words)], np.int32)
    segment = Segment(text, None, ("reference",))
    spans = tuple(
        ErrorSpan(2 * place, 2 * place + 1, Severity.MAJOR if place % 2 else Severity.MINOR) for place in gold
    )
    said = Prediction(text, ranges, Outputs.of([TagProbabilities(np.log(rows + 1e-12))]), -5.0, n_pieces=n_pieces)
    return Judged(Rating(segment, "rater", spans), ModelInput.of(segment, "reference"), said)


def candidates(*shares: tuple[float, bool], weight: float = 1.0) -> list[Candidate]:
    return [Candidate(judged(), Run(0, 1, share, share, 0.0), is_hit, weight) for share, is_hit in shares]


def drawn(n: int) -> list[Judged]:
    """Returns segments of two words beside each other whose probabilities are true, if one of them is marked."""
    rng = np.random.default_rng(3)
    rows = []
    for errors in rng.uniform(0.06, 0.9, (n, 2)).tolist():
        gold = (0,) if rng.random() < max(errors) else ()
        rows.append(judged(*errors, gold=gold))
    return rows


def test_true_probabilities_are_found() -> None:
    fit = marking.fit(drawn(1500), [], whole_words=False)
    assert fit is not None
    collected = marking.collect(drawn(1500), fit.marking.min_probability, whole_words=False)
    sure = marking.confidences(fit.marking, collected)
    hits = np.array([candidate.is_hit for candidate in collected])
    for part in np.array_split(np.argsort(sure), 4):
        assert sure[part].mean() == pytest.approx(hits[part].mean(), abs=0.07)
    assert fit.of_long.precision >= 0.5
    assert fit.of_long.min_confidence == fit.marking.least == fit.marking.least_of_short
    precisions = [point.precision for point in fit.points if point.recall > 0.05]
    assert precisions[0] < precisions[-1]
    recalls = [point.recall for point in fit.points]
    assert recalls == sorted(recalls, reverse=True)


def test_too_few_marks_are_no_fit() -> None:
    assert marking.fit([], [], whole_words=True) is None
    assert marking.fit(drawn(60), [], whole_words=True) is None


@pytest.mark.parametrize(
    ("shares", "n", "expected"),
    [
        ([(0.3, True), (0.2, False)], 30, 0.01),
        ([(0.6, False), (0.3, True)], 30, 1.0),  # the most certain ones are wrong
        ([(0.9, True), (0.5, False), (0.4, False)], 30, 0.41),
        ([(0.9, True)], 5, 1.0),  # too few to tell
    ],
)
def test_the_lowest_threshold_with_which_half_of_the_marks_are_right(
    shares: list[tuple[float, bool]], n: int, expected: float
) -> None:
    rows = candidates(*shares * n)
    assert marking.lowest(PLAIN, rows) == pytest.approx(expected)


def test_weights_count() -> None:
    rows = [*candidates(*[(0.8, True)] * 30), *candidates(*[(0.6, False)] * 10, weight=4.0)]
    assert marking.lowest(PLAIN, rows) == pytest.approx(0.61)


def contrasts(right: float, wrong: float, n: int = 60, spread: float = 0.05) -> list[Judged]:
    """Returns right and wrong short texts whose first word has an error with these probabilities."""
    rng = np.random.default_rng(4)
    rows = []
    for noise in rng.uniform(-spread, spread, n).tolist():
        rows.append(judged(right + noise, n_words=SHORT))
        rows.append(judged(wrong + noise, gold=(0,), n_words=SHORT))
    return rows


def test_short_texts_have_thresholds_of_their_own() -> None:
    rows = drawn(800)
    plain = marking.fit(rows, [], whole_words=False)
    fit = marking.fit(rows, contrasts(0.65, 0.9), whole_words=False)
    assert plain is not None
    assert fit is not None
    assert (fit.marking.least, fit.marking.worst) == (plain.marking.least, plain.marking.worst)
    of_right = fit.marking.confidence(0.65, 0.65)
    assert fit.marking.least < fit.marking.least_of_short < fit.marking.confidence(0.9, 0.9)
    assert of_right - 0.05 < fit.marking.least_of_interface < fit.marking.confidence(0.9, 0.9)
    # Where right texts have nothing to mark, short texts are marked like others.
    easy = marking.fit(rows, contrasts(0.06, 0.9), whole_words=False)
    assert easy is not None
    assert easy.marking.least_of_short == easy.marking.least


def test_one_right_string_of_an_interface_in_ten_gets_a_mark() -> None:
    strings = contrasts(0.5, 0.5, n=200, spread=0.4)
    fit = marking.fit(drawn(800), strings, whole_words=False)
    assert fit is not None
    interface = fit.marking.of_interface()
    right = [string for string in strings if not string.rating.errors]
    marks = marking.marked(interface, marking.collect(right, interface.min_probability, whole_words=False))
    assert 0.05 <= len(marks) / len(right) <= marking.ALARMS


@pytest.mark.parametrize(("alarms", "rises"), [(0, False), (1, False), (10, True), (60, True)])
def test_thresholds_rise_with_the_number_of_pieces_as_right_sentences_are_marked(alarms: int, rises: bool) -> None:
    """Of eight sentences one is wrong: its mark is as certain as theirs or more."""
    right = [judged(0.7 if number < alarms else 0.0) for number in range(60)]
    wrong = [judged(0.95, 0.9, gold=(0,)) for _ in range(60)]
    fit = marking.fit(drawn(800), [*right, *wrong], whole_words=False)
    assert fit is not None
    assert (fit.marking.pieces > 0) == rises
    assert fit.marking.confidence(0.95, 1.85) > fit.marking.least_of_pieces(8)
    assert (fit.marking.confidence(0.7, 0.7) < fit.marking.least_of_pieces(8)) == rises
    assert fit.marking.least_of_pieces(1) == fit.marking.least


def test_thresholds_do_not_depend_on_pieces_without_contrasts() -> None:
    fit = marking.fit(drawn(800), [judged(0.7)] * 60, whole_words=False)
    assert fit is not None
    assert fit.marking.pieces == 0


def test_as_many_marks_are_major_as_people_s() -> None:
    rng = np.random.default_rng(6)
    rows = [
        judged(0.0 if place else 0.9, 0.9 if place else 0.0, gold=(place,), major=rng.random())
        for place in (rng.random(200) < 0.3).astype(int).tolist()
    ]
    fit = marking.fit([*rows, *drawn(300)], [], whole_words=False)
    assert fit is not None
    assert fit.major is not None
    assert fit.major_of_raters is not None
    assert fit.major == pytest.approx(fit.major_of_raters, abs=0.03)


def test_undecided_spans_are_errors_and_neutral_ones_are_not() -> None:
    spans = (ErrorSpan(0, 1, None), ErrorSpan(2, 3, Severity.NEUTRAL), ErrorSpan(4, 5, Severity.CRITICAL))
    rating = Rating(Segment("x x x"), None, spans)
    assert marking.errors_of(rating) == (spans[0], spans[2])
    assert marking.errors_of(Rating(Segment("x"), None, None)) == ()


def test_the_confidence_of_a_candidate_is_that_of_decoding() -> None:
    (candidate,) = marking.collect([judged(0.4, 0.2, gold=(1,))], 0.1, whole_words=True)
    assert candidate.is_hit
    expected = PLAIN.confidence(0.4, 0.6)
    assert candidate.confidence(PLAIN) == expected
    assert expected == pytest.approx(1 / (1 + math.exp(-math.log(0.4 / 0.6))))

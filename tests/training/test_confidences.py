"""The confidence of spans: drawn hits give back the weights that they were drawn with."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from matese.annotation import ErrorSpan, Estimate, Overall, Rating, Segment, Severity, TokenScores
from matese.model.heads.tags.confidence import SpanConfidence, span_features
from matese.training import confidences

TEXT = "one two three four five six"
TOKENS = ((0, 3), (4, 7), (8, 13), (14, 18), (19, 23), (24, 27))
PROBABILITIES = TokenScores(TOKENS, ((1.0, 0.0, 0.0, 0.0, 0.0),) * len(TOKENS))
TRUE = SpanConfidence("reference", 0.1, 0.8, 1.2, -1.0)


def spans(rng: np.random.Generator) -> tuple[ErrorSpan, ...]:
    """Returns one span of one to three words at the start, and one of one word at the end."""
    length = int(rng.integers(1, 4))
    first, last = (round(float(value), 4) for value in rng.uniform(0.1, 0.9, 2))
    return (
        ErrorSpan(0, TOKENS[length - 1][1], Severity.MINOR, confidence=first),
        ErrorSpan(*TOKENS[-1], Severity.MAJOR, confidence=last),
    )


def corpus(n: int) -> tuple[list[Rating], list[tuple[ErrorSpan, ...]]]:
    """Returns ratings whose raters confirm a predicted span with the true confidence, and the predicted spans."""
    rng = np.random.default_rng(3)
    golds = []
    predicted = []
    for number in range(n):
        own = spans(rng)
        n_tokens = [sum(start < span.end and end > span.start for start, end in TOKENS) for span in own]
        kept = [
            ErrorSpan(span.start, span.start + 1, Severity.MINOR)
            for span, size in zip(own, n_tokens, strict=True)
            if rng.random() < TRUE.of(span.confidence or 0.0, size)
        ]
        segment = Segment(TEXT, f"source {number}", (f"reference {number}",))
        golds.append(Rating(segment, "rater", tuple(kept), overall=Overall(0.0, "mqm")))
        predicted.append(own)
    return golds, predicted


@functools.cache
def fitted(n: int) -> confidences.Confidences:
    golds, predicted = corpus(n)

    def annotate(segments: Iterable[Segment]) -> Iterator[tuple[Rating, TokenScores]]:
        for segment, own in zip(segments, predicted, strict=True):
            yield Rating(segment, "model", own), PROBABILITIES

    return confidences.fit_all(annotate, golds, ("reference",), 0.1)


def test_the_true_weights_are_found() -> None:
    (found,) = fitted(4000).fitted
    assert (found.inputs, found.min_probability) == ("reference", 0.1)
    weights = (found.probability, found.length, found.offset)
    assert weights == pytest.approx((TRUE.probability, TRUE.length, TRUE.offset), abs=0.15)


def test_precision_is_at_least_the_confidence_and_recall_falls() -> None:
    points = fitted(4000).points
    assert all(point.precision > point.min_confidence for point in points[:-2])
    assert all(before.recall >= after.recall for before, after in itertools.pairwise(points))
    assert points[0].recall == 1  # the raters only mark what was predicted


def test_as_many_segments_are_marked_as_by_the_raters() -> None:
    golds, predicted = corpus(1000)
    found = fitted(1000)
    (scale,) = found.fitted
    highest = [
        max(scale.of(span.confidence or 0.0, sum(a < span.end and b > span.start for a, b in TOKENS)) for span in own)
        for own in predicted
    ]
    assert found.min_confidence is not None
    share = np.mean([value >= found.min_confidence for value in highest])
    assert share == pytest.approx(np.mean([bool(gold.errors) for gold in golds]), abs=0.02)


def test_segments_without_a_budget_count_as_unmarked() -> None:
    golds, predicted = corpus(1000)

    def annotate(segments: Iterable[Segment]) -> Iterator[tuple[Rating, TokenScores]]:
        for number, (segment, own) in enumerate(zip(segments, predicted, strict=True)):
            yield Rating(segment, "model", own, estimate=Estimate(-0.4 - (number % 2), "mqm")), PROBABILITIES

    plain, halved, none = (
        confidences.fit_all(annotate, golds, ("reference",), 0.1, span_budget=budget) for budget in (None, 1.0, 0.1)
    )
    assert plain.fitted == halved.fitted == none.fitted
    assert plain.points == halved.points == none.points
    assert plain.min_confidence is not None
    assert halved.min_confidence is not None
    assert halved.min_confidence < plain.min_confidence, "more of the others are marked"
    assert none.min_confidence == 0.01


def test_few_spans_give_no_fit() -> None:
    assert fitted(20) == confidences.Confidences((), (), None)


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_certain_probabilities_have_finite_odds(probability: float) -> None:
    odds, length = span_features(probability, 1)
    assert math.isfinite(odds)
    assert length == 0
    assert 0 < TRUE.of(probability, 1) < 1


def test_a_kind_of_input_with_too_few_spans_keeps_its_probabilities() -> None:
    golds, predicted = corpus(200)

    def annotate(segments: Iterable[Segment]) -> Iterator[tuple[Rating, TokenScores]]:
        for segment, own in zip(segments, predicted, strict=True):
            yield Rating(segment, "model", own if segment.references else ()), PROBABILITIES

    reference, source = confidences.fit_all(annotate, golds, ("source", "reference"), 0.15).fitted
    assert (reference.inputs, source.inputs) == ("reference", "source")
    assert source.min_probability == 0.15, "less probable tokens are not marked, however low the minimum confidence is"
    assert source.of(0.2, n_tokens=3) == pytest.approx(0.2)


def test_neutral_spans_are_no_errors_and_critical_ones_are_major() -> None:
    spans = {severity: ErrorSpan(*TOKENS[0], severity, confidence=0.5) for severity in (*Severity, None)}
    golds = [Rating(Segment(TEXT, None, ("reference",)), "rater", (span,)) for span in spans.values()]
    predicted = (spans[Severity.MAJOR],)
    found = confidences.collect(
        lambda segments: ((Rating(segment, "model", predicted), PROBABILITIES) for segment in segments),
        golds,
        "reference",
    )
    expected = [severity is not Severity.NEUTRAL for severity in spans]
    assert found.is_hit.tolist() == found.is_marked.tolist() == expected
    assert found.n_severe == (1, 2)


@pytest.mark.parametrize("n_major", range(5))
def test_as_many_spans_are_major_as_of_the_raters(n_major: int) -> None:
    shares = (0.1, 0.4, 0.3, 0.6)
    places = tuple(ErrorSpan(*place, Severity.MINOR, confidence=0.5) for place in TOKENS[:4])
    theirs = tuple(
        ErrorSpan(*place, Severity.MAJOR if number < n_major else Severity.MINOR)
        for number, place in enumerate(TOKENS[:4])
    )
    tokens = TokenScores(TOKENS[:4], tuple((0.0, 1 - share, 0.0, share, 0.0) for share in shares))
    gold = Rating(Segment(TEXT, None, ("reference",)), "rater", theirs)
    found = confidences.collect(
        lambda segments: ((Rating(segment, "model", places), tokens) for segment in segments), [gold], "reference"
    )
    major = confidences.fit(found, "reference", 0.1).major
    if n_major in (0, len(shares)):
        assert major is None  # the raters marked spans of one severity only
    else:
        assert major is not None
        assert sum(share >= major for share in shares) == n_major

"""Fit the confidence and severity of spans, and the minimum confidence of marked spans, on dev data after training."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from matese.annotation import ErrorSpan, Rating, Segment, Severity, TokenScores
from matese.evaluation.statistics.arrays import FloatArray
from matese.model import copy_and_blank
from matese.model.heads.tags import decoding
from matese.model.heads.tags.confidence import SpanConfidence, span_features
from matese.model.model_input import ModelInput, usable_inputs, with_inputs
from matese.model.operating_point import OperatingPoint
from matese.model.texts.encoding import InputKind
from matese.severities import COUNTED
from matese.text import overlap

Annotate = Callable[[Iterable[Segment]], Iterable[tuple[Rating, TokenScores]]]
"""Yields each segment's rating and tag probabilities, in order."""
THRESHOLDS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8)
_FEWEST_SPANS = 50
"""Least number of spans that overlap a rater's span, and of spans that overlap none, for a fit."""


@dataclass(frozen=True)
class Spans:
    """Predicted spans and the raters' spans.

    Attributes:
        features: (spans, 2), features of the predicted spans, see `matese.model.heads.tags.confidence.span_features`.
        is_hit: (spans,), whether a rater's span shares a character with the predicted span.
        segments: number of the segment of each predicted span.
        met: for each rater's span, the numbers of the predicted spans that share a character with it.
        is_marked: (segments,), whether the rater marked an error.
        expected_scores: (segments,), of the model.
        major_shares: (spans,), share of the Major tags in the error probability of the predicted spans.
        n_severe: number of the raters' spans that are Minor, and that are Major or Critical.
    """

    features: FloatArray
    is_hit: FloatArray
    segments: Sequence[int]
    met: Sequence[Sequence[int]]
    is_marked: FloatArray
    expected_scores: FloatArray
    major_shares: FloatArray
    n_severe: tuple[int, int]


@dataclass(frozen=True)
class Confidences:
    """The fitted values.

    Attributes:
        fitted: one for each kind of input; with fewer than 50 hits or 50 misses, the confidence is the mean error
            probability. Empty if all kinds have fewer.
        points: precision and recall at some minimum confidences, over all kinds of input.
        min_confidence: minimum confidence at which as many segments are marked as the raters marked; None if nothing
            was fitted.
    """

    fitted: tuple[SpanConfidence, ...]
    points: tuple[OperatingPoint, ...]
    min_confidence: float | None


def fit_all(
    annotate: Annotate,
    ratings: Sequence[Rating],
    model_inputs: Sequence[InputKind],
    min_probability: float,
    *,
    span_budget: float | None = None,
) -> Confidences:
    """Returns the fitted span confidences for each kind of input.

    Args:
        annotate: runs the model, which marks every span from `min_probability` on, without a budget; the confidence of
            a span is the mean error probability of its tokens.
        ratings: gold ratings that the model was not trained on.
        model_inputs: the kinds of input that the model reads.
        min_probability: least error probability of a token that belongs to a span.
        span_budget: the setting of the model, which leaves some segments without marks.
    """
    fitted = []
    others = []
    spans_by_inputs = []
    for inputs in model_inputs:
        spans = collect(annotate, ratings, inputs)
        if min(spans.is_hit.sum(), (1 - spans.is_hit).sum()) >= _FEWEST_SPANS:
            fitted.append(fit(spans, inputs, min_probability))
            spans_by_inputs.append((spans, _confidences(spans, fitted[-1])))
        else:
            others.append(unfitted(inputs, min_probability))
    if not fitted:
        return Confidences((), (), None)
    points = tuple(_point(spans_by_inputs, least) for least in THRESHOLDS)
    return Confidences((*fitted, *others), points, _as_often_as_raters(spans_by_inputs, span_budget))


def unfitted(inputs: InputKind, min_probability: float) -> SpanConfidence:
    """Returns the confidence that is the mean error probability of the tokens."""
    return SpanConfidence(inputs, min_probability, probability=1.0, length=0.0, offset=0.0)


def collect(annotate: Annotate, ratings: Iterable[Rating], inputs: InputKind) -> Spans:
    """Annotates the hypotheses whose texts allow these inputs, except those whose marks are determined by rules."""
    read = ((rating, _as_read(rating.segment, inputs)) for rating in ratings if rating.errors is not None)
    usable = [(rating, segment) for rating, segment in read if segment is not None]
    golds = [rating for rating, _ in usable]
    features: list[tuple[float, float]] = []
    is_hit: list[bool] = []
    segments: list[int] = []
    met: list[list[int]] = []
    major_shares: list[float] = []
    expected_scores: list[float] = []
    segments_read = (segment for _, segment in usable)
    for number, (gold, (rating, tokens)) in enumerate(zip(golds, annotate(segments_read), strict=True)):
        expected_scores.append(0.0 if rating.estimate is None else rating.estimate.value)
        ranges = np.array(tokens.ranges).reshape(-1, 2)
        probabilities = np.array(tokens.probabilities).reshape(len(ranges), -1)
        theirs = _errors_of(gold)
        first = len(features)
        ours = rating.errors or ()
        for span in ours:
            features.append(span_features(span.confidence or 0.0, decoding.count_tokens(span, ranges)))
            is_hit.append(any(overlap(span, other) for other in theirs))
            segments.append(number)
            major_shares.append(decoding.major_share(probabilities[decoding.tokens_of(span, ranges)]))
        met += [[first + at for at, span in enumerate(ours) if overlap(span, other)] for other in theirs]
    is_marked = np.array([bool(_errors_of(gold)) for gold in golds], dtype=np.float64)
    as_array = np.array(features, dtype=np.float64).reshape(-1, 2)
    severities = [span.severity and COUNTED[span.severity] for gold in golds for span in _errors_of(gold)]
    return Spans(
        features=as_array,
        is_hit=np.array(is_hit, dtype=np.float64),
        segments=segments,
        met=met,
        is_marked=is_marked,
        expected_scores=np.array(expected_scores, dtype=np.float64),
        major_shares=np.array(major_shares, dtype=np.float64),
        n_severe=(severities.count(Severity.MINOR), severities.count(Severity.MAJOR)),
    )


def _errors_of(gold: Rating) -> list[ErrorSpan]:
    """Returns the spans of a rating that are errors: Neutral ones are none, undecided ones are."""
    return [span for span in gold.errors or () if span.severity is None or span.severity in COUNTED]


def _as_read(segment: Segment, inputs: InputKind) -> Segment | None:
    """Returns a segment with only the texts of these inputs; None if it lacks one, or rules determine its marks."""
    complete = segment.without_blanks()
    if not segment.hypothesis.strip() or not usable_inputs(complete, [inputs]):
        return None
    read = with_inputs(complete, inputs)
    return None if copy_and_blank.is_copy(ModelInput.of(read, inputs)) else read


def fit(spans: Spans, inputs: InputKind, min_probability: float) -> SpanConfidence:
    """Fits a logistic regression of hits on the features of spans, and as many Major spans as the raters'."""
    features = torch.from_numpy(spans.features)
    parameters = torch.zeros(3, dtype=torch.float64, requires_grad=True)

    def loss() -> Tensor:
        logits = features @ parameters[:2] + parameters[2]
        return functional.binary_cross_entropy_with_logits(logits, torch.from_numpy(spans.is_hit))

    minimise([parameters], loss)
    probability, length, offset = (round(value, 6) for value in parameters.detach().tolist())
    return SpanConfidence(inputs, min_probability, probability, length, offset, _least_major(spans))


def _least_major(spans: Spans) -> float | None:
    """Returns the share of Major tags from which as many of the spans are Major as of the raters' spans.

    None if the raters marked spans of one severity only, or there are no spans.
    """
    n_minor, n_major = spans.n_severe
    if not n_minor or not n_major or not len(spans.major_shares):
        return None
    return round(float(np.quantile(spans.major_shares, n_minor / (n_minor + n_major))), 6)


def _confidences(spans: Spans, fitted: SpanConfidence) -> FloatArray:
    logits = spans.features @ np.array([fitted.probability, fitted.length]) + fitted.offset
    chances: FloatArray = 1 / (1 + np.exp(-logits))
    return chances


def _point(spans_by_inputs: Sequence[tuple[Spans, FloatArray]], least: float) -> OperatingPoint:
    """Returns the precision and recall of the spans at a minimum confidence."""
    n_hits = sum(spans.is_hit[confidences >= least].sum() for spans, confidences in spans_by_inputs)
    n_spans = sum((confidences >= least).sum() for _, confidences in spans_by_inputs)
    n_met = sum(
        any(confidences[at] >= least for at in met) for spans, confidences in spans_by_inputs for met in spans.met
    )
    n_gold = sum(len(spans.met) for spans, _ in spans_by_inputs)
    return OperatingPoint(least, float(n_hits / max(1, n_spans)), float(n_met / max(1, n_gold)))


def _as_often_as_raters(spans_by_inputs: Sequence[tuple[Spans, FloatArray]], span_budget: float | None) -> float:
    """Returns the minimum confidence, to two digits, at which as many segments are marked as the raters marked."""
    highest = []
    for spans, confidences in spans_by_inputs:
        best = np.zeros(len(spans.is_marked))
        for number, confidence in zip(spans.segments, confidences, strict=True):
            best[number] = max(best[number], confidence)
        if span_budget is not None:
            best[[not decoding.allows_a_span(-span_budget * score) for score in spans.expected_scores]] = 0
        highest.append(best)
    share = np.concatenate([spans.is_marked for spans, _ in spans_by_inputs]).mean()
    return float(np.clip(round(float(np.quantile(np.concatenate(highest), 1 - share)), 2), 0.01, 0.99))


def minimise(parameters: list[Tensor], loss: Callable[[], Tensor]) -> None:
    """Minimises a function of the parameters in place, by L-BFGS."""
    optimizer = torch.optim.LBFGS(parameters, max_iter=200, line_search_fn="strong_wolfe")

    def closure() -> float:
        optimizer.zero_grad()
        value = loss()
        torch.autograd.backward(value)
        return value.item()

    optimizer.step(closure)  # type: ignore[no-untyped-call]

"""Fit the confidence and severity of spans, and which of them are marked, on dev data after training."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from matese.annotation import ErrorSpan, Rating, Severity
from matese.annotation.severities import COUNTED
from matese.evaluation.statistics.arrays import FloatArray
from matese.model.heads.tags import decoding
from matese.model.heads.tags.confidence import MajorOfPair, MarkThreshold, SpanConfidence, is_short, span_features
from matese.model.operating_point import OperatingPoint
from matese.model.texts.encoding import InputKind
from matese.text.ranges import overlap
from matese.training.judged import Judged
from matese.training.tag_calibration import minimise

PRECISION = 0.5
"""Least share of the marks that overlap a mark of people: a mark that people mostly do not confirm is none."""
THRESHOLDS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8)
_FEWEST_SPANS = 50
"""Least number of spans for a fit, for a piece of the curve, and for a severity of a language pair."""
_FEWEST_MARKS = 20
"""Least number of marks whose precision counts."""
_NOTHING = 1.0
"""Threshold that no confidence reaches, because the curve is capped below it."""
_CAP = 0.99
"""Highest confidence: no fit to some hundred spans knows more."""
_START = 0.3
"""Least confidence of the spans on which severities are first fitted, when no threshold is known."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A span that may be marked.

    Attributes:
        span: with the mean error probability as its confidence, and the severity of the most probable tags.
        n_tokens: number of tokens that share a character with it.
        is_hit: whether a rater's span shares a character with it.
        major_share: share of the Major tags in its error probability.
    """

    span: ErrorSpan
    n_tokens: int
    is_hit: bool
    major_share: float


@dataclass(frozen=True, slots=True)
class Marked:
    """The candidates of a segment, and what people marked in it.

    Attributes:
        judged: the segment.
        candidates: in text order.
        golds: people's spans that are errors.
        is_short: whether the hypothesis is short.
        budget: most penalties of the marks; None for any.
    """

    judged: Judged
    candidates: tuple[Candidate, ...]
    golds: tuple[ErrorSpan, ...]
    is_short: bool
    budget: float | None

    @property
    def hypothesis(self) -> str:
        """The hypothesis."""
        return self.judged.prediction.hypothesis


@dataclass(frozen=True)
class SpanFit:
    """The fitted values of one kind of input.

    Attributes:
        confidence: of spans.
        threshold: least confidence of a mark; None with too few spans.
        n: number of candidates.
        points: precision and recall of all spans from some minimum confidences on, without a budget.
        of_long: precision and recall of the marks in hypotheses that are not short, at their threshold.
        of_short: the same in short hypotheses.
        major: share of Major marks.
        major_of_raters: the same of people's.
    """

    confidence: SpanConfidence
    threshold: MarkThreshold | None
    n: int
    points: tuple[OperatingPoint, ...] = ()
    of_long: OperatingPoint | None = None
    of_short: OperatingPoint | None = None
    major: float | None = None
    major_of_raters: float | None = None


def fit(
    judged: Sequence[Judged],
    inputs: InputKind,
    min_probability: float,
    *,
    others: Sequence[Judged] = (),
    short_texts: Sequence[Judged] = (),
    span_budget: float | None,
    whole_words: bool,
) -> SpanFit:
    """Returns the confidence, severity and thresholds of spans for one kind of input.

    Args:
        judged: what people and the model say, the model after all rules that change tags and scores.
        inputs: the kind of input.
        min_probability: least error probability of a token that belongs to a span.
        others: the same in another manner of annotation, for the severities of their language pairs.
        short_texts: more short texts, for the threshold of short texts only.
        span_budget: the setting of the model.
        whole_words: the setting of the model.
    """
    segments, of_others, of_short_texts = (
        collect(each, inputs, min_probability, span_budget=span_budget, whole_words=whole_words)
        for each in (judged, others, short_texts)
    )
    candidates = [one for segment in segments if segment.judged.is_sampled for one in segment.candidates]
    hits = np.array([one.is_hit for one in candidates], dtype=np.float64)
    if min(hits.sum(), (1 - hits).sum()) < _FEWEST_SPANS:
        return SpanFit(SpanConfidence(inputs, min_probability, 1.0, 0.0, 0.0), None, len(candidates))
    features = np.array([span_features(one.span.confidence or 0.0, one.n_tokens) for one in candidates])
    confidence = fit_confidence(features, hits, inputs, min_probability)
    threshold = MarkThreshold(inputs, _START, _START)
    for _ in range(2):  # which spans are marked depends on their severities, and the other way round
        confidence = with_severities([*segments, *of_others], confidence, threshold)
        threshold = find_thresholds([*segments, *of_short_texts], confidence)
    long = [one for one in segments if not one.is_short]
    short = [one for one in (*segments, *of_short_texts) if one.is_short]
    marks = [
        one.span
        for segment in segments
        for one in mark(rated(segment, confidence), threshold.of(segment.hypothesis), segment.budget)
    ]
    golds = [span for segment in segments for span in segment.golds]
    sample = [replace(one, budget=None) for one in segments if one.judged.is_sampled]
    return SpanFit(
        confidence=confidence,
        threshold=threshold,
        n=len(candidates),
        points=tuple(_point(sample, confidence, least) for least in THRESHOLDS),
        of_long=_point(long, confidence, threshold.least),
        of_short=_point(short, confidence, threshold.least_of_short),
        major=_major_share(marks),
        major_of_raters=_major_share(golds),
    )


def collect(
    judged: Sequence[Judged],
    inputs: InputKind,
    min_probability: float,
    *,
    span_budget: float | None = None,
    whole_words: bool = False,
) -> list[Marked]:
    """Returns the candidates of the segments with people's spans."""
    rated = [each for each in judged if each.rating.errors is not None]
    unfitted = SpanConfidence(inputs, min_probability, probability=1.0, length=0.0, offset=0.0)
    found = decoding.decode(
        [each.prediction for each in rated],
        min_confidences=[0.0] * len(rated),
        whole_words=whole_words,
        confidences=[unfitted] * len(rated),
    )
    collected = []
    for each, spans in zip(rated, found, strict=True):
        golds = _errors_of(each.rating)
        ranges = each.prediction.ranges
        probabilities = np.exp(each.prediction.log_probabilities)
        candidates = tuple(
            Candidate(
                span,
                decoding.count_tokens(span, ranges),
                any(overlap(span, gold) for gold in golds),
                decoding.major_share(probabilities[decoding.tokens_of(span, ranges)]),
            )
            for span in spans
        )
        budget = None if span_budget is None else span_budget * -(each.prediction.score or 0.0)
        collected.append(Marked(each, candidates, golds, is_short(each.prediction.hypothesis), budget))
    return collected


def _errors_of(gold: Rating) -> tuple[ErrorSpan, ...]:
    """Returns the spans of a rating that are errors: Neutral ones are none, undecided ones are."""
    return tuple(span for span in gold.errors or () if span.severity is None or span.severity in COUNTED)


def fit_confidence(features: FloatArray, hits: FloatArray, inputs: InputKind, min_probability: float) -> SpanConfidence:
    """Fits a logistic regression of hits on the features of spans, and a rising curve of its log odds.

    The weight of the probability is not negative, so that the confidence never falls where the probability rises.

    Args:
        features: (spans, 2), see `matese.model.heads.tags.confidence.span_features`.
        hits: (spans,), 1 for a span that overlaps one of people's, else 0.
        inputs: the kind of input.
        min_probability: least error probability of a token that belongs to a span.
    """
    columns = torch.from_numpy(features)
    labels = torch.from_numpy(hits)
    parameters = torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64, requires_grad=True)

    def odds() -> Tensor:
        return columns[:, 0] * parameters[0].clamp(min=0) + columns[:, 1] * parameters[1] + parameters[2]

    minimise([parameters], lambda: functional.binary_cross_entropy_with_logits(odds(), labels))
    probability, length, offset = (round(value, 6) for value in parameters.detach().tolist())
    curve = rising_curve(odds().detach().numpy(), hits)
    return SpanConfidence(inputs, min_probability, max(probability, 0.0), length, offset, curve)


def rising_curve(odds: FloatArray, hits: FloatArray) -> tuple[tuple[float, float], ...]:
    """Returns log odds and the share of hits around them, both rising.

    Spans in order of their log odds are cut into pieces of about `_FEWEST_SPANS`; neighbours whose shares fall are
    joined (the pool-adjacent-violators algorithm: Barlow et al. 1972).

    Args:
        odds: (spans,).
        hits: (spans,), 1 or 0.
    """
    order = np.argsort(odds, kind="stable")
    pieces: list[list[float]] = []  # mean log odds, share of hits, number of spans
    for part in np.array_split(order, max(1, len(order) // _FEWEST_SPANS)):
        pieces.append([float(odds[part].mean()), float(hits[part].mean()), len(part)])
        while len(pieces) > 1 and (pieces[-2][1] >= pieces[-1][1] or pieces[-2][0] >= pieces[-1][0]):
            right = pieces.pop()
            left = pieces.pop()
            n = left[2] + right[2]
            pieces.append([*((left[at] * left[2] + right[at] * right[2]) / n for at in (0, 1)), n])
    return tuple((round(where, 4), round(min(share, _CAP), 4)) for where, share, _ in pieces)


def rated(segment: Marked, confidence: SpanConfidence) -> list[Candidate]:
    """Returns the candidates with their fitted confidence and severity."""
    own = confidence.of_segment(segment.hypothesis, segment.judged.lang_pair)
    return [_with_severity(_with_confidence(one, own), own.major) for one in segment.candidates]


def _with_confidence(one: Candidate, confidence: SpanConfidence) -> Candidate:
    value = confidence.of(one.span.confidence or 0.0, one.n_tokens)
    return replace(one, span=replace(one.span, confidence=round(value, 4)))


def _with_severity(one: Candidate, major: float | None) -> Candidate:
    if major is None:
        return one
    severity = Severity.MAJOR if one.major_share * (one.span.confidence or 0.0) >= major else Severity.MINOR
    return replace(one, span=replace(one.span, severity=severity))


def mark(candidates: Iterable[Candidate], least: float, budget: float | None) -> list[Candidate]:
    """Returns what is marked of rated candidates."""
    kept = [one for one in candidates if (one.span.confidence or 0.0) >= least]
    if budget is None or not kept:
        return kept
    of_start = {one.span.start: one for one in kept}
    return [
        replace(of_start[span.start], span=span) for span in decoding.within_budget([one.span for one in kept], budget)
    ]


def find_thresholds(segments: Sequence[Marked], confidence: SpanConfidence) -> MarkThreshold:
    """Returns the lowest thresholds with which `PRECISION` of the marks is right, in short hypotheses and in others.

    Short hypotheses with too few candidates to tell have the threshold of the others; where no threshold suffices,
    nothing is marked.
    """
    long = _lowest([one for one in segments if not one.is_short], confidence)
    short = [one for one in segments if one.is_short]
    n_short = sum(len(one.candidates) for one in short)
    of_short = long if n_short < _FEWEST_MARKS else max(long, _lowest(short, confidence))
    return MarkThreshold(confidence.inputs, long, of_short)


def _lowest(segments: Sequence[Marked], confidence: SpanConfidence) -> float:
    found = [(rated(one, confidence), one.budget) for one in segments if one.candidates]
    lowest = _NOTHING
    for percent in range(round(100 * _CAP), 0, -1):
        marks = [one for own, budget in found for one in mark(own, percent / 100, budget)]
        if len(marks) >= _FEWEST_MARKS:
            if sum(one.is_hit for one in marks) < PRECISION * len(marks):
                break
            lowest = percent / 100
    return lowest


def with_severities(segments: Sequence[Marked], confidence: SpanConfidence, threshold: MarkThreshold) -> SpanConfidence:
    """Returns the confidence with the least probabilities with which as many marks are Major as people's.

    In short hypotheses, in the others, and in the others of each language pair with enough marks.
    """
    long, short = ([one for one in segments if one.is_short is is_short] for is_short in (False, True))
    of_pairs = []
    for pair in sorted({one.judged.lang_pair for one in long} - {""}):
        least = _least_major([one for one in long if one.judged.lang_pair == pair], confidence, threshold)
        if least is not None:
            of_pairs.append(MajorOfPair(pair, least))
    return replace(
        confidence,
        major=_least_major(long, confidence, threshold),
        major_of_short=_least_major(short, confidence, threshold),
        majors=tuple(of_pairs),
    )


def _least_major(segments: Sequence[Marked], confidence: SpanConfidence, threshold: MarkThreshold) -> float | None:
    """Returns the probability from which on marks are Major; None with too few spans of people or marks."""
    wanted = _major_share([span for one in segments for span in one.golds])
    n_golds = sum(span.severity is not None for one in segments for span in one.golds)
    # Severities are needed where nothing is marked too: a user can ask for less confident spans.
    found = [
        ([_with_confidence(each, confidence) for each in one.candidates], min(threshold.of(one.hypothesis), 0.9), one)
        for one in segments
        if one.candidates
    ]
    shares = _major_probabilities(each for own, least, _ in found for each in mark(own, least, None))
    if len(shares) < _FEWEST_MARKS:
        found = [(own, 0.0, one) for own, _, one in found]
        shares = _major_probabilities(each for own, _, _ in found for each in own)
    if wanted is None or n_golds < _FEWEST_SPANS or len(shares) < _FEWEST_MARKS:
        return None

    def distance(major: float) -> float:
        marks = [
            each.span
            for own, least, one in found
            for each in mark([_with_severity(each, major) for each in own], least, one.budget)
        ]
        return abs((_major_share(marks) or 0.0) - wanted)

    tried = [0.0, *np.unique(np.quantile(shares, np.linspace(0, 1, 33)).round(4)).tolist(), 1.0]
    return float(min(tried, key=distance))


def _major_probabilities(candidates: Iterable[Candidate]) -> list[float]:
    return [one.major_share * (one.span.confidence or 0.0) for one in candidates]


def _major_share(spans: Sequence[ErrorSpan]) -> float | None:
    """Returns the share of Major or worse spans among those with a severity; None without any."""
    known = [span.severity for span in spans if span.severity is not None]
    return sum(severity >= Severity.MAJOR for severity in known) / len(known) if known else None


def _point(segments: Sequence[Marked], confidence: SpanConfidence, least: float) -> OperatingPoint:
    """Returns the precision and recall of the marks at a minimum confidence."""
    marks = [(one, mark(rated(one, confidence), least, one.budget)) for one in segments]
    n_marks = sum(len(own) for _, own in marks)
    n_hits = sum(each.is_hit for _, own in marks for each in own)
    n_golds = sum(len(one.golds) for one, _ in marks)
    n_met = sum(any(overlap(each.span, gold) for each in own) for one, own in marks for gold in one.golds)
    return OperatingPoint(least, n_hits / max(1, n_marks), n_met / max(1, n_golds))

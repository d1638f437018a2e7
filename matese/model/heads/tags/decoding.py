"""The tags: log-probabilities of each token, (tokens, tags), decoded into error spans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from matese import mqm
from matese import text as texts
from matese.annotation import ErrorSpan, Severity
from matese.model.decoding import Decoding
from matese.model.encoder.numpy_layers import StoredTensors, dense
from matese.model.heads.head import Head, NumpyHead, RowStates
from matese.model.heads.tags import bio
from matese.model.heads.tags.confidence import SpanConfidence, thresholds_of
from matese.model.model_input import ModelInput, Row
from matese.model.prediction import FloatArray, Marks, Prediction, TagProbabilities, check_numbers
from matese.model.texts.encoding import Encoding, InputKind
from matese.mqm import LOWEST_SCORE

TagNumbers = npt.NDArray[np.signedinteger]

_FORBIDDEN = np.array(
    [[not bio.may_follow(before, tag) for tag in range(len(bio.TAGS))] for before in range(len(bio.TAGS))]
)
_FORBIDDEN_FIRST = np.array([not bio.may_follow(None, tag) for tag in range(len(bio.TAGS))])
_PENALTIES = np.where(_FORBIDDEN, -np.inf, 0.0)  # (before, tag)
_PADDED_TOKENS = 2**17
"""Tokens decoded at a time, in arrays of some megabytes."""
PEAK_SHARE = 0.25
"""Least error probability of a token of a calibrated model's span, as a share of the highest one around it: so a clear
error is not marked together with the doubtful words on both sides of it."""
_NO_ERROR = np.log(np.array([1 - 4e-6 if tag == "O" else 1e-6 for tag in bio.TAGS]))
"""Log-probabilities of a token without error: (tags,). No probability is 0, so that all logarithms are finite."""


class Tags(Head):
    """What makes a model a tagger; its probabilities are averaged."""

    name = "tags"
    part = "tag_head"
    output = TagProbabilities
    is_calibrated = True
    finds_errors = True
    is_main = True
    has_overrides = True

    def layers(self, tensors: StoredTensors, width: int) -> NumpyHead:
        """Returns the head in numpy."""
        head = dense(tensors, "tag_head", width, len(bio.TAGS))

        def compute(states: RowStates) -> TagProbabilities:
            logits = head(states.final[states.hypothesis]).astype(np.float64)
            logits -= logits.max(-1, keepdims=True)
            return TagProbabilities(logits - np.log(np.exp(logits).sum(-1, keepdims=True)))

        return compute

    def join(self, row: Row, windows: Sequence[tuple[Encoding, TagProbabilities]]) -> TagProbabilities:
        """Returns the probabilities of the kept tokens."""
        for _, said in windows:
            check_numbers(said.logs)
        return TagProbabilities(np.concatenate([said.logs[slice(*encoding.kept)] for encoding, said in windows]))

    def mean(self, outputs: Sequence[TagProbabilities]) -> TagProbabilities:
        """Returns the logarithms of the mean probabilities."""
        return TagProbabilities(np.log(np.mean([np.exp(output.logs) for output in outputs], axis=0)))

    def expected_score(self, output: TagProbabilities) -> float:
        """Returns the expected score of the tags."""
        return score_of_tags(output.logs)

    def scoring(self) -> str:
        """Returns the name of this way to score."""
        return "tags"

    def of_blank(self) -> TagProbabilities:
        """Returns no rows."""
        return TagProbabilities(np.zeros((0, len(bio.TAGS))))

    def of_copy(self, output: TagProbabilities) -> TagProbabilities:
        """Returns the tags of a text without errors."""
        return TagProbabilities(np.broadcast_to(_NO_ERROR, output.logs.shape))

    def mark(
        self,
        model_inputs: Sequence[ModelInput],
        predictions: Sequence[Prediction],
        marks: Sequence[Marks],
        decoding: Decoding,
    ) -> Sequence[Marks]:
        """Returns the error spans of each segment."""
        assert decoding.min_confidence is not None
        marked = decode(
            predictions,
            min_confidences=thresholds_of(
                [prediction.hypothesis for prediction in predictions],
                [model_input.inputs for model_input in model_inputs],
                decoding.thresholds,
                decoding.min_confidence,
            ),
            whole_words=decoding.whole_words,
            confidences=[_confidence(model_input, decoding) for model_input in model_inputs],
        )
        if decoding.span_budget is not None:
            marked = [
                within_budget(spans, decoding.span_budget * -(prediction.score or 0.0))
                for spans, prediction in zip(marked, predictions, strict=True)
            ]
        return [each._replace(errors=(*each.errors, *spans)) for each, spans in zip(marks, marked, strict=True)]

    def signature(self, inputs: InputKind, decoding: Decoding) -> Sequence[str]:
        """Returns what the spans depend on."""
        assert decoding.min_confidence is not None
        threshold = decoding.threshold(inputs)
        named = [f"{decoding.min_confidence:g}"]
        if threshold is not None:
            named = [f"{threshold.least:g}", f"short{threshold.least_of_short:g}"]
        named += [] if decoding.span_budget is None else [f"budget{decoding.span_budget:g}"]
        named += ["words"] if decoding.whole_words else []
        return named


def _confidence(model_input: ModelInput, decoding: Decoding) -> SpanConfidence | None:
    """Returns the span confidence fitted for the input of a segment, with the severity of its language pair."""
    fitted = decoding.confidence(model_input.inputs)
    key = model_input.segment.key
    return fitted and fitted.of_segment(model_input.segment.hypothesis, key.lang_pair if key else None)


def score_of_tags(log_probabilities: FloatArray) -> float:
    """Returns the expected score of the tags: minus the sum of P(B-Minor) + 5 P(B-Major), at least the lowest score.

    Args:
        log_probabilities: (tokens, tags).
    """
    n_minor, n_major = np.exp(log_probabilities[:, [bio.B_MINOR, bio.B_MAJOR]]).sum(0)
    penalty = mqm.MATESE.minor * float(n_minor) + mqm.MATESE.major * float(n_major)
    return max(0.0 - penalty, LOWEST_SCORE)


def decode(
    predictions: Sequence[Prediction],
    *,
    min_confidences: Sequence[float],
    whole_words: bool = False,
    confidences: Sequence[SpanConfidence | None] | None = None,
) -> list[tuple[ErrorSpan, ...]]:
    """Returns the error spans of each hypothesis, without white space at their ends.

    A token belongs to a span if the odds of an error tag against O exceed p to 1 - p: p = 0.5 gives the most probable
    legal sequence, a lower value more tokens. Without a fitted `SpanConfidence`, p is its minimum confidence, and the
    confidence of a span is the probability of any error, averaged over its tokens. With one, p is at least `PEAK_SHARE`
    of the highest error probability among the neighbours that exceed its own p.

    Args:
        predictions: one for each hypothesis.
        min_confidences: for each hypothesis, least confidence of a span.
        whole_words: widen spans to whole words.
        confidences: for each hypothesis, the span confidence fitted for its kind of input; None without one.
    """
    fitted = confidences or [None] * len(predictions)
    least = [
        lowest if confidence is None else confidence.min_probability
        for lowest, confidence in zip(min_confidences, fitted, strict=True)
    ]
    best = best_tags(
        [
            prediction.log_probabilities + _bias(prediction, probability, is_fitted=confidence is not None)
            for prediction, probability, confidence in zip(predictions, least, fitted, strict=True)
        ]
    )
    decoded = []
    rows = zip(predictions, best, least, fitted, min_confidences, strict=True)
    for prediction, row_tags, probability, confidence, lowest in rows:
        spans = _spans(prediction, row_tags, probability, whole_words)
        if confidence is not None:
            rated = _rated(prediction, spans, confidence)
            spans = tuple(span for span in rated if (span.confidence or 0) >= lowest)
        decoded.append(spans)
    return decoded


def _bias(prediction: Prediction, probability: float, *, is_fitted: bool) -> FloatArray:
    """Returns the term to add to the log-probabilities of the tags, (tokens, tags)."""
    errors = 1 - np.exp(prediction.log_probabilities[:, bio.O])
    least = np.full(len(errors), probability)
    if is_fitted and len(errors):
        edges = np.flatnonzero(np.diff(errors >= probability)) + 1
        for run in np.split(np.arange(len(errors)), edges):
            least[run] = max(probability, PEAK_SHARE * errors[run].max())
    bias = np.zeros((len(errors), len(bio.TAGS)))
    bias[:, bio.O] = np.log(least / (1 - least))
    return bias


def _rated(prediction: Prediction, spans: Iterable[ErrorSpan], fitted: SpanConfidence) -> Iterator[ErrorSpan]:
    """Yields the spans with their fitted confidence in place of the mean probability, and their fitted severity."""
    for span in spans:
        n_tokens = count_tokens(span, prediction.ranges)
        rated = replace(span, confidence=round(fitted.of(span.confidence or 0.0, n_tokens), 4))
        if fitted.major is not None:
            share = major_share(np.exp(prediction.log_probabilities[tokens_of(span, prediction.ranges)]))
            is_major = share * (rated.confidence or 0.0) >= fitted.major
            rated = replace(rated, severity=Severity.MAJOR if is_major else Severity.MINOR)
        yield rated


def major_share(probabilities: FloatArray) -> float:
    """Returns the share of the Major tags in the error probability of some tokens, (tokens, tags); 0 without tokens."""
    errors = probabilities[:, bio.O + 1 :].sum()
    return float(probabilities[:, [bio.B_MAJOR, bio.I_MAJOR]].sum() / errors) if errors else 0.0


def within_budget(spans: Iterable[ErrorSpan], budget: float) -> tuple[ErrorSpan, ...]:
    """Returns the most confident spans whose penalties amount to about the budget, in text order.

    A span is taken if at least half of its penalty is left, so that the sum is the budget, rounded. A Major for which
    too little is left becomes a Minor.

    >>> spans = [ErrorSpan(0, 2, Severity.MAJOR, confidence=0.9), ErrorSpan(3, 5, Severity.MINOR, confidence=0.5)]
    >>> [span.severity.value for span in within_budget(spans, 5.5)], len(within_budget(spans, 0.4))
    (['major', 'minor'], 0)
    >>> [span.severity.value for span in within_budget(spans, 1.2)]
    ['minor']
    """
    left = budget
    kept = []
    for span in sorted(spans, key=lambda span: -(span.confidence or 0.0)):
        penalty = mqm.MATESE.major if span.severity is Severity.MAJOR else mqm.MATESE.minor
        if left < penalty / 2 and span.severity is Severity.MAJOR:
            span = replace(span, severity=Severity.MINOR)
            penalty = mqm.MATESE.minor
        if left >= penalty / 2:
            kept.append(span)
            left -= penalty
    return tuple(sorted(kept, key=lambda span: span.start))


def allows_a_span(budget: float) -> bool:
    """Whether `within_budget` takes any span: half of a Minor error."""
    return budget >= mqm.MATESE.minor / 2


def count_tokens(span: ErrorSpan, ranges: TagNumbers) -> int:
    """Returns the number of tokens that share a character with a span, at least 1.

    Args:
        span: span of the hypothesis.
        ranges: (tokens, 2), ranges of the hypothesis' tokens.
    """
    return max(1, int(tokens_of(span, ranges).sum()))


def tokens_of(span: ErrorSpan, ranges: TagNumbers) -> npt.NDArray[np.bool_]:
    """Returns whether each token shares a character with a span: (tokens,)."""
    is_inside: npt.NDArray[np.bool_] = (ranges[:, 0] < span.end) & (ranges[:, 1] > span.start)
    return is_inside


def _spans(
    prediction: Prediction, tag_numbers: TagNumbers, min_confidence: float, whole_words: bool
) -> tuple[ErrorSpan, ...]:
    if not tag_numbers.any():  # free of errors, as most are
        return ()
    ranges = [(start, end) for start, end in prediction.ranges.tolist()]
    spans = []
    for start, end, severity in bio.to_ranges(tag_numbers.tolist()):
        place = bio.characters_of(range(start, end), ranges)
        confidence = 1 - np.exp(prediction.log_probabilities[start:end, bio.O]).mean()
        if place is not None and confidence >= min_confidence:
            place = texts.widen(*place, prediction.hypothesis) if whole_words else place
            spans.append(ErrorSpan(*place, severity, confidence=round(float(np.clip(confidence, 0, 1)), 4)))
    return without_overlap(spans)


def best_tags(log_probabilities: Sequence[FloatArray]) -> list[TagNumbers]:
    """Returns the most probable legal BIO sequences: no I- without its B-, no change of severity inside a span.

    The Viterbi algorithm over the transitions of `bio.may_follow`, for many hypotheses at once.

    Args:
        log_probabilities: (tokens, tags) for each hypothesis.
    """
    order = sorted(range(len(log_probabilities)), key=lambda number: -len(log_probabilities[number]))
    lengths = np.array([len(log_probabilities[number]) for number in order])
    best: list[TagNumbers] = [np.zeros(0, np.int64)] * len(order)
    start = 0
    while start < len(order):
        end = start + max(1, _PADDED_TOKENS // max(1, int(lengths[start])))
        rows = [log_probabilities[number] for number in order[start:end]]
        for number, row_tags, length in zip(order[start:end], _viterbi(rows), lengths[start:end], strict=True):
            best[number] = row_tags[:length]
        start = end
    return best


def _viterbi(rows: Sequence[FloatArray]) -> TagNumbers:
    """Returns the tags of rows sorted by length, longest first: (rows, tokens of the first), 0 after a row's end."""
    lengths = np.array([len(row) for row in rows])
    n_tokens = int(lengths[0])
    padded = np.zeros((n_tokens, len(rows), len(bio.TAGS)))
    for number, row in enumerate(rows):
        padded[: len(row), number] = row
    n_open = [int(np.searchsorted(-lengths, -position)) for position in range(n_tokens)]  # rows with such a token
    origins = np.zeros(padded.shape, dtype=np.int8)
    scores = np.where(_FORBIDDEN_FIRST, -np.inf, padded[0]) if n_tokens else np.zeros((len(rows), len(bio.TAGS)))
    for position in range(1, n_tokens):
        n = n_open[position]
        paths = scores[:n, :, None] + _PENALTIES  # (rows, before, tag)
        origins[position, :n] = paths.argmax(1)
        scores[:n] = paths.max(1) + padded[position, :n]
    chosen = np.zeros((len(rows), n_tokens), dtype=np.int64)
    last = scores.argmax(1)
    for position in range(n_tokens - 1, -1, -1):
        n = n_open[position]
        chosen[:n, position] = last[:n]
        last[:n] = origins[position, np.arange(n), last[:n]]
    return chosen


def without_overlap(spans: Iterable[ErrorSpan]) -> tuple[ErrorSpan, ...]:
    """Returns the spans in text order, with overlapping spans joined.

    A joined span has the worse severity and the higher confidence. Neighbouring spans can overlap because tokens may
    share a character and a word may contain two errors.
    """
    joined: list[ErrorSpan] = []
    for span in sorted(spans, key=lambda span: span.start):
        if joined and span.start < joined[-1].end:
            last = joined.pop()
            assert span.severity is not None and last.severity is not None  # noqa: PT018
            severity = max(last.severity, span.severity)
            confidence = max(last.confidence or 0.0, span.confidence or 0.0)
            span = replace(last, end=max(last.end, span.end), severity=severity, confidence=confidence)
        joined.append(span)
    return tuple(joined)

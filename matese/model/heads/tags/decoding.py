"""The tags: log-probabilities of each token, (tokens, tags), decoded into error spans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice, pairwise

import numpy as np
import numpy.typing as npt

from matese import mqm
from matese.annotation import ErrorSpan, Severity
from matese.model.arrays import Floats, Ints
from matese.model.decoding import Decoding
from matese.model.encoder.numpy_layers import StoredTensors, dense
from matese.model.heads.head import Head, NumpyHead, RowStates
from matese.model.heads.tags import bio
from matese.model.heads.tags.confidence import SpanConfidence, is_short, thresholds_of
from matese.model.model_input import ModelInput, Row
from matese.model.prediction import Marks, Prediction, TagProbabilities, check_numbers
from matese.model.texts.encoding import Encoding, InputKind
from matese.mqm import LOWEST_SCORE
from matese.text.words import widen

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

    def of_untranslated(self, output: TagProbabilities) -> TagProbabilities:
        """Returns the tags of one Major error that is the whole text."""
        logs = np.full(output.logs.shape, np.log(1e-6))
        logs[:1, bio.B_MAJOR] = np.log(1 - 4e-6)
        logs[1:, bio.I_MAJOR] = np.log(1 - 4e-6)
        return TagProbabilities(logs)

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
            confidences=_confidences(model_inputs, decoding),
        )
        if decoding.span_budget is not None:
            marked = [
                within_budget(spans, decoding.span_budget * -(prediction.score or 0.0)) if spans else ()
                for spans, prediction in zip(marked, predictions, strict=True)
            ]
        return [
            each._replace(errors=(*each.errors, *spans)) if spans else each
            for each, spans in zip(marks, marked, strict=True)
        ]

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


def _confidences(model_inputs: Sequence[ModelInput], decoding: Decoding) -> list[SpanConfidence | None]:
    """Returns the span confidence fitted for the input of each segment, with the severity of its language pair."""
    fitted = {one.inputs: one for one in decoding.confidences}
    known: dict[tuple[InputKind, bool, str | None], SpanConfidence | None] = {}
    found = []
    for model_input in model_inputs:
        key = model_input.segment.key
        lang_pair = key.lang_pair if key else None
        case = (model_input.inputs, is_short(model_input.segment.hypothesis), lang_pair)
        if case not in known:
            of_inputs = fitted.get(model_input.inputs)
            known[case] = of_inputs and of_inputs.of_segment(model_input.segment.hypothesis, lang_pair)
        found.append(known[case])
    return found


def score_of_tags(log_probabilities: Floats) -> float:
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
    rows = _Rows.of(predictions)
    best = best_tags(
        rows.split(rows.logs + _bias(rows, np.array(least), is_fitted=[one is not None for one in fitted]))
    )
    marked = [number for number, row_tags in enumerate(best) if row_tags.any()]  # most are free of errors
    decoded: list[tuple[ErrorSpan, ...]] = [()] * len(predictions)
    for number in marked:
        correct = rows.correct[rows.starts[number] : rows.starts[number + 1]]
        decoded[number] = _spans(predictions[number], correct, best[number], least[number], whole_words)
    for confidence in {id(one): one for one in fitted if one is not None}.values():
        own = [number for number in marked if fitted[number] is confidence and decoded[number]]
        for number, spans in zip(own, _rated(rows, own, [decoded[number] for number in own], confidence), strict=True):
            decoded[number] = tuple([span for span in spans if (span.confidence or 0) >= min_confidences[number]])
    return decoded


@dataclass(frozen=True, slots=True)
class _Rows:
    """The tokens of several hypotheses in one array.

    Attributes:
        logs: (tokens of all hypotheses, tags).
        ranges: (tokens of all hypotheses, 2).
        correct: (tokens of all hypotheses,), the probability of O.
        starts: (hypotheses + 1,), the first token of each hypothesis, and the number of all tokens.
    """

    logs: Floats
    ranges: Ints
    correct: Floats
    starts: list[int]

    @classmethod
    def of(cls, predictions: Sequence[Prediction]) -> _Rows:
        """Returns the tokens of some predictions."""
        rows = [prediction.log_probabilities for prediction in predictions]
        logs = np.concatenate([np.zeros((0, len(bio.TAGS))), *rows])
        ranges = np.concatenate([np.zeros((0, 2), np.int32), *(prediction.ranges for prediction in predictions)])
        return cls(logs, ranges, np.exp(logs[:, bio.O]), [0, *accumulate(map(len, rows))])

    def split(self, values: Floats) -> list[Floats]:
        """Returns the part of each hypothesis of an array with all tokens."""
        return [values[start:end] for start, end in pairwise(self.starts)]


def _bias(rows: _Rows, probabilities: Floats, *, is_fitted: Sequence[bool]) -> Floats:
    """Returns the term to add to the log-probabilities of the tags, (tokens of all hypotheses, tags).

    Args:
        rows: the hypotheses.
        probabilities: (hypotheses,), least error probability of a token in an error.
        is_fitted: whether there is a fitted `SpanConfidence`, for each hypothesis.
    """
    errors = 1 - rows.correct
    lengths = np.diff(rows.starts)
    own = np.repeat(probabilities, lengths)
    least = own
    if len(errors) and any(is_fitted):
        # Runs of tokens on the same side of p, which end with the hypothesis.
        is_above = errors >= own
        begins = np.append(True, is_above[1:] != is_above[:-1])
        begins[[start for start in rows.starts if start < len(errors)]] = True
        first = np.flatnonzero(begins)
        highest = np.repeat(np.maximum.reduceat(errors, first), np.diff(np.append(first, len(errors))))
        least = np.where(np.repeat(np.array(is_fitted), lengths), np.maximum(own, PEAK_SHARE * highest), own)
    bias = np.zeros(rows.logs.shape)
    bias[:, bio.O] = np.log(least / (1 - least))
    return bias


def _rated(
    rows: _Rows, numbers: Sequence[int], found: Sequence[Sequence[ErrorSpan]], fitted: SpanConfidence
) -> Iterator[list[ErrorSpan]]:
    """Yields the spans with their fitted confidence in place of the mean probability, and their fitted severity.

    Args:
        rows: the tokens of all hypotheses.
        numbers: of the hypotheses with these spans.
        found: one or more spans of each of these hypotheses.
        fitted: for these hypotheses.
    """
    if not numbers:
        return
    spans = [span for own in found for span in own]
    owners = np.repeat(numbers, [len(own) for own in found])
    first = np.array(rows.starts)[owners]
    lengths = np.array(rows.starts)[owners + 1] - first
    # For each span, all tokens of its hypothesis, one span after the other.
    ends = np.cumsum(lengths)
    begins = ends - lengths
    tokens = np.arange(ends[-1]) - np.repeat(begins - first, lengths)
    starts_of_spans = np.repeat([span.start for span in spans], lengths)
    ends_of_spans = np.repeat([span.end for span in spans], lengths)
    ranges = rows.ranges[tokens]
    is_inside = (ranges[:, 0] < ends_of_spans) & (ranges[:, 1] > starts_of_spans)
    n_tokens = np.add.reduceat(is_inside.astype(np.int64), begins)
    means = np.array([span.confidence or 0.0 for span in spans])
    confidences = [round(one, 4) for one in fitted.of_all(means, np.maximum(n_tokens, 1))]
    severities = [span.severity for span in spans]
    if fitted.major is not None:
        inside = np.where(is_inside[:, None], np.exp(rows.logs[tokens]), 0.0)
        sums = np.add.reduceat(inside, begins)  # (spans, tags)
        errors = sums[:, bio.O + 1 :].sum(1)
        major = sums[:, [bio.B_MAJOR, bio.I_MAJOR]].sum(1)
        shares = np.divide(major, errors, out=np.zeros(len(spans)), where=errors > 0)
        are_major = (shares * np.array(confidences) >= fitted.major).tolist()
        severities = [Severity.MAJOR if is_major else Severity.MINOR for is_major in are_major]
    rated = zip(spans, severities, confidences, strict=True)
    made = iter([ErrorSpan(span.start, span.end, level, confidence=value) for span, level, value in rated])
    for own in found:
        yield list(islice(made, len(own)))


def major_share(probabilities: Floats) -> float:
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


def count_tokens(span: ErrorSpan, ranges: Ints) -> int:
    """Returns the number of tokens that share a character with a span, at least 1.

    Args:
        span: span of the hypothesis.
        ranges: (tokens, 2), ranges of the hypothesis' tokens.
    """
    return max(1, int(tokens_of(span, ranges).sum()))


def tokens_of(span: ErrorSpan, ranges: Ints) -> npt.NDArray[np.bool_]:
    """Returns whether each token shares a character with a span: (tokens,)."""
    is_inside: npt.NDArray[np.bool_] = (ranges[:, 0] < span.end) & (ranges[:, 1] > span.start)
    return is_inside


def _spans(
    prediction: Prediction,
    correct: Floats,
    tag_numbers: Ints,
    min_confidence: float,
    whole_words: bool,
) -> tuple[ErrorSpan, ...]:
    """Returns the spans of a hypothesis; `correct`: (tokens,), the probability of O, `tag_numbers`: (tokens,)."""
    ranges = prediction.ranges.tolist()
    before = [0.0, *accumulate(correct.tolist())]
    spans = []
    for start, end, severity in bio.to_ranges(tag_numbers.tolist()):
        place = bio.characters_of(range(start, end), ranges)
        confidence = 1 - (before[end] - before[start]) / (end - start)
        if place is not None and confidence >= min_confidence:
            place = widen(*place, prediction.hypothesis) if whole_words else place
            spans.append(ErrorSpan(*place, severity, confidence=round(min(max(confidence, 0.0), 1.0), 4)))
    return without_overlap(spans)


def best_tags(log_probabilities: Sequence[Floats]) -> list[Ints]:
    """Returns the most probable legal BIO sequences: no I- without its B-, no change of severity inside a span.

    The Viterbi algorithm over the transitions of `bio.may_follow`, for many hypotheses at once.

    Args:
        log_probabilities: (tokens, tags) for each hypothesis.
    """
    # O is the first tag and may follow any other: where it is the most probable tag of each token, so is the sequence.
    others = [number for number, row in enumerate(log_probabilities) if row.argmax(1).any()]
    order = sorted(others, key=lambda number: -len(log_probabilities[number]))
    lengths = np.array([len(log_probabilities[number]) for number in order])
    best: list[Ints] = [np.zeros(len(row), np.int64) for row in log_probabilities]
    start = 0
    while start < len(order):
        end = start + max(1, _PADDED_TOKENS // max(1, int(lengths[start])))
        rows = [log_probabilities[number] for number in order[start:end]]
        for number, row_tags, length in zip(order[start:end], _viterbi(rows), lengths[start:end], strict=True):
            best[number] = row_tags[:length]
        start = end
    return best


def _viterbi(rows: Sequence[Floats]) -> Ints:
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

"""The tags: log-probabilities of each token, (tokens, tags), decoded into error spans."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from matese import mqm
from matese.annotation import ErrorSpan, Severity
from matese.model.arrays import Floats, Ints, reduce_parts
from matese.model.decoding import Decoding
from matese.model.encoder.numpy_layers import StoredTensors, dense
from matese.model.heads.head import Head, NumpyHead, RowStates, Said
from matese.model.heads.tags import bio
from matese.model.heads.tags.confidence import SpanConfidence, is_short
from matese.model.model_input import ModelInput, Row
from matese.model.prediction import Marks, Prediction, TagProbabilities, check_numbers
from matese.model.texts.encoding import InputKind
from matese.mqm import LOWEST_SCORE
from matese.text.words import widen

_FORBIDDEN = np.array(
    [[not bio.may_follow(before, tag) for tag in range(len(bio.TAGS))] for before in range(len(bio.TAGS))]
)
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

    def check(self, outputs: Sequence[TagProbabilities]) -> None:
        """Raises a ModelError if an output contains NaN."""
        check_numbers([output.logs for output in outputs])

    def join(self, row: Row, parts: Said[TagProbabilities], whole: Said[TagProbabilities]) -> TagProbabilities:
        """Returns the probabilities of the kept tokens."""
        return TagProbabilities(np.concatenate([said.logs[slice(*encoding.kept)] for encoding, said in parts]))

    def mean(self, outputs: Sequence[TagProbabilities]) -> TagProbabilities:
        """Returns the logarithms of the mean probabilities."""
        return TagProbabilities(np.log(np.mean([np.exp(output.logs) for output in outputs], axis=0)))

    def expected_scores(self, outputs: Sequence[TagProbabilities]) -> list[float]:
        """Returns the expected scores of the tags."""
        return scores_of_tags([output.logs for output in outputs])

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
        fitted = _fitted(model_inputs, decoding)
        marked = decode(
            predictions,
            min_confidences=[least for least, _ in fitted],
            whole_words=decoding.whole_words,
            confidences=[confidence for _, confidence in fitted],
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


def _fitted(model_inputs: Sequence[ModelInput], decoding: Decoding) -> list[tuple[float, SpanConfidence | None]]:
    """Returns the least confidence of a marked span of each segment, and the span confidence fitted for such segments.

    The latter has the severity of the language pair.
    """
    assert decoding.min_confidence is not None
    known: dict[tuple[InputKind, bool, str | None], tuple[float, SpanConfidence | None]] = {}
    found = []
    for model_input in model_inputs:
        segment = model_input.segment
        lang_pair = segment.key.lang_pair if segment.key else None
        case = (model_input.inputs, is_short(segment.hypothesis), lang_pair)
        if case not in known:
            threshold = decoding.threshold(model_input.inputs)
            confidence = decoding.confidence(model_input.inputs)
            known[case] = (
                decoding.min_confidence if threshold is None else threshold.of(segment.hypothesis),
                confidence and confidence.of_segment(segment.hypothesis, lang_pair),
            )
        found.append(known[case])
    return found


def scores_of_tags(log_probabilities: Sequence[Floats]) -> list[float]:
    """Returns the expected scores of the tags: minus the sum of P(B-Minor) + 5 P(B-Major), at least the lowest score.

    Args:
        log_probabilities: (tokens, tags) for each hypothesis.
    """
    if not log_probabilities:
        return []
    begins = np.exp(np.concatenate(log_probabilities)[:, [bio.B_MINOR, bio.B_MAJOR]])
    counts = reduce_parts(np.add, begins, [len(logs) for logs in log_probabilities])
    penalties = counts @ [mqm.MATESE.minor, mqm.MATESE.major]
    scores: list[float] = np.maximum(0.0 - penalties, LOWEST_SCORE).tolist()
    return scores


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
    bias = _bias(rows, np.array(least), is_fitted=[one is not None for one in fitted])
    found = _spans(predictions, rows, best_tags(rows.logs + bias, rows.starts), least, whole_words=whole_words)
    decoded: list[tuple[ErrorSpan, ...]] = [()] * len(predictions)
    for number, spans in found.items():  # few, since most hypotheses are free of errors
        decoded[number] = spans
    for number, rated in _rated(rows, found, fitted).items():
        decoded[number] = tuple([span for span in rated if (span.confidence or 0) >= min_confidences[number]])
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
        begins[_first_tokens(rows.starts)] = True
        first = np.flatnonzero(begins)
        highest = np.repeat(np.maximum.reduceat(errors, first), np.diff(np.append(first, len(errors))))
        least = np.where(np.repeat(np.array(is_fitted), lengths), np.maximum(own, PEAK_SHARE * highest), own)
    bias = np.zeros(rows.logs.shape)
    bias[:, bio.O] = np.log(least / (1 - least))
    return bias


def _first_tokens(starts: Sequence[int]) -> list[int]:
    """Returns the first token of each hypothesis that has tokens; see `_Rows.starts`."""
    return [start for start in starts if start < starts[-1]]


def _rated(
    rows: _Rows, found: Mapping[int, Sequence[ErrorSpan]], fitted: Sequence[SpanConfidence | None]
) -> dict[int, list[ErrorSpan]]:
    """Returns the spans with their fitted confidence in place of the mean probability, and their fitted severity.

    Args:
        rows: the tokens of all hypotheses.
        found: one or more spans of some hypotheses, by number.
        fitted: for each hypothesis; one without a fit is left out.
    """
    spans = [(owner, span) for owner, own in found.items() if fitted[owner] is not None for span in own]
    if not spans:
        return {}
    owners = np.array([owner for owner, _ in spans])
    first = np.array(rows.starts)[owners]
    lengths = np.array(rows.starts)[owners + 1] - first
    # For each span, all tokens of its hypothesis, one span after the other.
    ends = np.cumsum(lengths)
    begins = ends - lengths
    tokens = np.arange(ends[-1]) - np.repeat(begins - first, lengths)
    starts_of_spans = np.repeat([span.start for _, span in spans], lengths)
    ends_of_spans = np.repeat([span.end for _, span in spans], lengths)
    ranges = rows.ranges[tokens]
    is_inside = (ranges[:, 0] < ends_of_spans) & (ranges[:, 1] > starts_of_spans)
    inside = np.where(is_inside[:, None], np.exp(rows.logs[tokens]), 0.0)
    sums = np.add.reduceat(inside, begins)  # (spans, tags)
    errors = sums[:, bio.O + 1 :].sum(1)
    major = sums[:, [bio.B_MAJOR, bio.I_MAJOR]].sum(1)
    shares = np.divide(major, errors, out=np.zeros(len(spans)), where=errors > 0).tolist()
    means = np.array([span.confidence or 0.0 for _, span in spans])
    n_tokens = np.maximum(np.add.reduceat(is_inside.astype(np.int64), begins), 1)
    rated = defaultdict[int, list[ErrorSpan]](list)
    of_fit = defaultdict[int, list[int]](list)
    for number, (owner, _) in enumerate(spans):
        of_fit[id(fitted[owner])].append(number)
    for numbers in of_fit.values():
        confidence = fitted[spans[numbers[0]][0]]
        assert confidence is not None
        for number, value in zip(numbers, confidence.of_all(means[numbers], n_tokens[numbers]), strict=True):
            owner, span = spans[number]
            rounded = round(value, 4)
            severity = span.severity
            if confidence.major is not None:
                severity = Severity.MAJOR if shares[number] * rounded >= confidence.major else Severity.MINOR
            rated[owner].append(ErrorSpan(span.start, span.end, severity, confidence=rounded))
    return rated


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
    predictions: Sequence[Prediction], rows: _Rows, tags: Ints, least: Sequence[float], *, whole_words: bool
) -> dict[int, tuple[ErrorSpan, ...]]:
    """Returns the spans of each hypothesis that has any, by its number.

    Args:
        predictions: one for each hypothesis.
        rows: their tokens.
        tags: (tokens of all hypotheses,), legal sequences.
        least: for each hypothesis, least mean error probability of the tokens of a span.
        whole_words: widen spans to whole words.
    """
    begins = (tags == bio.B_MINOR) | (tags == bio.B_MAJOR)
    is_stop = begins | (tags == bio.O)
    is_stop[_first_tokens(rows.starts)] = True
    first = np.flatnonzero(begins)
    stops = np.append(np.flatnonzero(is_stop), len(tags))
    end = stops[np.searchsorted(stops, first, side="right")]
    owners = np.searchsorted(rows.starts, first, side="right") - 1
    # Reduced from each place to the next one: every other result is that of a span. The last place may be the end.
    places = np.stack([first, end], 1).ravel()
    has_characters = rows.ranges[:, 0] < rows.ranges[:, 1]
    starts_of_tokens = np.where(has_characters, rows.ranges[:, 0], np.iinfo(np.int32).max)
    ends_of_tokens = np.where(has_characters, rows.ranges[:, 1], 0)
    columns = (
        owners,
        np.minimum.reduceat(np.append(starts_of_tokens, 0), places)[::2],
        np.maximum.reduceat(np.append(ends_of_tokens, 0), places)[::2],
        tags[first] == bio.B_MAJOR,
        1 - np.add.reduceat(np.append(rows.correct, 0.0), places)[::2] / (end - first),
    )
    found = defaultdict[int, list[ErrorSpan]](list)
    for owner, start, stop, is_major, confidence in zip(*(column.tolist() for column in columns), strict=True):
        if start < stop and confidence >= least[owner]:
            if whole_words:
                start, stop = widen(start, stop, predictions[owner].hypothesis)
            severity = Severity.MAJOR if is_major else Severity.MINOR
            bounded = min(max(confidence, 0.0), 1.0)
            found[owner].append(ErrorSpan(start, stop, severity, confidence=round(bounded, 4)))
    return {owner: without_overlap(spans) for owner, spans in found.items()}


def best_tags(log_probabilities: Floats, starts: Sequence[int]) -> Ints:
    """Returns the most probable legal BIO sequences: no I- without its B-, no change of severity inside a span.

    The Viterbi algorithm over the transitions of `bio.may_follow`, for many hypotheses at once.

    Args:
        log_probabilities: (tokens of all hypotheses, tags).
        starts: first token of each hypothesis, and the number of all tokens.
    """
    # Where the most probable tags of the tokens may follow each other, they are the sequence.
    best: Ints = log_probabilities.argmax(1)
    before = np.append(bio.O, best)[:-1]
    before[_first_tokens(starts)] = bio.O  # after which may stand what may stand at the start
    forbidden = np.flatnonzero(_FORBIDDEN[before, best])
    cuts = _cuts(log_probabilities, starts)
    parts = np.unique(np.searchsorted(cuts, forbidden, side="right"))
    places = [slice(start, end) for start, end in zip(cuts[parts - 1].tolist(), cuts[parts].tolist(), strict=True)]
    places.sort(key=lambda place: place.start - place.stop)  # longest first
    done = 0
    while done < len(places):
        together = places[done : done + max(1, _PADDED_TOKENS // (places[done].stop - places[done].start))]
        for place, row_tags in zip(together, _viterbi([log_probabilities[place] for place in together]), strict=True):
            best[place] = row_tags[: place.stop - place.start]
        done += len(together)
    return best


def _cuts(log_probabilities: Floats, starts: Sequence[int]) -> Ints:
    """Returns places that divide hypotheses into parts whose best sequences are those of the whole: few tokens each.

    After a token that is certainly O, everything may stand that may stand at the start. A token is certainly O if that
    is more probable there than any other tag by more than what it would cost to begin a span at the next token.
    """
    advantages = log_probabilities[:, bio.O] - log_probabilities[:, bio.O + 1 :].max(1)
    insides = log_probabilities[:, [bio.I_MINOR, bio.I_MAJOR]]
    costs = (insides - log_probabilities[:, [bio.B_MINOR, bio.B_MAJOR]]).max(1)
    is_certain = advantages > np.maximum(np.append(costs, 0.0)[1:], 0.0)
    return np.union1d(starts, np.flatnonzero(is_certain) + 1)


def _viterbi(rows: Sequence[Floats]) -> Ints:
    """Returns the tags of rows sorted by length, longest first: (rows, tokens of the first), 0 after a row's end."""
    lengths = np.array([len(row) for row in rows])
    n_tokens = int(lengths[0])
    padded = np.zeros((n_tokens, len(rows), len(bio.TAGS)))
    for number, row in enumerate(rows):
        padded[: len(row), number] = row
    n_open = [int(np.searchsorted(-lengths, -position)) for position in range(n_tokens)]  # rows with such a token
    origins = np.zeros(padded.shape, dtype=np.int8)
    scores = np.where(_FORBIDDEN[bio.O], -np.inf, padded[0])  # at the start may stand what may follow O
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


def without_overlap(spans: Sequence[ErrorSpan]) -> tuple[ErrorSpan, ...]:
    """Returns the spans in text order, with overlapping spans joined.

    A joined span has the worse severity and the higher confidence. Neighbouring spans can overlap because tokens may
    share a character and a word may contain two errors.
    """
    if len(spans) < 2:
        return tuple(spans)
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

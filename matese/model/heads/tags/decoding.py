"""The tags: log-probabilities of each token, (tokens, tags), decoded into error spans."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from matese import mqm
from matese.annotation import ErrorSpan, Severity
from matese.model.arrays import Ints
from matese.model.decoding import Decoding
from matese.model.encoder.numpy_layers import StoredTensors, dense
from matese.model.heads.head import NumpyHead, RowStates, TokenHead
from matese.model.heads.tags import bio
from matese.model.heads.tags.marking import MarkRule
from matese.model.model_input import ModelInput
from matese.model.prediction import Marks, Prediction, TagProbabilities
from matese.model.texts.encoding import InputKind
from matese.mqm import LOWEST_SCORE
from matese.text.words import widen

_NO_ERROR = np.log(np.array([1 - 4e-6 if tag == "O" else 1e-6 for tag in bio.TAGS]))
"""Log-probabilities of a token without error: (tags,). No probability is 0, so that all logarithms are finite."""
_MAJOR = (bio.B_MAJOR, bio.I_MAJOR)


class Tags(TokenHead):
    """What makes a model a tagger; its probabilities are averaged."""

    name = "tags"
    part = "tag_head"
    output = TagProbabilities
    scoring = "tags"
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

    def mean(self, outputs: Sequence[TagProbabilities]) -> TagProbabilities:
        """Returns the logarithms of the mean probabilities."""
        return TagProbabilities(np.log(np.mean([np.exp(output.values) for output in outputs], axis=0)))

    def expected_score(self, output: TagProbabilities) -> float:
        """Returns the expected score of the tags: minus the sum of P(B-Minor) + 5 P(B-Major)."""
        minor, major = np.exp(output.values[:, [bio.B_MINOR, bio.B_MAJOR]]).sum(0)
        return max(0.0 - mqm.MATESE.minor * float(minor) - mqm.MATESE.major * float(major), LOWEST_SCORE)

    def of_blank(self) -> TagProbabilities:
        """Returns no rows."""
        return TagProbabilities(np.zeros((0, len(bio.TAGS))))

    def of_copy(self, output: TagProbabilities) -> TagProbabilities:
        """Returns the tags of a text without errors."""
        return TagProbabilities(np.broadcast_to(_NO_ERROR, output.values.shape))

    def of_untranslated(self, output: TagProbabilities) -> TagProbabilities:
        """Returns the tags of one Major error that is the whole text."""
        logs = np.full(output.values.shape, np.log(1e-6))
        logs[:1, bio.B_MAJOR] = np.log(1 - 4e-6)
        logs[1:, bio.I_MAJOR] = np.log(1 - 4e-6)
        return TagProbabilities(logs)

    def mark(self, model_input: ModelInput, prediction: Prediction, marks: Marks, decoding: Decoding) -> Marks:
        """Adds the error spans."""
        spans = find(
            prediction,
            decoding.of(model_input.inputs).marking,
            least=decoding.least_confidence(model_input, prediction.n_pieces),
            whole_words=decoding.whole_words,
        )
        return marks._replace(errors=(*marks.errors, *spans)) if spans else marks

    def signature(self, inputs: InputKind, decoding: Decoding) -> Sequence[str]:
        """Returns what the spans depend on."""
        marking = decoding.of(inputs).marking
        words = ["words"] if decoding.whole_words else []
        if marking is None:
            return [f"{decoding.min_confidence:g}", *words]
        named = [f"{marking.least:g}"]
        named += [f"short{marking.least_of_short:g}"] if marking.least_of_short != marking.least else []
        named += [f"pieces{marking.pieces:g}"] if marking.pieces else []
        return [*named, *words]


@dataclass(frozen=True, slots=True)
class Run:
    """Tokens beside each other that may be one error.

    Attributes:
        start: first character.
        end: one past the last character.
        worst: highest error probability of a token.
        total: sum of the error probabilities of the tokens.
        major: sum of the probabilities of their Major tags.
    """

    start: int
    end: int
    worst: float
    total: float
    major: float

    @property
    def major_share(self) -> float:
        """The share of the Major tags in the error probability."""
        return self.major / self.total

    def joined(self, later: Run) -> Run:
        """Returns one run in place of two that share a character."""
        return Run(
            min(self.start, later.start),
            max(self.end, later.end),
            max(self.worst, later.worst),
            self.total + later.total,
            self.major + later.major,
        )


def find(
    prediction: Prediction, marking: MarkRule | None, *, least: float, whole_words: bool = False
) -> tuple[ErrorSpan, ...]:
    """Returns the error spans of a hypothesis.

    Without `marking`, tokens with at least the least confidence are errors, the confidence of a span is its highest
    error probability, and its severity the more probable one.

    Args:
        prediction: of the hypothesis.
        marking: fitted for its kind of input; None without.
        least: least confidence of a span.
        whole_words: widen spans to whole words.
    """
    spans = []
    for run in find_runs(prediction, marking.min_probability if marking else least, whole_words=whole_words):
        confidence = marking.confidence(run.worst, run.total) if marking else round(run.worst, 4)
        if confidence >= least:
            is_major = marking.is_major(confidence, run.major_share) if marking else run.major_share > 0.5
            severity = Severity.MAJOR if is_major else Severity.MINOR
            spans.append(ErrorSpan(run.start, run.end, severity, confidence=confidence))
    return tuple(spans)


def find_runs(prediction: Prediction, least: float, *, whole_words: bool) -> list[Run]:
    """Returns the runs of tokens with at least this error probability, in text order, without white space around them.

    Runs that share a character are one, because tokens can share a character and a word can have two of them.
    """
    probabilities = np.exp(prediction.log_probabilities)
    errors = (1 - probabilities[:, bio.O]).tolist()
    joined_runs: list[Run] = []
    is_likely = [error >= least for error in errors]
    for is_run, group in itertools.groupby(range(len(errors)), key=is_likely.__getitem__):
        tokens = list(group)
        place = _characters(prediction.ranges[tokens[0] : tokens[-1] + 1].tolist()) if is_run else None
        if place is None:
            continue
        if whole_words:
            place = widen(*place, prediction.hypothesis)
        of_run = errors[tokens[0] : tokens[-1] + 1]
        major = probabilities[tokens[0] : tokens[-1] + 1, _MAJOR].sum()
        run = Run(*place, min(max(of_run), 1.0), sum(of_run), float(major))
        if joined_runs and run.start < joined_runs[-1].end:
            run = joined_runs.pop().joined(run)
        joined_runs.append(run)
    return joined_runs


def _characters(ranges: Sequence[Sequence[int]]) -> tuple[int, int] | None:
    """Returns the first character of some tokens and the one past the last; None if all of them are empty."""
    filled = [(start, end) for start, end in ranges if start < end]
    return (min(start for start, _ in filled), max(end for _, end in filled)) if filled else None


def tokens_of(span: ErrorSpan, ranges: Ints) -> npt.NDArray[np.bool_]:
    """Returns whether each token shares a character with a span: (tokens,)."""
    is_inside: npt.NDArray[np.bool_] = (ranges[:, 0] < span.end) & (ranges[:, 1] > span.start)
    return is_inside


def without_overlap(spans: Sequence[ErrorSpan]) -> tuple[ErrorSpan, ...]:
    """Returns the spans in text order, with overlapping spans of several heads joined.

    A joined span has the worse severity and the higher confidence.
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

"""Labels: probabilities of each token, (tokens, 1 + severities), decoded into error spans.

They also give the MQM score that contributes to xCOMET's score.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from matese import mqm
from matese.annotation import ErrorSpan, Severity
from matese.model.arrays import Floats
from matese.model.decoding import Decoding
from matese.model.heads.head import Combine, TokenHead
from matese.model.heads.word_labels.settings import WordLabelSettings
from matese.model.model_input import ModelInput, is_combined
from matese.model.prediction import Marks, Outputs, Prediction
from matese.model.texts.encoding import InputKind
from matese.text.words import widen

_WORST = 25
"""Largest penalty in `_compute_mqm_from_spans` of `comet/models/multitask/xcomet_metric.py`."""


@dataclass(frozen=True, slots=True)
class LabelProbabilities:
    """What the head says.

    Attributes:
        values: (tokens, 1 + severities), probabilities of no error and of each severity.
    """

    values: Floats


class WordLabels(TokenHead):
    """Says how probable each severity is for each token; the special tokens around the hypothesis count too."""

    name = "word_labels"
    part = "word_head"
    output = LabelProbabilities
    finds_errors = True
    reads_special_tokens = True
    has_numpy = False

    @property
    def settings(self) -> WordLabelSettings:
        """The settings of the head."""
        assert self.config.heads.word_labels is not None
        return self.config.heads.word_labels

    def over_rows(
        self,
        readings: Sequence[Sequence[Prediction]],
        before: Sequence[Outputs],
        *,
        decoding: Decoding,
        combine: Combine | None,
    ) -> Sequence[LabelProbabilities]:
        """Returns the weighted mean of each reading's rows."""
        probabilities = [[row.outputs[LabelProbabilities].values for row in rows] for rows in readings]
        return [
            LabelProbabilities(
                of_rows[0] if len(of_rows) == 1 else np.tensordot(self.settings.input_weights, np.stack(of_rows), 1)
            )
            for of_rows in probabilities
        ]

    def mark(self, model_input: ModelInput, prediction: Prediction, marks: Marks, decoding: Decoding) -> Marks:
        """Adds the error spans."""
        return marks._replace(errors=(*marks.errors, *find(prediction, self.settings.severities, decoding)))

    def signature(self, inputs: InputKind, decoding: Decoding) -> Sequence[str]:
        """Returns what the spans depend on."""
        named = ["argmax" if decoding.min_confidence is None else f"{decoding.min_confidence:g}"]
        weights = "+".join(f"{weight:g}" for weight in self.settings.input_weights)
        named += [f"inputs{weights}"] if is_combined(inputs, self.config.texts.layout) else []
        named += ["words"] if decoding.whole_words else []
        return named


def choose_labels(probabilities: Floats, min_confidence: float | None) -> list[int]:
    """Returns the label of each token, 0 for no error, from probabilities, (tokens, labels).

    A token with a higher error probability than `min_confidence` gets its most probable severity; if that is None, a
    token gets its most probable label.
    """
    if min_confidence is None:
        return [int(label) for label in probabilities.argmax(1)]
    is_error = probabilities[:, 1:].sum(1) > min_confidence
    return [int(label) for label in np.where(is_error, 1 + probabilities[:, 1:].argmax(1), 0)]


def find(prediction: Prediction, severities: Sequence[Severity], decoding: Decoding) -> tuple[ErrorSpan, ...]:
    """Returns the error spans: adjacent tokens of the same severity are one span.

    The confidence of a span is the mean probability of its severity.

    Args:
        prediction: of the hypothesis; special tokens have empty ranges.
        severities: severity of each label from 1 on.
        decoding: which tokens are marked, and whether spans are widened to whole words.
    """
    ranges = prediction.ranges
    probabilities = prediction.outputs[LabelProbabilities].values
    labels = choose_labels(probabilities, decoding.min_confidence)
    spans: list[ErrorSpan] = []
    for label, group in itertools.groupby(range(len(labels)), key=labels.__getitem__):
        tokens = [token for token in group if ranges[token, 0] < ranges[token, 1]]
        if label == 0 or not tokens:
            continue
        start = int(ranges[tokens, 0].min())
        end = int(ranges[tokens, 1].max())
        if decoding.whole_words:
            start, end = widen(start, end, prediction.hypothesis)
        if spans:  # a widened span may reach into the next, and tokens may share a character
            start = max(start, spans[-1].end)
        if start < end:
            confidence = float(np.clip(probabilities[tokens, label].mean(), 0, 1))
            spans.append(ErrorSpan(start, end, severities[label - 1], confidence=round(confidence, 4)))
    return tuple(spans)


def mqm_score(labels: Sequence[int], severities: Sequence[Severity]) -> float:
    """Returns the MQM score of the labels as unbabel-comet 2.2.7 computes it, from 0 (worst) to 1.

    Its spans differ from those of `find`: adjacent error tokens are one span with the severity of the first token,
    special tokens belong to spans, and a span that is open at the end does not count. The score of xCOMET depends on
    this.

    >>> mqm_score([0, 1, 2, 0, 2, 2], [Severity.MINOR, Severity.MAJOR])
    0.96
    """
    penalties = [mqm.UNBABEL.of(severity) for severity in severities]
    penalty = 0.0
    severity = 0
    for label in labels:
        if label == 0:
            penalty += penalties[severity - 1] if severity else 0
        severity = (severity or label) if label else 0
    return (_WORST - min(penalty, _WORST)) / _WORST

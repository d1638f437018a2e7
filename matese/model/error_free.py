"""Decide whether a translation is free of errors: a logistic regression that `matese calibrate` fits."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from matese import mqm
from matese.annotation import ErrorFree, ErrorSpan, Omission, Segment, Severity
from matese.model.heads.tags.bio import O
from matese.model.heads.tags.marking import log_odds, probability_of
from matese.model.prediction import Marks, Prediction
from matese.text.words import count_words, is_untranslated
from matese.validation.options import NonPositive, Share


@dataclass(frozen=True)
class Features:
    """What the decision on a segment depends on.

    All but the length are evidence of an error. They are on logarithmic scales, on which one strong piece of evidence
    outweighs the absence of the others.

    Attributes:
        expected_score: log(1 - expected score).
        errors: log(1 + sum of the error probabilities of all tokens).
        worst: log odds of the highest error probability of a token.
        marks: log(1 + sum of the confidences of the marks and omissions).
        length: log(1 + number of words).
    """

    expected_score: float
    errors: float
    worst: float
    marks: float
    length: float


@dataclass(frozen=True)
class DecisionWeights:
    """The weight of each feature: never positive for evidence, more of which never makes a segment free of errors."""

    expected_score: NonPositive
    errors: NonPositive
    worst: NonPositive
    marks: NonPositive
    length: float


EVIDENCE = ("expected_score", "errors", "worst", "marks")
"""Features whose weights are not positive."""


@dataclass(frozen=True)
class ErrorFreeRule:
    """A logistic regression, for one kind of input.

    Attributes:
        weights: of the features.
        offset: log odds added.
        threshold: least probability of a segment that is decided to be free of errors.
    """

    weights: DecisionWeights
    offset: float
    threshold: Share

    def probability(self, features: Features) -> float:
        """Returns the probability that nothing needs correcting.

        >>> rule = ErrorFreeRule(DecisionWeights(0, -1, 0, 0, 0), 1.0, 0.5)
        >>> [round(rule.probability(Features(2.0, errors, -1.0, 0, 0)), 2) for errors in (0.0, 1.0, 3.0)]
        [0.73, 0.5, 0.12]
        """
        products = map(operator.mul, vars(self.weights).values(), vars(features).values())
        return probability_of(self.offset + math.fsum(products))


def features_of(prediction: Prediction, marks: Marks) -> Features:
    """Returns the features of a segment."""
    errors = 1 - np.exp(prediction.log_probabilities[:, O])
    marked: tuple[ErrorSpan | Omission, ...] = (*marks.errors, *marks.omissions)
    return Features(
        expected_score=math.log1p(max(0.0, -(prediction.score or 0.0))),
        errors=math.log1p(float(errors.sum())),
        worst=log_odds(float(errors.max(initial=0.0))),
        marks=math.log1p(math.fsum(error.confidence or 0.0 for error in marked)),
        length=math.log1p(count_words(prediction.hypothesis)),
    )


def decide_by_rule(segment: Segment) -> ErrorFree | None:
    """Returns the decision for a segment that needs no model; None for any other.

    A blank translation is free of errors only if there was nothing to translate. A translation that repeats the source,
    and not merely its names and numbers, is not free of errors.
    """
    if not segment.hypothesis.strip():
        has_nothing = not mqm.is_untranslated(segment)
        return ErrorFree(has_nothing, float(has_nothing))
    if is_untranslated(segment):
        return ErrorFree(False, 0.0)
    return None


def decide(rule: ErrorFreeRule, segment: Segment, prediction: Prediction, marks: Marks) -> ErrorFree:
    """Returns the decision for a segment. One in which a Major error is marked is never free of errors."""
    if (decided := decide_by_rule(segment)) is not None:
        return decided
    if has_major((*marks.errors, *marks.omissions)):
        return ErrorFree(False, 0.0)
    probability = rule.probability(features_of(prediction, marks))
    return ErrorFree(probability >= rule.threshold, round(probability, 4))


def has_major(errors: Iterable[ErrorSpan | Omission]) -> bool:
    """Whether one of the errors is Major or worse."""
    return any(error.severity is not None and error.severity >= Severity.MAJOR for error in errors)

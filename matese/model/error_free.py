"""Decide whether a translation is free of errors: a logistic regression that `matese calibrate` fits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from matese import mqm
from matese.annotation import ErrorFree, ErrorSpan, Omission, Segment, Severity
from matese.errors import InputError
from matese.model.texts.encoding import InputKind
from matese.text.languages import languages_of_pair
from matese.text.untranslated import is_untranslated

Features = tuple[float, float, float]
"""In the order of the weights of `ErrorFreeDetector`."""
_LEAST = 1e-4
"""Lower bound of probabilities, which bounds their log odds."""


@dataclass(frozen=True)
class LangPairThreshold:
    """The threshold of one language pair."""

    lang_pair: str
    threshold: float


@dataclass(frozen=True)
class ErrorFreeDetector:
    """The weights of a logistic regression, for one kind of input, and the thresholds of its probability.

    No weight is positive, so that more evidence of an error never makes a segment free of errors, and all features are
    on logarithmic scales, on which one strong piece of evidence outweighs the absence of the others. The length of the
    hypothesis is none of them: with it, short wrong translations passed because short translations mostly do.

    Attributes:
        inputs: the kind of input.
        expected_score: weight of log(1 - expected score).
        errors: weight of log(1 + sum of the error probabilities of all tokens).
        worst: weight of the log odds of the highest error probability of a token.
        offset: log odds added.
        threshold: least probability of a segment that is decided to be free of errors.
        thresholds: those of language pairs whose own threshold is clearly better.
        lang_pairs: the language pairs that it decides on; empty for all that have no detector of their own.
    """

    inputs: InputKind
    expected_score: float
    errors: float
    worst: float
    offset: float
    threshold: float
    thresholds: tuple[LangPairThreshold, ...] = ()
    lang_pairs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for value in (self.threshold, *(one.threshold for one in self.thresholds)):
            if not 0 <= value <= 1:
                raise InputError(f"threshold {value}: must be between 0 and 1")

    def probability(self, features: Features) -> float:
        """Returns the probability that nothing needs correcting.

        >>> detector = ErrorFreeDetector("source", 0, -1, 0, 1.0, 0.5)
        >>> [round(detector.probability((2.0, errors, -1.0)), 2) for errors in (0.0, 1.0, 3.0)]
        [0.73, 0.5, 0.12]
        """
        weights = (self.expected_score, self.errors, self.worst)
        odds = math.fsum(weight * feature for weight, feature in zip(weights, features, strict=True)) + self.offset
        return 1 / (1 + math.exp(-min(max(odds, -700.0), 700.0)))

    def threshold_of(self, lang_pair: str | None) -> float:
        """Returns the threshold of a language pair, or that of all others."""
        languages = languages_of_pair(lang_pair or "")
        own = (one.threshold for one in self.thresholds if languages_of_pair(one.lang_pair) == languages)
        return next(own, self.threshold)


def find(detectors: Iterable[ErrorFreeDetector], inputs: InputKind, lang_pair: str | None) -> ErrorFreeDetector | None:
    """Returns the detector for a kind of input and a language pair; None if there is none."""
    fitting = [one for one in detectors if one.inputs == inputs]
    own = (one for one in fitting if _is_one_of(lang_pair, one.lang_pairs))
    others = (one for one in fitting if not one.lang_pairs)
    return next(chain(own, others), None)


def _is_one_of(lang_pair: str | None, lang_pairs: Iterable[str]) -> bool:
    languages = languages_of_pair(lang_pair or "")
    return any(languages_of_pair(one) == languages for one in lang_pairs)


def features_of(expected_score: float, errors: Sequence[float]) -> Features:
    """Returns the features of a segment.

    Args:
        expected_score: the model's.
        errors: (tokens,), error probability of each token.

    >>> [round(feature, 4) for feature in features_of(0.0, [])]
    [0.0, 0.0, -9.2102]
    """
    worst = min(max(max(errors, default=0.0), _LEAST), 1 - _LEAST)
    return math.log1p(max(0.0, -expected_score)), math.log1p(math.fsum(errors)), math.log(worst / (1 - worst))


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


def decide(
    detector: ErrorFreeDetector, segment: Segment, features: Features, marked: Iterable[ErrorSpan | Omission] = ()
) -> ErrorFree:
    """Returns the decision for a segment. One in which a Major error is marked is never free of errors.

    Args:
        detector: for the kind of input and the language pair.
        segment: the segment.
        features: of the segment.
        marked: what is marked in the hypothesis, and missing in it.
    """
    if (decided := decide_by_rule(segment)) is not None:
        return decided
    if has_major(marked):
        return ErrorFree(False, 0.0)
    probability = detector.probability(features)
    threshold = detector.threshold_of(segment.key.lang_pair if segment.key else None)
    return ErrorFree(probability >= threshold, round(probability, 4))


def has_major(errors: Iterable[ErrorSpan | Omission]) -> bool:
    """Whether one of the errors is Major or worse."""
    return any(error.severity is not None and error.severity >= Severity.MAJOR for error in errors)

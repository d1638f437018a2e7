"""Decide whether a translation is free of errors: a logistic regression that `matese calibrate` fits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from matese import mqm
from matese import text as texts
from matese.annotation import ErrorFree, Segment
from matese.errors import InputError
from matese.model.texts.encoding import InputKind

Features = tuple[float, float, float, float]
"""In the order of the weights of `ErrorFreeDetector`."""


@dataclass(frozen=True)
class LangPairThreshold:
    """The threshold of one language pair."""

    lang_pair: str
    threshold: float


@dataclass(frozen=True)
class ErrorFreeDetector:
    """The weights of a logistic regression, for one kind of input, and the thresholds of its probability.

    Attributes:
        inputs: the kind of input.
        length: weight of the logarithm of the number of words, plus 1.
        expected_score: weight of the expected score.
        errors: weight of the sum of the error probabilities of all tokens.
        known_pair: weight of whether the model was trained on the language pair, 0 or 1.
        offset: log odds added.
        threshold: least probability of a segment that is decided to be free of errors.
        thresholds: those of language pairs whose own threshold is clearly better.
        lang_pairs: the language pairs that it decides on; empty for all that have no detector of their own.
    """

    inputs: InputKind
    length: float
    expected_score: float
    errors: float
    known_pair: float
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

        >>> detector = ErrorFreeDetector("source", 0, 0, -1, 0, 1.0, 0.5)
        >>> [round(detector.probability((2.0, -1.0, errors, 1.0)), 2) for errors in (0.0, 1.0, 3.0)]
        [0.73, 0.5, 0.12]
        """
        weights = (self.length, self.expected_score, self.errors, self.known_pair)
        odds = math.fsum(weight * feature for weight, feature in zip(weights, features, strict=True)) + self.offset
        return 1 / (1 + math.exp(-min(max(odds, -700.0), 700.0)))

    def threshold_of(self, lang_pair: str | None) -> float:
        """Returns the threshold of a language pair, or that of all others."""
        languages = texts.languages(lang_pair or "")
        own = (one.threshold for one in self.thresholds if texts.languages(one.lang_pair) == languages)
        return next(own, self.threshold)


def find(detectors: Iterable[ErrorFreeDetector], inputs: InputKind, lang_pair: str | None) -> ErrorFreeDetector | None:
    """Returns the detector for a kind of input and a language pair; None if there is none."""
    fitting = [one for one in detectors if one.inputs == inputs]
    own = (one for one in fitting if _is_one_of(lang_pair, one.lang_pairs))
    others = (one for one in fitting if not one.lang_pairs)
    return next(chain(own, others), None)


def _is_one_of(lang_pair: str | None, lang_pairs: Iterable[str]) -> bool:
    languages = texts.languages(lang_pair or "")
    return any(texts.languages(one) == languages for one in lang_pairs)


def features_of(segment: Segment, *, expected_score: float, n_errors: float, lang_pairs: tuple[str, ...]) -> Features:
    """Returns the features of a segment.

    Args:
        segment: the segment.
        expected_score: the model's.
        n_errors: sum of the error probabilities of all tokens.
        lang_pairs: those that the model was trained on; a segment without a language pair is taken for one of them.
    """
    pair = segment.key.lang_pair if segment.key else None
    is_known = pair is None or _is_one_of(pair, lang_pairs)
    return math.log1p(texts.count_words(segment.hypothesis)), expected_score, n_errors, float(is_known)


def decide_by_rule(segment: Segment) -> ErrorFree | None:
    """Returns the decision for a segment that needs no model; None for any other.

    A blank translation is free of errors only if there was nothing to translate. A translation that repeats the source,
    and not merely its names and numbers, is not free of errors.
    """
    if not segment.hypothesis.strip():
        has_nothing = not mqm.is_untranslated(segment)
        return ErrorFree(has_nothing, float(has_nothing))
    source, target = texts.languages_of(segment.key)
    is_translation = not source or source != target
    if is_translation and segment.source is not None and texts.is_copy(segment.hypothesis, segment.source):
        return ErrorFree(False, 0.0)
    return None


def decide(detector: ErrorFreeDetector, segment: Segment, features: Features) -> ErrorFree:
    """Returns the decision for a segment."""
    if (decided := decide_by_rule(segment)) is not None:
        return decided
    probability = detector.probability(features)
    threshold = detector.threshold_of(segment.key.lang_pair if segment.key else None)
    return ErrorFree(probability >= threshold, round(probability, 4))

"""How sure a span of tags is an error, how severe it is, and whether it is marked, as `matese calibrate` fits it."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from matese.errors import InputError
from matese.model.texts.encoding import InputKind
from matese.text.languages import languages_of_pair
from matese.text.words import count_words

SHORT = 6
"""Most words of a short hypothesis, such as a string of a user interface.

Models learn from sentences, so that their marks of short texts are worth less: they have limits of their own.
"""
_LEAST = 1e-4
"""Lower bound of probabilities, which bounds their log odds."""


def is_short(hypothesis: str) -> bool:
    """Whether a hypothesis has at most `SHORT` words."""
    return count_words(hypothesis, most=SHORT + 1) <= SHORT


@dataclass(frozen=True)
class MajorOfPair:
    """The least probability of a Major span of one language pair, see `SpanConfidence`."""

    lang_pair: str
    least: float


@dataclass(frozen=True)
class SpanConfidence:
    """How the confidence and severity of a span follow from its tokens, for one kind of input.

    The mean error probability of the tokens alone is a weak predictor of whether raters mark an error there: of two
    spans with the same mean, the longer one overlaps a rater's span more often. `matese calibrate` fits the weights.

    Attributes:
        inputs: the kind of input.
        min_probability: least error probability of a token that belongs to a span.
        probability: weight of the log odds of the mean error probability.
        length: weight of the logarithm of the number of tokens.
        offset: log odds added.
        curve: pairs of log odds and confidence, both rising, between which the confidence is interpolated; it is
            constant outside, because there were too few spans to know more. Empty for the probability of the log odds.
        major: least probability of a Major span: its confidence times the share of the Major tags in the error
            probability, so that what is hardly an error is not a Major one. None for the severity of the most probable
            tags, which is nearly always the same one in some language pairs.
        major_of_short: the same for short hypotheses, see `SHORT`; None for `major`.
        majors: the same for language pairs with enough spans, except for short hypotheses.
    """

    inputs: InputKind
    min_probability: float
    probability: float
    length: float
    offset: float
    curve: tuple[tuple[float, float], ...] = ()
    major: float | None = None
    major_of_short: float | None = None
    majors: tuple[MajorOfPair, ...] = ()

    def __post_init__(self) -> None:
        if not 0 < self.min_probability < 1:
            raise InputError(f"min_probability {self.min_probability}: must be greater than 0 and less than 1")
        for before, after in itertools.pairwise(self.curve):
            if before[0] >= after[0] or before[1] > after[1]:
                raise InputError(f"curve {list(self.curve)}: log odds and confidences must rise")

    def of(self, probability: float, n_tokens: int) -> float:
        """Returns the confidence of a span, the probability that it overlaps a rater's span.

        Args:
            probability: mean error probability of its tokens.
            n_tokens: number of tokens that share a character with it, at least 1.

        >>> [round(SpanConfidence("source", 0.1, 1, 0.5, 0).of(0.2, n_tokens), 2) for n_tokens in (1, 4)]
        [0.2, 0.33]
        >>> capped = SpanConfidence("source", 0.1, 1, 0, 0, ((-2.0, 0.1), (2.0, 0.5)))
        >>> [round(capped.of(probability, 1), 2) for probability in (0.01, 0.5, 0.99)]
        [0.1, 0.3, 0.5]
        """
        features = span_features(probability, n_tokens)
        odds = self.probability * features[0] + self.length * features[1] + self.offset
        if self.curve:
            places, values = zip(*self.curve, strict=True)
            return float(np.interp(odds, places, values))
        return 1 / (1 + math.exp(-odds))

    def of_all(self, probabilities: npt.NDArray[np.floating], n_tokens: npt.NDArray[np.integer]) -> list[float]:
        """Returns `of` for several spans at once.

        Args:
            probabilities: (spans,), mean error probability of the tokens of each.
            n_tokens: (spans,), number of tokens that share a character with each, at least 1.

        >>> fitted = SpanConfidence("source", 0.1, 1, 0.5, 0)
        >>> [round(one, 2) for one in fitted.of_all(np.array([0.2, 0.2]), np.array([1, 4]))]
        [0.2, 0.33]
        """
        bounded = np.clip(probabilities, _LEAST, 1 - _LEAST)
        odds = self.probability * np.log(bounded / (1 - bounded)) + self.length * np.log(n_tokens) + self.offset
        if self.curve:
            places, values = zip(*self.curve, strict=True)
            confidences = np.interp(odds, places, values)
        else:
            confidences = 1 / (1 + np.exp(-odds))
        return [float(one) for one in confidences]

    def of_segment(self, hypothesis: str, lang_pair: str | None) -> SpanConfidence:
        """Returns the same with the `major` that decides on the spans of a hypothesis."""
        if is_short(hypothesis):
            return self if self.major_of_short is None else replace(self, major=self.major_of_short)
        languages = languages_of_pair(lang_pair or "")
        own = (one.least for one in self.majors if lang_pair and languages_of_pair(one.lang_pair) == languages)
        return replace(self, major=next(own, self.major))


@dataclass(frozen=True)
class MarkThreshold:
    """The least confidence of a marked span, for one kind of input.

    Attributes:
        inputs: the kind of input.
        least: in hypotheses of more than `SHORT` words.
        least_of_short: in the others; 1 to mark nothing.
    """

    inputs: InputKind
    least: float
    least_of_short: float

    def __post_init__(self) -> None:
        for value in (self.least, self.least_of_short):
            if not 0 < value <= 1:
                raise InputError(f"least confidence {value}: must be greater than 0 and at most 1")

    def of(self, hypothesis: str) -> float:
        """Returns the least confidence of a span that is marked in a hypothesis."""
        return self.least_of_short if is_short(hypothesis) else self.least


def span_features(probability: float, n_tokens: int) -> tuple[float, float]:
    """Returns the log odds of a probability, bounded, and the logarithm of a number of tokens."""
    bounded = min(max(probability, _LEAST), 1 - _LEAST)
    return math.log(bounded / (1 - bounded)), math.log(n_tokens)

"""How sure a span of tags is an error, and how severe, as `matese calibrate` fits both."""

from __future__ import annotations

import math
from dataclasses import dataclass

from matese.errors import InputError
from matese.model.texts.encoding import InputKind

_LEAST = 1e-4
"""Lower bound of probabilities, which bounds their log odds."""


@dataclass(frozen=True)
class SpanConfidence:
    """How the confidence of a span follows from its tokens, for one kind of input.

    The mean error probability of the tokens alone is a weak predictor of whether raters mark an error there: of two
    spans with the same mean, the longer one overlaps a rater's span more often. `matese calibrate` fits the weights.

    Attributes:
        inputs: the kind of input.
        min_probability: least error probability of a token that belongs to a span.
        probability: weight of the log odds of the mean error probability.
        length: weight of the logarithm of the number of tokens.
        offset: log odds added.
        major: least share of the Major tags in the error probability of a Major span; None for the severity of the most
            probable tags, which is nearly always the same one in some language pairs.
    """

    inputs: InputKind
    min_probability: float
    probability: float
    length: float
    offset: float
    major: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.min_probability < 1:
            raise InputError(f"min_probability {self.min_probability}: must be greater than 0 and less than 1")

    def of(self, probability: float, n_tokens: int) -> float:
        """Returns the confidence of a span, the probability that it overlaps a rater's span.

        Args:
            probability: mean error probability of its tokens.
            n_tokens: number of tokens that share a character with it, at least 1.

        >>> [round(SpanConfidence("source", 0.1, 1, 0.5, 0).of(0.2, n_tokens), 2) for n_tokens in (1, 4)]
        [0.2, 0.33]
        """
        odds, length = span_features(probability, n_tokens)
        return 1 / (1 + math.exp(-(self.probability * odds + self.length * length + self.offset)))


def span_features(probability: float, n_tokens: int) -> tuple[float, float]:
    """Returns the log odds of a probability, bounded, and the logarithm of a number of tokens."""
    bounded = min(max(probability, _LEAST), 1 - _LEAST)
    return math.log(bounded / (1 - bounded)), math.log(n_tokens)

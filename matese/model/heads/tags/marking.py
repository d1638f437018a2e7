"""Which tokens become marks, with which confidence and severity, as `matese calibrate` fits it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from matese.text.words import count_words
from matese.validation.options import AboveZeroShare, NonNegative

SHORT = 6
"""Most words of a short hypothesis, such as a string of a user interface.

Models learn from sentences, so that their marks of short texts are worth less: they have limits of their own.
"""
_LEAST = 1e-4
"""Lower bound of probabilities, which bounds their log odds."""
_LARGEST_EXPONENT = 700.0
"""Just below the largest x for which a float can hold exp(x)."""


def is_short(hypothesis: str) -> bool:
    """Whether a hypothesis has at most `SHORT` words."""
    return count_words(hypothesis, most=SHORT + 1) <= SHORT


@dataclass(frozen=True)
class MarkRule:
    """How tokens become marks, for one kind of input.

    No weight is negative, so that the confidence of a mark never falls where an error becomes more probable.

    Attributes:
        min_probability: least error probability of a token that belongs to a mark.
        worst: weight of the log odds of the highest error probability of a token.
        total: weight of the logarithm of the sum of the error probabilities of the tokens.
        offset: log odds added.
        least: least confidence of a mark in hypotheses of more than `SHORT` words.
        least_of_short: the same in the others; 1 to mark nothing.
        least_of_interface: the same in strings of a user interface, see `matese.DecodingChoice`.
        pieces: log odds added to the least confidence, for each doubling of the number of pieces in which a hypothesis
            is read, each of which has its chance of a false mark.
        major: least probability of a Major mark: its confidence times the share of the Major tags in the error
            probability, so that what is hardly an error is not a Major one.
    """

    min_probability: AboveZeroShare
    worst: NonNegative
    total: NonNegative
    offset: float
    least: AboveZeroShare
    least_of_short: AboveZeroShare
    least_of_interface: AboveZeroShare
    pieces: NonNegative
    major: float

    def confidence(self, worst: float, total: float) -> float:
        """Returns the confidence of a mark, the probability that it overlaps a rater's, rounded.

        Args:
            worst: highest error probability of its tokens.
            total: sum of the error probabilities of its tokens.

        >>> marking = MarkRule(0.1, 1.0, 1.0, 0.0, 0.5, 0.5, 0.5, 0.0, 0.5)
        >>> marking.confidence(0.2, 0.2), marking.confidence(0.2, 0.8)
        (0.0476, 0.1667)
        """
        odds = self.worst * log_odds(worst) + self.total * math.log(max(total, _LEAST)) + self.offset
        return round(probability_of(odds), 4)

    def least_confidence(self, hypothesis: str, n_pieces: int = 1) -> float:
        """Returns the least confidence of a mark in a hypothesis that was read in some pieces.

        >>> marking = MarkRule(0.1, 1.0, 1.0, 0.0, 0.5, 0.7, 0.9, 1.0, 0.5)
        >>> words = "one two three four five six seven"
        >>> least = [marking.least_confidence(words, n_pieces) for n_pieces in (1, 4)]
        >>> marking.least_confidence("Open"), *(round(confidence, 4) for confidence in least)
        (0.7, 0.5, 0.8808)
        """
        return self.least_of_short if is_short(hypothesis) else self.least_of_pieces(n_pieces)

    def least_of_pieces(self, n_pieces: int) -> float:
        """Returns the least confidence of a mark in a hypothesis that is not short and was read in some pieces."""
        if n_pieces <= 1 or self.least == 1:
            return self.least
        return probability_of(log_odds(self.least) + self.pieces * math.log2(n_pieces))

    def is_major(self, confidence: float, major_share: float) -> bool:
        """Whether a mark is Major.

        Args:
            confidence: of the mark.
            major_share: share of the Major tags in its error probability.
        """
        return confidence * major_share >= self.major

    def from_confidence(self, least: float) -> MarkRule:
        """Returns the same with one least confidence for all hypotheses."""
        return replace(self, least=least, least_of_short=least, pieces=0.0)

    def of_interface(self) -> MarkRule:
        """Returns the same with the least confidence for strings of a user interface."""
        return self.from_confidence(self.least_of_interface)

    def scaled(self, factor: float) -> MarkRule:
        """Returns the same with a share of each least confidence."""
        return replace(self, least=factor * self.least, least_of_short=factor * self.least_of_short)


def log_odds(probability: float) -> float:
    """Returns the log odds of a probability, bounded."""
    bounded = min(max(probability, _LEAST), 1 - _LEAST)
    return math.log(bounded / (1 - bounded))


def probability_of(odds: float) -> float:
    """Returns the probability with these log odds."""
    return 1 / (1 + math.exp(min(-odds, _LARGEST_EXPONENT)))

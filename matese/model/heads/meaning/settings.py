"""The settings of the head for errors of meaning, and of the rule that its logits follow in decoding."""

from __future__ import annotations

import math
from dataclasses import dataclass

from matese.model.heads.tags.marking import SHORT, probability_of
from matese.model.texts.encoding import InputKind
from matese.mqm import LOWEST_SCORE
from matese.validation.options import NonNegative

LONG = 9
"""From this number of words on, the rule for long texts decides alone; up to `SHORT`, that for short ones does."""
_TARGET = -7.0
_SHARE = 0.8
"""A certain error of meaning in a long text takes this share of the way from its score to the target, so that the order
of such texts stays. Lower scores stay as they are, so that real translations, of which the rule mostly finds bad ones,
lose little."""
_STEEPNESS = 2.0
_LEAST = 1e-5
"""Least distance of a share of the lowest score from 0 and 1, which bounds its log odds."""


@dataclass(frozen=True)
class MeaningSettings:
    """A tagger also judges, apart from its tags and score, whether the hypothesis says something else than the texts.

    Attributes:
        inputs: the kinds of input with which `matese calibrate` makes use of the head.
    """

    inputs: tuple[InputKind, ...] = ("reference",)


@dataclass(frozen=True)
class MeaningRule:
    """How the logit of an error of meaning changes the expected score, for one kind of input. Marks stay as they are.

    Long texts get a lower score where the logit is high. The scores of short texts are hardly known from people's
    ratings, so that both directions are possible: their log odds, as a share of the lowest score, become a weighted sum
    of the log odds and the logit.

    Attributes:
        threshold: logit from which on the scores of long texts fall by half of what a certain error costs.
        score_of_short: weight of the log odds of the score; not negative.
        meaning_of_short: weight of the logit; not negative.
        offset_of_short: log odds added.
    """

    threshold: float
    score_of_short: NonNegative = 1.0
    meaning_of_short: NonNegative = 0.0
    offset_of_short: float = 0.0

    def score(self, score: float, logit: float, n_words: int) -> float:
        """Returns the changed score of a segment; the ends of the scale, which other rules give, stay.

        Args:
            score: before.
            logit: that the segment has an error of meaning.
            n_words: of the longest text that is read, so that the half of a long text is not short.

        >>> rule = MeaningRule(threshold=2.0, meaning_of_short=1.0)
        >>> [round(rule.score(-2.0, logit, n_words), 2) for n_words in (2, 12) for logit in (-2.0, 0.0, 2.0, 9.0)]
        [-0.29, -2.0, -9.78, -24.96, -2.0, -2.07, -4.0, -6.0]
        """
        if score in (0.0, LOWEST_SCORE):
            return score
        share = min(max(LONG - n_words, 0) / (LONG - SHORT), 1.0)
        short = score_of_odds(self.odds_of_short(score, logit))
        certainty = probability_of(_STEEPNESS * (logit - self.threshold))
        long = score + min(_TARGET - score, 0.0) * _SHARE * certainty
        return share * short + (1 - share) * long

    def odds_of_short(self, score: float, logit: float) -> float:
        """Returns the log odds of the score of a short text."""
        return self.score_of_short * score_odds(score) + self.meaning_of_short * logit + self.offset_of_short


def score_odds(score: float) -> float:
    """Returns the log odds of a score as a share of the lowest one, bounded."""
    share = min(max(score / LOWEST_SCORE, _LEAST), 1 - _LEAST)
    return math.log(share / (1 - share))


def score_of_odds(odds: float) -> float:
    """Returns the score with these log odds.

    >>> round(score_of_odds(score_odds(-5.0)), 6)
    -5.0
    """
    return LOWEST_SCORE * probability_of(odds)

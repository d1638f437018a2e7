"""The settings of the head for the expected score of a tagger."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from matese.mqm import LOWEST_SCORE
from matese.validation.options import NonNegative

ScorePooling = Literal["hypothesis", "texts"]
CONTEXTS: Mapping[ScorePooling, tuple[int, ...]] = {"hypothesis": (), "texts": (1,)}
"""For each pooling, what is averaged besides the hypothesis: all tokens of roles (`ROLES`) above these."""


@dataclass(frozen=True)
class PieceScore:
    """How the expected score of a text of several sentences follows from the readings of the whole and of its pieces.

    It is the weighted sum of the score of the whole and the penalties of the pieces, between -25 and 0.

    Attributes:
        whole: weight of the score of the whole.
        pieces: weight of the sum over the pieces.
        good: penalty of a piece that counts as none, so that a good text does not score worse because it is longer.
        power: the sum is divided by this power of the number of pieces: 0 is the sum, 1 the mean.
    """

    whole: NonNegative = 1.0
    pieces: NonNegative = 0.5
    good: NonNegative = 2.0
    power: NonNegative = 0.5

    def score(self, whole: float, pieces: Sequence[float]) -> float:
        """Returns the expected score of a text.

        >>> PieceScore(pieces=0.5, good=1.0, power=0.0).score(-3.0, [-5.0, -0.5, -1.0])
        -5.0
        """
        return min(0.0, max(LOWEST_SCORE, self.whole * whole + self.pieces * self.sum_of(pieces)))

    def sum_of(self, pieces: Sequence[float]) -> float:
        """Returns the sum over the pieces, before its weight."""
        return math.fsum(min(0.0, piece + self.good) for piece in pieces) / math.pow(len(pieces), self.power)


@dataclass(frozen=True)
class ScoreSettings:
    """A tagger also predicts the segment's MQM score.

    Attributes:
        pooling: what the head averages: the tokens of the hypothesis only, or those of the hypothesis and, separately,
            those of the other texts, so that omissions count too.
    """

    pooling: ScorePooling = "hypothesis"

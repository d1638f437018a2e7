"""Fit how the expected score of a text of several sentences follows from readings of the whole and of its pieces."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import numpy as np
from scipy.optimize import nnls

from matese.model.heads.score.decoding import ExpectedScore
from matese.model.heads.score.settings import PieceScore

LEAST_TEXTS = 100
"""Fewest texts of several pieces, and fewest pieces of right ones, to fit anything to."""
_POWERS = (0.0, 0.25, 0.5, 0.75, 1.0)


def fit(outputs: Sequence[ExpectedScore], scores: Sequence[float]) -> PieceScore | None:
    """Returns the rule with the least squared error; None if there are too few texts.

    The median penalty of the pieces of right texts counts as none, so that a right text does not score worse because it
    is longer.

    Args:
        outputs: what the model says of texts; those without pieces are left out.
        scores: the MQM scores of these texts, by people.
    """
    pairs = zip(outputs, scores, strict=True)
    texts = [(output.whole, output.pieces, score) for output, score in pairs if output.whole is not None]
    of_right = [piece for _, pieces, score in texts if score == 0 for piece in pieces]
    if len(texts) < LEAST_TEXTS or len(of_right) < LEAST_TEXTS:
        return None
    good = round(-median(of_right), 4)
    gold = np.array([score for _, _, score in texts])
    fitted = []
    for power in _POWERS:
        rule = PieceScore(good=good, power=power)
        columns = np.array([(whole, rule.sum_of(pieces)) for whole, pieces, _ in texts])
        (of_whole, of_pieces), error = nnls(-columns, -gold)
        fitted.append((error, PieceScore(round(float(of_whole), 4), round(float(of_pieces), 4), good, power)))
    return min(fitted, key=lambda fit: fit[0])[1]

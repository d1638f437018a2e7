"""The score of a text follows from the whole and its pieces, as far as there are enough of them."""

from __future__ import annotations

import numpy as np
import pytest

from matese.model.heads.score.decoding import ExpectedScore
from matese.model.heads.score.settings import PieceScore
from matese.training import piece_scores


@pytest.mark.parametrize("power", [0.0, 0.5])
def test_the_rule_that_made_the_scores_is_found(power: float) -> None:
    rng = np.random.default_rng(0)
    rule = PieceScore(whole=0.5, pieces=0.75, good=1.0, power=power)
    right = [ExpectedScore(0.0, 0.0, (-1.0, -1.0, -1.0)) for _ in range(50)]
    wrong = [
        ExpectedScore(0.0, float(-5 * rng.random()), tuple((-5 * rng.random(rng.integers(2, 9))).tolist()))
        for _ in range(200)
    ]
    said = [ExpectedScore(-3.0), *right, *wrong]  # the first has no pieces
    scores = [-3.0, *(0.0 for _ in right), *(rule.score(output.whole or 0.0, output.pieces) - 1e-9 for output in wrong)]
    fitted = piece_scores.fit(said, scores)
    assert fitted is not None
    assert (fitted.good, fitted.power) == (1.0, power)
    assert fitted.whole == pytest.approx(0.5, abs=0.02)
    assert fitted.pieces == pytest.approx(0.75, abs=0.02)


@pytest.mark.parametrize("n_texts", [0, 20])
def test_too_few_texts(n_texts: int) -> None:
    said = [ExpectedScore(0.0, 0.0, (-1.0,) * 9)] * n_texts
    assert piece_scores.fit(said, [0.0] * n_texts) is None


def test_a_good_text_that_is_longer_does_not_score_worse() -> None:
    rule = PieceScore()
    right = -rule.good
    assert rule.score(-1.0, [right] * 2) == rule.score(-1.0, [right] * 20) == -1.0
    assert rule.score(-25.0, [-25.0] * 9) == -25.0
    assert rule.score(0.0, [0.0, 0.0]) == 0.0

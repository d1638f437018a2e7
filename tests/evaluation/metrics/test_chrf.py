"""chrF of many texts at once is that of sacreBLEU, and the average of equal references is each of them."""

from __future__ import annotations

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from matese.evaluation.metrics import chrf

TEXTS = [
    "",
    " ",
    "a",
    "Das ist gut.",
    "Das  ist gut",
    "aaaaaa aaaa",
    "你好世界",
    "e\u0301 é",
    "Das war gar nicht so gut!",
]


@pytest.mark.parametrize("hypothesis", TEXTS)
def test_pairs_are_those_of_sacrebleu(hypothesis: str) -> None:
    metric = sacrebleu.CHRF()
    expected = [metric.sentence_score(hypothesis, [reference]).score for reference in TEXTS]
    np.testing.assert_allclose(chrf.pairwise([*TEXTS, hypothesis])[-1, :-1], expected, atol=1e-9)


@given(st.lists(st.text("ab c", max_size=12), min_size=1, max_size=5))
def test_the_average_of_one_text_is_this_text(texts: list[str]) -> None:
    weights = np.zeros(len(texts))
    weights[0] = 1.0
    np.testing.assert_allclose(chrf.against_average(texts, weights), chrf.pairwise(texts)[:, 0], atol=1e-9)


def test_average_counts_by_hand() -> None:
    # References "ab" and "ac": a 1, b .5, c .5, ab .5, ac .5. "ab" matches 1.5 of 2 and .5 of 1.
    (score, _) = chrf.against_average(["ab", "ac"], np.array([0.5, 0.5]))
    precision = (1.5 / 2 + 0.5 / 1) / 2
    recall = (1.5 / 2 + 0.5 / 1) / 2
    assert score == pytest.approx(100 * 5 * precision * recall / (4 * precision + recall))

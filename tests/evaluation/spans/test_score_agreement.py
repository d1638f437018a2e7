from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from matese.evaluation.spans import score_agreement

# MQM scores: mostly ties.
scores = st.lists(
    st.tuples(st.sampled_from([0.0, -1.0, -5.0, -0.1, -25.0]), st.sampled_from([0.0, -1.0, -2.0, -5.0])),
    min_size=2,
    max_size=12,
)


def figures(gold: list[float], predicted: list[float], weights: list[int] | None = None) -> dict[str, float]:
    drawn = np.array([weights or [1] * len(gold)], dtype=np.float64)
    found: dict[str, float] = {}
    for one in score_agreement.statistics("score", np.array(gold), np.array(predicted)):
        found |= {name.removeprefix("score."): float(values[0]) for name, values in one.figures(drawn).items()}
    return found


@given(scores)
def test_as_scipy_has_them(pairs: list[tuple[float, float]]) -> None:
    gold, predicted = map(list, zip(*pairs, strict=True))
    found = figures(gold, predicted)
    assert found["mae"] == pytest.approx(np.abs(np.array(gold) - np.array(predicted)).mean())
    if len(set(gold)) < 2 or len(set(predicted)) < 2:
        assert np.isnan([found[name] for name in ("pearson", "spearman", "kendall")]).all()
    else:
        assert found["pearson"] == pytest.approx(scipy.stats.pearsonr(gold, predicted).statistic)
        assert found["spearman"] == pytest.approx(scipy.stats.spearmanr(gold, predicted).statistic)
        assert found["kendall"] == pytest.approx(scipy.stats.kendalltau(gold, predicted).statistic)


@given(scores, st.randoms(use_true_random=False))
def test_a_resample_is_the_segments_as_often_as_they_were_drawn(pairs: list[tuple[float, float]], rng: object) -> None:
    gold, predicted = map(list, zip(*pairs, strict=True))
    weights = [rng.randint(0, 3) for _ in pairs]  # type: ignore[attr-defined]
    repeated = [[value for value, n in zip(side, weights, strict=True) for _ in range(n)] for side in (gold, predicted)]
    if sum(weights) > 1:
        expected = figures(*repeated)
        # A segment and its own copy are no pair.
        times = [(i, j, weights[i] * weights[j]) for i in range(len(pairs)) for j in range(i)]
        n_pairs = sum(n for *_, n in times)
        for name, side in (("ties.gold", gold), ("ties.predicted", predicted)):
            expected[name] = sum(n * (side[i] == side[j]) for i, j, n in times) / n_pairs if n_pairs else np.nan
        assert figures(gold, predicted, weights) == pytest.approx(expected, nan_ok=True, abs=1e-9)


def test_ties_are_pairs() -> None:
    values = [0.0, 0.0, 0.0, -1.0, -1.0, -5.0]
    expected = sum(values[i] == values[j] for i in range(6) for j in range(i)) / 15
    assert score_agreement.share_of_ties(np.array(values)) == pytest.approx(expected)
    assert np.isnan(score_agreement.share_of_ties(np.array([1.0])))


def test_no_rounding_makes_a_constant_vary() -> None:
    assert np.isnan(figures([-0.1] * 7, [-0.1, -5.0, 0.0, 0.0, 0.0, -1.0, -1.0])["pearson"])
    weights = [3, 4, 0]
    assert np.isnan(figures([-0.1, -0.1, -7.3], [-1.0, -2.0, -5.0], weights)["pearson"])

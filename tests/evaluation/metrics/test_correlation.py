from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from matese.evaluation.metrics import correlation
from matese.evaluation.metrics.correlation_options import Averaging, Coefficient
from tests.evaluation.score_tables import known_pairs, random_scores, tau

SEEDS = st.integers(0, 10_000)


def expected(gold: np.ndarray, metric: np.ndarray, kind: Coefficient) -> float | None:
    pairs = known_pairs(gold, metric)
    if len(pairs) < 2 or len({g for g, _ in pairs}) == 1 or len({m for _, m in pairs}) == 1:
        return None
    if kind != "pearson":
        return tau(pairs, kind)
    return float(scipy.stats.pearsonr([g for g, _ in pairs], [m for _, m in pairs]).statistic)


@given(seed=SEEDS)
def test_pdp_is_the_correlation_of_differences(seed: int) -> None:
    gold, metric = random_scores(seed)
    differences = [
        (human[i] - human[j], score[i] - score[j])
        for human, score in zip(gold.T, metric.T, strict=True)
        for i, j in itertools.permutations(range(len(human)), 2)
        if np.isfinite(human[i] + human[j])
    ]
    found = correlation.pdp(gold, metric)
    by_human, by_metric = np.array(differences).reshape(-1, 2).T
    value = expected(by_human, by_metric, "pearson") if differences else None
    assert found.value == pytest.approx(value, abs=1e-9)
    assert found.n == len(differences) // 2


def test_pdp_weighs_large_differences() -> None:
    gold = np.array([[0.0, 0.0], [-1.0, -25.0]])
    small = np.array([[0.0, 1.0], [1.0, 0.0]])
    large = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert correlation.pdp(gold, small).value == pytest.approx(24 / np.sqrt(2 * 626))
    assert correlation.pdp(gold, large).value == pytest.approx(-24 / np.sqrt(2 * 626))
    assert correlation.pdp(gold, np.zeros((2, 2))).value is None


@pytest.mark.parametrize("kind", ["pearson", "b", "c"])
@pytest.mark.parametrize("grouping", ["none", "item", "system"])
@given(seed=SEEDS)
def test_equal_to_the_definition(seed: int, grouping: Averaging, kind: Coefficient) -> None:
    gold, metric = random_scores(seed)
    found = correlation.of_segments(gold, metric, grouping=grouping, kind=kind)
    if grouping == "none":
        value = expected(gold.ravel(), metric.ravel(), kind)
        n_undefined = 0
    else:
        rows = (
            list(zip(gold, metric, strict=True)) if grouping == "system" else list(zip(gold.T, metric.T, strict=True))
        )
        values = [expected(human, score, kind) for human, score in rows]
        defined = [one for one in values if one is not None]
        value = float(np.mean(defined)) if defined else None
        n_undefined = found.undefined
        assert found.n == len(defined)
        # A group of one rated segment or system is none.
        assert found.n + found.undefined <= len(values)
    assert found.value == pytest.approx(value, abs=1e-12)
    assert found.undefined == n_undefined


def test_the_sign_is_kept() -> None:
    gold = np.array([1.0, 2.0, 3.0])
    assert correlation.pearson(gold, -gold).value == pytest.approx(-1)


TWO = np.array([1.0, 2.0])
THREE = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("found", "counts", "problem"),
    [
        (correlation.pearson(THREE, np.full(3, 0.5)), (3, 0), "all 3 metric scores are 0.5"),
        (correlation.pearson(np.zeros(3), THREE), (3, 0), "all 3 human scores are 0"),
        (correlation.pearson(np.array([1.0, np.nan]), np.zeros(2)), (1, 0), "1 scores"),
        (correlation.of_systems(TWO, TWO), (2, 0), "2 systems with a human score"),
        (correlation.of_segments(np.array([TWO, TWO]), np.array([TWO, TWO]), grouping="item", kind="pearson"), (0, 2),
         "in every group"),
    ],
)  # fmt: skip
def test_why_a_figure_is_undefined(found: correlation.Measurement, counts: tuple[int, int], problem: str) -> None:
    assert (found.value, (found.n, found.undefined)) == (None, counts)
    assert str(found.problem).startswith(problem)


def test_groups_left_out_are_counted() -> None:
    gold = np.array([[1.0, 2.0, 1.0], [1.0, 3.0, np.nan]])
    found = correlation.of_segments(gold, gold, grouping="item", kind="b")
    assert (found.value, found.n, found.undefined) == (1.0, 1, 1)


def test_nearly_constant_scores_have_a_correlation_without_a_warning() -> None:
    gold = np.array([1.0, 2.0, 3.0])
    assert correlation.pearson(gold, 1 + gold * 1e-14).value is not None

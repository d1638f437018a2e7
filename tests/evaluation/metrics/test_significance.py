from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from matese.evaluation.metrics import significance
from matese.evaluation.metrics.significance import MetricTest


def correlate(one: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Of the first with each row of the second."""
    return np.array([np.corrcoef(one, other)[0, 1] for other in samples])


def test_williams_by_the_formula() -> None:
    r12 = 0.9
    r13 = 0.8
    r23 = 0.85
    n = 20
    k = np.linalg.det(np.array([[1, r12, r13], [r12, 1, r23], [r13, r23, 1]]))
    t = (r12 - r13) * math.sqrt((n - 1) * (1 + r23))
    t /= math.sqrt(2 * k * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3)
    assert significance.williams(r12, r13, r23, n) == pytest.approx(1 - scipy.stats.t.cdf(t, n - 3))
    assert significance.williams(r13, r12, r23, n) == pytest.approx(scipy.stats.t.cdf(t, n - 3))


def test_williams_of_equal_metrics_and_of_few_systems() -> None:
    assert significance.williams(0.9, 0.9, 1.0, 20) == 0.5
    assert significance.williams(0.9, 0.9, 0.7, 20) == 0.5
    with pytest.raises(ValueError, match="3 systems; Williams' test needs four or more"):
        significance.williams(0.9, 0.8, 0.7, 3)


def test_permutations_tell_a_good_metric_from_noise() -> None:
    rng = np.random.default_rng(1)
    gold = rng.normal(size=200)
    good = gold + rng.normal(scale=0.3, size=200)
    bad = rng.normal(size=200)

    def measure(scores: np.ndarray) -> np.ndarray:
        return correlate(gold, scores)

    found = significance.permute_scores(good * 100, bad, measure, rng=rng)
    assert found.p_value < 0.02
    assert len(found.samples) == significance.BLOCK  # ended after the first block
    assert found.difference == pytest.approx(float(-np.diff(measure(np.array([good, bad])))[0]))
    assert significance.permute_scores(bad, good, measure, rng=rng).p_value > 0.98


def test_permutations_of_two_systems_scores_are_all_of_them() -> None:
    # Four systems: 16 swaps, the differences of which are known.
    gold = np.array([1.0, 2, 3, 4])
    one = np.array([1.0, 2, 3, 4.5])
    other = np.array([2.0, 1, 4, 3])

    def measure(scores: np.ndarray) -> np.ndarray:
        return correlate(gold, scores)

    standard = [(x - x.mean()) / x.std() for x in (one, other)]
    observed = -np.diff(measure(np.array(standard)))[0]
    exact = []
    for bits in range(16):
        swap = np.array([bits >> system & 1 for system in range(4)], dtype=bool)
        first = np.where(swap, standard[1], standard[0])
        second = np.where(swap, standard[0], standard[1])
        exact.append(-np.diff(measure(np.array([first, second])))[0] >= observed - 1e-12)
    found = significance.permute_scores(one, other, measure, rng=np.random.default_rng(0), n_samples=20_000)
    assert found.p_value == pytest.approx(np.mean(exact), abs=0.1)


def test_the_scale_of_a_metric_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    gold, one, other = rng.normal(size=(3, 30))

    def samples(first: np.ndarray) -> np.ndarray:
        return significance.permute_scores(
            first, other, lambda x: correlate(gold, x), rng=np.random.default_rng(0), n_samples=20
        ).samples

    assert samples(one * 100 + 7) == pytest.approx(samples(one))


def test_a_metric_against_itself_is_not_better() -> None:
    scores = np.array([1.0, 2.0, 4.0])
    found = significance.permute_scores(
        scores, scores, lambda x: correlate(scores, x), rng=np.random.default_rng(0), n_samples=50
    )
    assert (found.p_value, found.difference) == (1.0, 0.0)


def test_swapped_verdicts() -> None:
    rng = np.random.default_rng(0)
    weights = np.full(100, 0.01)
    better = np.ones(100)
    worse = np.r_[np.zeros(40), np.ones(60)]
    found = significance.permute_credits(better, worse, weights, rng=rng)
    assert found.difference == pytest.approx(0.4)
    assert found.p_value < 0.02
    # 8 pairs differ, 6 for the first: as likely as 6 or more heads of 8 coins.
    first = np.array([1.0] * 6 + [0] * 2 + [1] * 5)
    second = np.array([0.0] * 6 + [1] * 2 + [1] * 5)
    found = significance.permute_credits(first, second, np.full(13, 1 / 13), rng=rng, n_samples=5_000)
    assert found.p_value == pytest.approx(scipy.stats.binom.sf(5, 8, 0.5), abs=0.02)
    assert significance.permute_credits(first, first, np.ones(13), rng=rng).p_value == 1.0


def test_bootstrap_samples() -> None:
    found = significance.compare_samples(0.9, 0.7, np.array([0.9, 0.8, np.nan, 0.6]), np.array([0.7, 0.8, 0.1, 0.5]))
    assert found.p_value == pytest.approx(1 / 3)
    assert found.difference == pytest.approx(0.2)
    assert isinstance(found, MetricTest)
    assert significance.compare_samples(1, 0, np.array([np.nan]), np.array([1.0])).p_value == 1.0


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[9]], [1]),
        ([[9, 0.05], [9, 9]], [1, 2]),
        ([[9, 0.051], [9, 9]], [1, 1]),
        # The third is beaten by the second, which opens a cluster; the fourth is then compared with the third only.
        ([[9, 0.4, 0.3, 0.01], [9, 9, 0.01, 0.01], [9, 9, 9, 0.3], [9, 9, 9, 9]], [1, 1, 2, 2]),
    ],
)
def test_clusters(rows: list[list[float]], expected: list[int]) -> None:
    assert significance.clusters(np.array(rows)) == expected

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese.evaluation.metrics import pairwise_accuracy
from matese.evaluation.metrics.correlation_options import DARR_THRESHOLD, TieRule
from matese.evaluation.metrics.pairwise_accuracy import TieCalibration
from matese.evaluation.statistics import permutation_test
from tests.evaluation.score_tables import accuracy_at, differences, known_pairs, random_scores, share_right, sign

SEEDS = st.integers(0, 10_000)


@given(seed=SEEDS)
def test_pairwise_accuracy_by_hand(seed: int) -> None:
    gold, metric = random_scores(seed, n_segments=1)
    pairs = list(itertools.combinations(known_pairs(gold[:, 0], metric[:, 0]), 2))
    right = sum(sign(one[0] - other[0]) == sign(one[1] - other[1]) for one, other in pairs)
    found = pairwise_accuracy.accuracy([gold[:, 0]], [metric[:, 0]])
    assert (found.value, found.n) == (right / len(pairs) if pairs else None, len(pairs))


def test_agreements_are_pooled_by_their_counts() -> None:
    golds = [np.array([1.0, 2.0]), np.array([1.0, 2.0, 3.0])]
    assert pairwise_accuracy.accuracy(golds, [golds[0], golds[1][::-1]]).value == 0.25
    none = pairwise_accuracy.accuracy([np.zeros(1)], [np.zeros(1)])
    assert none.problem == "no pairs of systems; this figure needs three systems or more"


@given(seed=SEEDS)
def test_soft_pairwise_accuracy_by_hand(seed: int) -> None:
    gold, metric = random_scores(seed, n_systems=4, n_segments=5)
    signs = permutation_test.draw_signs(5, np.random.default_rng(seed), n_flips=20)
    distances = []
    for one, other in itertools.combinations(range(4), 2):
        rated = [item for item in range(5) if np.isfinite(gold[one, item] + gold[other, item])]
        if not rated:
            continue

        def p_value(scores: np.ndarray, one: int = one, other: int = other, rated: list[int] = rated) -> float:
            deltas = [scores[one, item] - scores[other, item] for item in rated]
            flipped = [sum(row[item] * d for item, d in zip(rated, deltas, strict=True)) for row in signs]
            return float(np.mean([value >= sum(deltas) for value in flipped]))

        distances.append(abs(p_value(gold) - p_value(metric)))
    if np.isfinite(gold).any(axis=1).sum() >= 3:
        found = pairwise_accuracy.soft(gold, metric, signs)
        assert found.number == pytest.approx(1 - np.mean(distances) if distances else np.nan, abs=1e-12, nan_ok=True)
        assert found.n == len(distances)


def test_flips_are_signs_and_seeded() -> None:
    signs = permutation_test.draw_signs(50, np.random.default_rng(1), 1000)
    assert signs.shape == (1_000, 50)
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert np.array_equal(signs, permutation_test.draw_signs(50, np.random.default_rng(1), 1000))


def test_a_metric_that_is_the_human_has_full_soft_accuracy() -> None:
    gold, _ = random_scores(3, missing=0)
    signs = permutation_test.draw_signs(gold.shape[1], np.random.default_rng(0), 1000)
    assert pairwise_accuracy.soft(gold, gold, signs).value == 1.0
    # All sums of no differences are at least 0.
    assert permutation_test.p_values(np.zeros((2, 4)), signs[:, :4]).tolist() == [[1.0]]


def test_systems_that_share_no_rated_segment_are_no_pair() -> None:
    gold, metric = random_scores(0, n_systems=5, missing=0)
    signs = permutation_test.draw_signs(gold.shape[1], np.random.default_rng(0), 100)
    of_four = pairwise_accuracy.soft(gold[:4], metric[:4], signs)
    gold[4] = np.nan
    assert pairwise_accuracy.soft(gold, metric, signs) == of_four
    apart = np.where(np.eye(3) == 1, 1.0, np.nan)
    assert pairwise_accuracy.soft(apart, np.ones((3, 3)), signs[:, :3]).value is None


def test_soft_accuracy_of_two_systems_is_told() -> None:
    signs = permutation_test.draw_signs(2, np.random.default_rng(0), 1000)
    assert pairwise_accuracy.soft(np.ones((2, 2)), np.ones((2, 2)), signs).problem == (
        "2 systems with a human score; this figure needs three or more"
    )


@given(seed=SEEDS)
def test_tie_calibration_is_the_best_of_all_thresholds(seed: int) -> None:
    gold, metric = random_scores(seed)
    found = pairwise_accuracy.acc_eq(gold, metric)
    assert isinstance(found, TieCalibration)
    values = {epsilon: accuracy_at(gold, metric, epsilon) for epsilon in differences(gold, metric)}
    best = max(values.values())
    assert found.accuracy == pytest.approx(best, abs=1e-12)
    assert found.epsilon == min(epsilon for epsilon, value in values.items() if value > best - 1e-12)
    assert found.accuracy == pytest.approx(np.nanmean(np.nanmean(found.verdicts[:, _paired(gold)], axis=0)))


def _paired(gold: np.ndarray) -> np.ndarray:
    return np.asarray(np.isfinite(gold).sum(axis=0) > 1)


@pytest.mark.parametrize(
    ("gold", "metric", "expected"),
    [
        ([[0.0, 0.0]] * 3, [[1.0, 2.0], [3.0, 9.0], [4.0, 4.0]], (1.0, 7.0, 2)),  # ties of all pairs
        ([[1.0], [2.0]], [[1.0], [1.5]], (1.0, 0.0, 1)),  # no new ties
        ([[1.0, np.nan], [np.nan, 1.0]], [[1.0, 1.0]] * 2, None),
    ],
)
def test_the_best_threshold(gold: list[list[float]], metric: list[list[float]], expected: object) -> None:
    found = pairwise_accuracy.acc_eq(np.array(gold), np.array(metric))
    assert (found and (found.accuracy, found.epsilon, found.n_items)) == expected


@given(seed=SEEDS)
def test_a_held_out_epsilon_is_the_best_of_the_other_parts(seed: int) -> None:
    gold, metric = random_scores(seed, n_segments=10, missing=0.1)
    shares = []
    for part in range(5):  # two segments each
        own, others = ([item for item in range(10) if (item // 2 == part) is is_own] for is_own in (True, False))
        calibration = pairwise_accuracy.acc_eq(gold[:, others], metric[:, others])
        assert calibration is not None
        each = [share_right(gold[:, item], metric[:, item], calibration.epsilon) for item in own]
        shares += [share for share in each if share is not None]
    found = pairwise_accuracy.acc_eq_held_out(gold, metric)
    assert found.value == pytest.approx(float(np.mean(shares)))
    assert found.n == len(shares)


def test_nothing_is_held_out_of_one_segment() -> None:
    one = pairwise_accuracy.acc_eq_held_out(np.array([[1.0], [2.0]]), np.array([[1.0], [2.0]]))
    assert (one.value, one.n) == (None, 0)


@pytest.mark.parametrize("ties", ["discordant", "neither", "excluded"])
@given(seed=SEEDS)
def test_darr_by_hand(seed: int, ties: TieRule) -> None:
    gold, metric = random_scores(seed)
    concordant = discordant = tied = 0
    for item in range(gold.shape[1]):
        for (g1, m1), (g2, m2) in itertools.combinations(known_pairs(gold[:, item], metric[:, item]), 2):
            if abs(g1 - g2) > 2:
                product = sign(g1 - g2) * sign(m1 - m2)
                concordant = concordant + (product > 0)
                discordant = discordant + (product < 0)
                tied = tied + (product == 0)
    assert pairwise_accuracy.darr_counts(gold, metric, 2).sum(axis=0).tolist() == [concordant, discordant, tied]
    top = concordant - discordant - (tied if ties == "discordant" else 0)
    total = concordant + discordant + (0 if ties == "excluded" else tied)
    found = pairwise_accuracy.darr(gold, metric, 2, ties)
    assert found.value == pytest.approx(top / total if total else None)
    assert found.n == total


def test_pairs_of_darr_as_in_wmt19() -> None:
    # gu-en: 1,016 sources and 11 systems.
    gold = np.repeat(np.arange(11.0)[:, np.newaxis], 1_016, axis=1)
    assert pairwise_accuracy.darr(gold, gold, 0).n == 55_880


def test_darr_at_the_threshold() -> None:
    gold = np.array([[74.9, 75.0], [100.0, 100.0]])
    metric = np.array([[1.0, 1.0], [2.0, 2.0]])
    assert pairwise_accuracy.darr_counts(gold, metric).tolist() == [[1, 0, 0], [0, 0, 0]]
    assert pairwise_accuracy.darr(gold, metric, 30).problem == (
        "no two translations of a segment differ by more than 30 in human score"
    )
    # Without a threshold a tie of the human is still no pair.
    assert pairwise_accuracy.darr(np.zeros((2, 1)), metric[:, :1], 0).n == 0


def test_pairs_of_darr_differ_by_more_than_25() -> None:
    gold = np.array([[0.0], [25.0], [50.5]])  # 25 apart, 25.5 apart, 50.5 apart
    metric = np.array([[0.3], [0.1], [0.2]])  # wrong, right, wrong
    assert pairwise_accuracy.darr(gold, metric, DARR_THRESHOLD).value == 0
    assert pairwise_accuracy.darr(gold, metric, 24.9).value == pytest.approx(-1 / 3)

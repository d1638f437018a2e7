from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from matese.evaluation.statistics import bootstrap
from matese.evaluation.statistics.arrays import FloatArray, IntArray
from matese.evaluation.statistics.bootstrap import AdditiveStatistic, RecomputedStatistic


def mean(totals: FloatArray) -> Mapping[str, FloatArray]:
    return {"mean": totals[:, 0] / totals[:, 1]}


def draw(n: int, strata: list[str], seed: int = 0) -> FloatArray:
    return np.concatenate(list(bootstrap.resamples(n, strata, seed=seed)))


@pytest.mark.parametrize("n", [1, 64, 65, 200])
def test_resamples_are_as_many_and_as_large_as_asked_for(n: int) -> None:
    weights = draw(n, ["a"] * 7)
    assert weights.shape == (n, 7)
    assert (weights.sum(axis=1) == 7).all()


def test_a_stratum_keeps_its_size() -> None:
    strata = ["de", "zh", "de", "zh", "zh"]
    weights = draw(300, strata)
    assert (weights[:, [0, 2]].sum(axis=1) == 2).all()
    assert (weights[:, [1, 3, 4]].sum(axis=1) == 3).all()
    assert weights.mean(axis=0) == pytest.approx(np.ones(5), abs=0.15), "every segment is drawn alike"


def test_no_segments() -> None:
    assert draw(3, []).shape == (3, 0)


def test_a_seed_gives_the_same_resamples_and_fewer_are_their_beginning() -> None:
    assert (draw(130, ["a"] * 9, seed=3) == draw(130, ["a"] * 9, seed=3)).all()
    assert (draw(128, ["a"] * 9, seed=3) == draw(192, ["a"] * 9, seed=3)[:128]).all()
    assert (draw(130, ["a"] * 9, seed=3) != draw(130, ["a"] * 9, seed=4)).any()


def test_sums_are_what_computing_anew_gives() -> None:
    values = np.random.default_rng(1).normal(size=30)

    def compute(rows: IntArray) -> Mapping[str, float]:
        return {"mean": float(values[rows].mean())}

    weights = draw(50, ["a"] * 30)
    summed = AdditiveStatistic(np.column_stack([values, np.ones(30)]), mean).figures(weights)["mean"]
    assert summed == pytest.approx(RecomputedStatistic(compute).figures(weights)["mean"])
    point = AdditiveStatistic(np.column_stack([values, np.ones(30)]), mean).figures(bootstrap.whole_sample(30))["mean"]
    assert point == pytest.approx([values.mean()])


def test_interval_of_a_mean_has_the_width_that_theory_gives() -> None:
    values = np.random.default_rng(5).normal(size=400)
    table = np.column_stack([values, np.ones(400)])
    low, high = bootstrap.interval(AdditiveStatistic(table, mean).figures(draw(2000, ["a"] * 400))["mean"])
    assert high - low == pytest.approx(2 * 1.96 * values.std() / 20, rel=0.08)
    assert low < values.mean() < high


def test_undefined_resamples_do_not_count() -> None:
    assert bootstrap.interval(np.array([np.nan, 1.0, 3.0]), level=1.0) == (1.0, 3.0)
    assert np.isnan(bootstrap.interval(np.array([np.nan, np.nan]))).all()
    assert np.isnan(bootstrap.compare(np.array([1.0, np.nan]), np.array([2.0, 1.0])).p)


def test_comparison_is_paired() -> None:
    firsts = np.append(0.0, np.random.default_rng(2).normal(size=999))
    same = bootstrap.compare(firsts, firsts + 0.1)
    assert (same.value, same.low, same.high) == pytest.approx((0.1, 0.1, 0.1))
    assert same.p == pytest.approx(2 / 1000), "no resample has it otherwise"
    assert bootstrap.compare(firsts, firsts).p == 1.0

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from matese.annotation import Estimate, Scale
from matese.evaluation.spans import score_agreement
from matese.evaluation.statistics import bootstrap
from matese.evaluation.statistics.arrays import FloatArray

RNG = np.random.default_rng(1)
MEANS = -5 + RNG.normal(size=400)
DEVIATIONS = RNG.uniform(0.2, 2.0, size=400)
GOLD = MEANS + DEVIATIONS * RNG.normal(size=400)


def estimates(scale: Scale = "mqm", factor: float = 1.0) -> list[Estimate]:
    return [
        Estimate(mean, scale, mean, mean, factor * one)
        for mean, one in zip(MEANS.tolist(), DEVIATIONS.tolist(), strict=True)
    ]


def measure(given: list[Estimate], *, gold: FloatArray = GOLD, scale: float = 1.0) -> dict[str, float]:
    is_one_unit = given[0].scale == "mqm"
    found = score_agreement.distributions(gold, given, scale=scale, is_one_unit=is_one_unit)
    assert found is not None
    figures: dict[str, float] = {}
    for statistic in score_agreement.interval_statistics(found):
        figures |= {
            name.removeprefix("uncertainty."): float(values[0])
            for name, values in statistic.figures(bootstrap.whole_sample(len(gold))).items()
        }
    return figures


def test_figures_are_those_of_scipy() -> None:
    found, errors = measure(estimates()), np.abs(GOLD - MEANS)
    assert found["pps"] == pytest.approx(scipy.stats.pearsonr(GOLD, MEANS).statistic)
    assert found["ups"] == pytest.approx(scipy.stats.pearsonr(errors, DEVIATIONS).statistic)
    assert found["nll"] == pytest.approx(-scipy.stats.norm.logpdf(GOLD, MEANS, DEVIATIONS).mean(), rel=1e-5)
    assert found["sharpness"] == pytest.approx((DEVIATIONS**2).mean(), rel=1e-5)
    levels = np.linspace(0, 1, 100)
    covered = [np.mean(errors <= DEVIATIONS * scipy.stats.norm.ppf((1 + level) / 2)) for level in levels]
    assert found["ece"] == pytest.approx(np.abs(levels - covered).mean())


def test_the_scale_undoes_what_was_scaled() -> None:
    assert measure(estimates())["scale"] == pytest.approx(1, abs=0.15)
    narrow = measure(estimates(factor=0.2))
    assert narrow["scale"] == pytest.approx(5, rel=0.15)
    assert narrow["ece"] > 0.3
    again = measure(estimates(factor=0.2), scale=narrow["scale"])
    assert again["ece"] < 0.03
    assert again["nll"] < narrow["nll"]
    assert again["ups"] == pytest.approx(narrow["ups"])


def test_other_scales_are_standardised() -> None:
    own, moved = measure(estimates("comet")), measure(estimates("comet"), gold=100 * GOLD + 7)
    assert own == pytest.approx(moved)
    assert own["pps"] == pytest.approx(measure(estimates())["pps"])


def test_predictions_that_all_agree_have_a_finite_likelihood() -> None:
    found = measure([Estimate(-1.0, "mqm", -1.0, -1.0)] * 2, gold=np.array([-1.0, -2.0]))
    assert np.isfinite(found["nll"])
    assert np.isnan(found["ups"])
    assert found["sharpness"] == 0


@pytest.mark.parametrize(
    ("estimate", "expected"),
    [
        (Estimate(-1.0, "mqm", deviation=3.0), 3.0),
        (Estimate(-1.0, "mqm", -25.0, 0.0, 30.0), 30.0),
        # Of earlier versions, without a deviation.
        (Estimate(-1.0, "mqm"), None),
        (Estimate(-1.0, "mqm", -1.0 - 1.959964, 0.0), 1.0),
        (Estimate(-24.0, "mqm", -25.0, -24.0 + 1.959964), 1.0),
        (Estimate(-1.0, "mqm", -25.0, 0.0), None),
        (Estimate(0.0, "mqm", 0.0, 0.0), 0.0),
        (Estimate(-25.0, "mqm", -25.0, -25.0), 0.0),
        (Estimate(50.0, "esa", -30.0, 130.0), 80 / 1.959964),
    ],
)
def test_the_deviation_is_never_that_of_a_cut_interval(estimate: Estimate, expected: float | None) -> None:
    assert score_agreement.deviation(estimate) == (None if expected is None else pytest.approx(expected))


def test_a_segment_without_an_interval_leaves_no_figures() -> None:
    assert score_agreement.distributions(np.zeros(1), [Estimate(-1.0, "mqm")]) is None

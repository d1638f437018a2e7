from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matese.evaluation.metrics import metric_figures, pairwise_accuracy, score_arrays
from matese.evaluation.metrics.correlation_options import CorrelationFigures, TieRule
from matese.evaluation.metrics.score_arrays import LangPairScores
from matese.evaluation.statistics import bootstrap, permutation_test
from matese.evaluation.statistics.arrays import FloatArray, row_means
from tests.evaluation.score_tables import random_scores, scored, sign

N_SAMPLES = 5


def one_by_one(pair: LangPairScores, name: str, options: CorrelationFigures) -> dict[str, FloatArray]:
    """The figures on each sample from the drawn scores themselves, by the functions that give the figures."""
    gold = pair.gold.segment
    metric = pair.metrics[name].segment
    signs = metric_figures.sign_flips(pair, options)
    assert gold is not None
    assert metric is not None
    calibration = pairwise_accuracy.acc_eq(gold, metric)
    found: dict[str, list[float]] = {}
    for weights in bootstrap.resamples(N_SAMPLES, np.zeros(gold.shape[1]), seed=options.seed):
        for row in weights:
            drawn = np.repeat(np.arange(gold.shape[1]), row.astype(np.int64))
            human = gold[:, drawn]
            score = np.where(np.isfinite(gold), metric, np.nan)[:, drawn]
            values = metric_figures.of_systems(row_means(human), row_means(score))
            values["system.spa"] = pairwise_accuracy.soft(human, score, signs)
            values |= metric_figures.of_segments(human, score, options)
            plain = {key: np.nan if one.value is None else one.value for key, one in values.items()}
            plain |= taus_without_copies(gold, metric, row)
            if calibration is not None:
                shares = row_means(calibration.verdicts[:, drawn].T)
                is_defined = np.isfinite(shares)
                plain["segment.acc_eq"] = float(shares[is_defined].mean()) if is_defined.any() else np.nan
            for key, value in plain.items():
                found.setdefault(key, []).append(value)
    return {key: np.array(values) for key, values in found.items()}


def taus_without_copies(gold: FloatArray, metric: FloatArray, counts: FloatArray) -> dict[str, float]:
    """Kendall's taus from their definition: a segment is never compared with its own copy."""
    found: dict[str, float] = {}
    for kind in ("b", "c"):
        found[f"segment.kendall_{kind}"] = one_tau(gold, metric, counts, kind)
        rows = zip(gold, metric, strict=True)
        by_system = [one_tau(human[np.newaxis], score[np.newaxis], counts, kind) for human, score in rows]
        found[f"segment.kendall_{kind}_by_system"] = float(row_means(np.array(by_system)))
    return found


def one_tau(gold: FloatArray, metric: FloatArray, counts: FloatArray, kind: str) -> float:
    systems, segments = np.nonzero(np.isfinite(gold))
    rated = [(at, float(gold[row, at]), float(metric[row, at])) for row, at in zip(systems, segments, strict=True)]
    balance = untied_gold = untied_metric = n_pairs = 0.0
    for (i, g1, m1), (j, g2, m2) in itertools.combinations(rated, 2):
        times = counts[i] if i == j else counts[i] * counts[j]
        balance += times * sign(g1 - g2) * sign(m1 - m2)
        untied_gold += times * (g1 != g2)
        untied_metric += times * (m1 != m2)
        n_pairs += times
    if not untied_gold or not untied_metric:
        return np.nan
    if kind == "b":
        return float(balance / np.sqrt(untied_gold * untied_metric))
    n = len(rated)
    classes = min(len({g for _, g, _ in rated}), len({m for *_, m in rated}))
    return float(balance / n_pairs * (n - 1) / n * classes / (classes - 1))


@pytest.mark.parametrize("slope", [1.0, -1.0])
def test_the_interval_of_a_perfect_metric_holds_its_figure(slope: float) -> None:
    gold = np.random.default_rng(0).normal(size=(4, 20))
    pair = LangPairScores.of("en-de", scored("mqm", gold), [scored("m", slope * gold)])
    found = metric_figures.samples(pair, n_samples=50, options=CorrelationFigures(samples=20))["m"]
    for name in ("b", "c", "b_by_system", "c_by_system", "b_by_item", "c_by_item"):
        assert found[f"segment.kendall_{name}"] == pytest.approx(np.full(50, slope)), name


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_systems=st.integers(1, 6),
    n_segments=st.integers(2, 9),
    missing=st.sampled_from([0.0, 0.2, 0.6]),
    ties=st.sampled_from(["discordant", "neither", "excluded"]),
)
def test_samples_equal_the_figures_of_the_drawn_segments(
    seed: int, n_systems: int, n_segments: int, missing: float, ties: TieRule
) -> None:
    gold, metric = random_scores(seed, n_systems, n_segments, missing)
    gold[:, 0] = np.where(np.isfinite(gold[:, 0]), gold[:, 0], -1.0)  # every system has one
    offset = 1e3 * np.arange(n_systems)[:, np.newaxis]  # systems far apart: the worst for sums of squares
    pair = LangPairScores.of("en-de", scored("mqm", gold), [scored("m", metric), scored("far", metric + offset)])
    few = CorrelationFigures(samples=20, darr_threshold=1, darr_ties=ties, seed=seed)
    found = metric_figures.samples(pair, n_samples=N_SAMPLES, options=few)
    for name in ("m", "far"):
        expected = one_by_one(pair, name, few)
        assert set(found[name]) == set(expected)
        for key, values in expected.items():
            assert found[name][key] == pytest.approx(values, abs=1e-9, nan_ok=True), key


def test_segments_that_no_system_or_every_system_has_take_the_short_way() -> None:
    gold, metric = random_scores(3, missing=0)
    gold[:, 4:7] = np.nan
    signs = permutation_test.draw_signs(gold.shape[1], np.random.default_rng(0), 200)
    masked = np.where(np.isfinite(gold), metric, np.nan)
    short = permutation_test.p_values(masked, signs)[0]
    # An additional system without scores makes the pairs' segments differ, which is the long way.
    longer = np.vstack([masked, np.full(gold.shape[1], np.nan)])
    first, second = np.triu_indices(len(longer), 1)
    is_old = (first < len(gold)) & (second < len(gold))
    assert short.tolist() == permutation_test.p_values(longer, signs)[0, is_old].tolist()


def test_systems_that_are_drawn_equal_the_figures_of_the_drawn_ones() -> None:
    rng = np.random.default_rng(0)
    gold, metric = rng.normal(size=(2, 5))
    names = tuple("ABCDE")
    pair = LangPairScores.of(
        "en-de", score_arrays.Scores("mqm", names, gold), [score_arrays.Scores("m", names, metric)]
    )
    found = metric_figures.samples(pair, n_samples=20)["m"]
    (weights,) = bootstrap.resamples(20, np.zeros(5), seed=0)
    for place, row in enumerate(weights):
        drawn = np.repeat(np.arange(5), row.astype(np.int64))
        for key, one in metric_figures.of_systems(gold[drawn], metric[drawn]).items():
            expected = np.nan if one.value is None else one.value
            if key == "system.accuracy":  # a system is not compared with its own copy
                pairs = [(i, j) for i, j in itertools.combinations(drawn, 2) if i != j]
                agreed = [sign(gold[i] - gold[j]) == sign(metric[i] - metric[j]) for i, j in pairs]
                expected = float(np.mean(agreed)) if agreed else np.nan
            assert found[key][place] == pytest.approx(expected, nan_ok=True)


def test_a_hundred_samples_of_a_test_set_take_seconds() -> None:
    rng = np.random.default_rng(0)
    gold = -np.round(rng.exponential(2, size=(12, 500)) * 2) / 2
    pair = LangPairScores.of("en-de", scored("mqm", gold), [scored("m", gold + rng.normal(size=gold.shape))])
    start = time.process_time()
    metric_figures.samples(pair, n_samples=100)
    assert time.process_time() - start < 5

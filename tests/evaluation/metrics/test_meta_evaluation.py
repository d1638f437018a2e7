from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from matese.errors import InputError
from matese.evaluation.metrics import (
    averages,
    correlation,
    meta_evaluation,
    metric_figures,
    metric_ranking,
    pairwise_accuracy,
)
from matese.evaluation.metrics.correlation_options import (
    SEGMENT_FIGURES,
    SYSTEM_FIGURES,
    WITHOUT_TEST,
    CorrelationFigures,
    Test,
)
from matese.evaluation.metrics.metric_figures import MetricFigures
from matese.evaluation.metrics.score_arrays import RANKED_ROWS, LangPairScores, Scores
from tests.evaluation.score_tables import random_scores, scored

FEW = CorrelationFigures(samples=50)


def lang_pair(name: str = "en-de", seed: int = 0, noise: tuple[float, ...] = (0.3, 8.0)) -> LangPairScores:
    gold, _ = random_scores(seed, n_systems=7, n_segments=40, missing=0)
    rng = np.random.default_rng(seed + 1)
    made = [scored(f"m{number}", gold + rng.normal(scale=scale, size=gold.shape)) for number, scale in enumerate(noise)]
    return LangPairScores.of(name, scored("mqm", gold), made)


def figures(pair: LangPairScores, options: CorrelationFigures = FEW) -> dict[str, MetricFigures]:
    signs = metric_figures.sign_flips(pair, options)
    return {name: metric_figures.measure(pair.gold, metric, signs, options) for name, metric in pair.metrics.items()}


def test_systems_without_human_scores_are_left_out() -> None:
    gold = Scores("mqm", ("A", "B", "C", "D"), np.array([1.0, np.nan, 2.0, 3.0]))
    pair = LangPairScores.of("en-de", gold, [Scores("BLEU", ("A", "C", "D"), np.array([1.0, 2.0, 3.0]))])
    assert pair.gold.systems == ("A", "C", "D")
    assert set(figures(pair)["BLEU"]) == {"system.pearson", "system.accuracy"}
    with pytest.raises(ValueError, match="mqm: no system has a human score; at least one needs it"):
        LangPairScores.of("en-de", Scores("mqm", ("A",), np.array([np.nan])), [])


def test_two_systems_are_told_and_their_segments_still_compared() -> None:
    pair = lang_pair().select([True, True, False, False, False, False, False])
    found = figures(pair)["m0"]
    for name in ("system.pearson", "system.accuracy", "system.spa"):
        assert found[name].value is None
        assert str(found[name].problem).startswith("2 systems with a human score; this figure needs three or more")
    assert found["segment.pearson"].value is not None


def test_a_constant_metric_has_no_correlation_and_an_accuracy() -> None:
    gold, _ = random_scores(0, missing=0)
    found = figures(LangPairScores.of("en-de", scored("mqm", gold), [scored("one", np.ones_like(gold))]))["one"]
    assert found["system.pearson"].value is None
    assert "all 6 metric scores are 1" in str(found["system.pearson"].problem)
    assert found["segment.pearson_by_item"].value is None
    ties = np.mean([np.mean([a == b for i, a in enumerate(x) for b in x[:i]]) for x in gold.T])
    assert found["segment.acc_eq"].value == pytest.approx(ties)
    assert not any(one.value is not None and np.isnan(one.value) for one in found.values())


def test_each_language_pair_is_reported_as_soon_as_its_metrics_are_ranked() -> None:
    pairs = [lang_pair("en-de", 0), lang_pair("zh-en", 5)]
    reported: list[tuple[str, list[str]]] = []
    meta_evaluation.correlate(pairs, FEW, report=lambda found, name: reported.append((name, list(found.rankings))))
    assert reported == [("en-de", ["en-de"]), ("zh-en", ["en-de", "zh-en"]), ("pooled", ["en-de", "zh-en"])]


def test_pooled_figures() -> None:
    pairs = [lang_pair("en-de", 0), lang_pair("zh-en", 5)]
    found = {pair.lang_pair: figures(pair) for pair in pairs}
    pooled = averages.pool(pairs, found)["m1"]
    parts = [found[name]["m1"] for name in ("en-de", "zh-en")]
    value = {name: [part[name].value for part in parts] for name in parts[0]}
    accuracy = sum(value["system.accuracy"]) / 2  # type: ignore[arg-type] # as many pairs in both
    assert pooled["system.accuracy"].value == pytest.approx(accuracy)
    assert pooled["system.accuracy"].n == 42
    halves = [(r + 1) / 2 for name in ("system.pearson", "segment.pearson") for r in value[name]]  # type: ignore[operator]
    wmt23 = (2 * accuracy + sum(halves) + sum(value["segment.acc_eq"])) / 8  # type: ignore[arg-type]
    assert pooled["average.wmt23"].value == pytest.approx(wmt23)
    wmt24 = (sum(value["system.spa"]) + sum(value["segment.acc_eq"])) / 4  # type: ignore[arg-type]
    assert pooled["average.wmt24"].value == pytest.approx(wmt24)
    for name in ("system.pearson", "system.accuracy", "segment.kendall_b_by_item", "segment.acc_eq_held_out"):
        assert pooled[f"macro.{name}"].value == pytest.approx(sum(value[name]) / 2)  # type: ignore[arg-type]
    assert pooled["macro.segment.darr"].value is None


def test_only_metrics_of_all_language_pairs_are_pooled() -> None:
    pairs = [lang_pair("en-de", 0), lang_pair("zh-en", 5, noise=(1.0,))]
    assert list(averages.pool(pairs, {pair.lang_pair: figures(pair) for pair in pairs})) == ["m0"]


def test_an_average_with_an_undefined_part_is_told() -> None:
    pair = lang_pair().select([True, True, False, False, False, False, False])
    pooled = averages.pool([pair], {"en-de": figures(pair)})["m0"]
    for name in ("average.wmt24", "system.accuracy"):
        assert pooled[name].value is None
        assert pooled[name].problem


def cases() -> list[tuple[str, Test]]:
    names = [name for name in (*SYSTEM_FIGURES, *SEGMENT_FIGURES) if name not in WITHOUT_TEST]
    return [
        *((name, "permutation") for name in names),
        ("system.pearson", "perm-both"),
        ("system.accuracy", "perm-both"),
    ]


@pytest.mark.parametrize(("figure", "test"), cases())
def test_a_good_metric_is_ranked_above_noise(figure: str, test: Test) -> None:
    options = CorrelationFigures(darr_threshold=1, significance=test, samples=50)
    pair = lang_pair(noise=(50.0, 0.3))
    values = {name: one[figure].value for name, one in figures(pair, options).items()}
    found = metric_ranking.rank(values, metric_ranking.significance_test(pair, figure, options))
    assert found.metrics == ("m1", "m0")
    # Seven systems have few permutations of their scores; all other tests see the difference.
    if figure.startswith("segment"):
        assert found.clusters == (1, 2)


@pytest.mark.parametrize("n_rated", [6, 7])
def test_differences_that_are_tested_are_those_of_the_figures(n_rated: int) -> None:
    pair = lang_pair()
    assert pair.gold.segment is not None
    # A system may have human scores of none of its segments.
    is_rated = np.arange(7)[:, np.newaxis] < n_rated
    pair = replace(pair, gold=replace(pair.gold, segment=np.where(is_rated, pair.gold.segment, np.nan)))
    found = figures(pair)
    for figure in ("system.pearson", "system.accuracy", "system.spa", "segment.acc_eq", "segment.kendall_b_by_item"):
        compare = metric_ranking.significance_test(pair, figure, FEW)
        expected = found["m0"][figure].value - found["m1"][figure].value  # type: ignore[operator]
        assert compare("m0", "m1").difference == pytest.approx(expected, abs=1e-12), figure


def test_tests_are_seeded() -> None:
    pair = lang_pair(noise=(2.0, 2.1))
    first, again, other = (
        metric_ranking.significance_test(pair, "segment.pearson", CorrelationFigures(seed=seed, samples=20))
        for seed in (1, 1, 2)
    )
    samples = first("m0", "m1").samples
    assert np.array_equal(samples, again("m0", "m1").samples)
    assert not np.array_equal(samples, other("m0", "m1").samples)
    # Language pairs of one size do not share their swaps, of which an average would make too much.
    again = metric_ranking.significance_test(
        replace(pair, lang_pair="zh-en"), "segment.pearson", CorrelationFigures(seed=1, samples=20)
    )
    assert not np.array_equal(samples, again("m0", "m1").samples)


def test_williams_is_for_pearson() -> None:
    pair = lang_pair()
    found = metric_ranking.rank(
        {"m0": 0.9, "m1": 0.1},
        metric_ranking.significance_test(pair, "system.pearson", CorrelationFigures(significance="williams")),
    )
    assert found.clusters == (1, 2)
    with pytest.raises(ValueError, match=r"Williams' test is not defined for system.spa; rank by system.pearson or"):
        metric_ranking.significance_test(pair, "system.spa", CorrelationFigures(significance="williams"))


def test_perm_both_needs_segments() -> None:
    pair = lang_pair()
    bare = LangPairScores.of("en-de", pair.gold, [pair.metrics["m0"], replace(pair.metrics["m1"], segment=None)])
    compare = metric_ranking.significance_test(bare, "system.pearson", CorrelationFigures(significance="perm-both"))
    with pytest.raises(ValueError, match="m1 has no segment scores; this test needs them"):
        compare("m0", "m1")


def test_metrics_without_a_figure_are_not_ranked() -> None:
    found = metric_ranking.rank({"b": 0.5, "a": 0.5, "c": None}, None)
    assert (found.metrics, found.clusters) == (("a", "b"), None)


@pytest.mark.parametrize("figure", ["average.wmt23", "average.wmt24"])
def test_averages_are_tested_by_the_samples_of_their_parts(figure: str) -> None:
    pairs = [lang_pair("en-de", 0), lang_pair("zh-en", 5)]
    options = CorrelationFigures(samples=200)
    pooled = averages.pool(pairs, {pair.lang_pair: figures(pair, options) for pair in pairs})
    found = averages.average_test(pairs, figure, options)("m0", "m1")
    expected = pooled["m0"][figure].value - pooled["m1"][figure].value  # type: ignore[operator]
    assert found.difference == pytest.approx(expected, abs=1e-12)
    assert found.p_value < 0.05


def test_undefined_samples_of_an_average_count_as_no_better() -> None:
    rng = np.random.default_rng(54)
    # A swapped metric is sometimes constant.
    tables = [rng.integers(0, n, (3, 4)).astype(np.float64) for n in (3, 2, 2)]
    gold, *metrics = [scored(name, table) for name, table in zip(("mqm", "m0", "m1"), tables, strict=True)]
    test = averages.average_test([LangPairScores.of("en-de", gold, metrics)], "average.wmt23", FEW)
    found = test("m0", "m1")
    is_undefined = np.isnan(found.samples)
    assert is_undefined.any()
    assert found.p_value == pytest.approx(is_undefined.mean() + (found.samples >= found.difference - 1e-12).mean())


def test_bootstrap_samples_are_paired_and_their_intervals_hold_the_figure() -> None:
    pair = lang_pair(noise=(1.0, 8.0))
    found = figures(pair)
    samples = metric_figures.samples(pair, n_samples=30, options=FEW)
    assert set(samples["m0"]) == set(found["m0"]) - {*WITHOUT_TEST}
    for name, (low, high) in meta_evaluation.intervals_of(samples["m1"]).items():
        value = found["m1"][name].value
        assert value is not None
        assert low - 0.1 <= value <= high + 0.1, name
        assert low < high
    values = {name: one["segment.pearson"].value for name, one in found.items()}
    compare = metric_ranking.bootstrap_test(values, {name: one["segment.pearson"] for name, one in samples.items()})
    assert metric_ranking.rank(values, compare).clusters == (1, 2)


def test_the_test_by_bootstrap_needs_one_unit_for_all_metrics() -> None:
    pair = lang_pair()
    mixed = replace(pair, metrics={**pair.metrics, "m0": replace(pair.metrics["m0"], segment=None)})
    options = replace(FEW, significance="bootstrap", samples=5)
    with pytest.raises(InputError, match="m0 has no segment scores"):
        meta_evaluation.correlate([mixed], options)
    of_segments = replace(options, rank_by="segment.pearson")
    assert meta_evaluation.correlate([mixed], of_segments).rankings["en-de"].metrics == ("m1",)
    assert meta_evaluation.correlate([pair], options).rankings["en-de"].metrics == ("m0", "m1")


def test_bootstrap_of_systems_where_only_they_are_scored() -> None:
    pair = lang_pair()
    bare = LangPairScores.of("en-de", replace(pair.gold, segment=None), list(pair.metrics.values()))
    samples = metric_figures.samples(bare, n_samples=20, options=FEW)
    assert set(samples["m0"]) == {"system.pearson", "system.accuracy"}


def test_top_n_of_a_language_pair() -> None:
    pair = lang_pair()
    gold = pair.gold
    metric = pair.metrics["m0"]
    options = CorrelationFigures(samples=20, darr_threshold=1)
    top = meta_evaluation.correlate([pair], options).top_n["en-de"]["m0"]
    assert top["pearson"][7] == pytest.approx(correlation.of_systems(gold.system, metric.system).value)
    assert list(top["pearson"]) == [7, 6, 5, 4, 3]
    best = np.argsort(-gold.system)[:4]
    assert gold.segment is not None
    assert metric.segment is not None
    human = gold.segment[best]
    score = metric.segment[best]
    assert top["darr"][4] == pytest.approx(pairwise_accuracy.darr(human, score, 1).value)
    expected = correlation.of_segments(human, score, grouping="item", kind="b").value
    assert top["kendall_b_by_item"][4] == pytest.approx(expected)


def test_the_best_systems_of_relative_ranks_are_those_that_win_most() -> None:
    ranks = (("A", "B"), ("A", "C"), ("B", "C"), ("D", "A"), ("C", "D"))  # A wins 2 of 3; B and D 1 of 2; C 1 of 3
    none = np.full(2, np.nan)
    gold = Scores("human", RANKED_ROWS, none, np.repeat([[1.0], [0.0]], len(ranks), axis=1))
    metric = Scores("metric", RANKED_ROWS, none, np.array([[2.0, 1, 1, 1, 2], [1, 2, 2, 2, 1]]))
    pair = LangPairScores("en-de", gold, {"metric": metric}, ranked=("A", "B", "C", "D"), ranked_pairs=ranks)
    options = CorrelationFigures(rank_by="segment.darr", significance="none")
    found = meta_evaluation.correlate([pair], options).top_n["en-de"]["metric"]
    # Of all pairs, 2 of 5 agree; of those among A, B and D, 1 of 2.
    assert found == {"darr": {4: pytest.approx(-0.2), 3: 0.0}}

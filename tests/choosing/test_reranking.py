"""Reranking: features, fixed weights, and weights that are fitted to what is good."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matese
from matese.annotation import ErrorSpan, Estimate, Rating, Segment, Severity, UnplacedError
from matese.choosing import reranking
from matese.errors import InputError, UsageError
from matese.formats.candidates import Candidates

MINOR = ErrorSpan(0, 1, Severity.MINOR)
MAJOR = ErrorSpan(0, 1, Severity.MAJOR)
CRITICAL = UnplacedError(Severity.CRITICAL)


def rating(text: str, *errors: ErrorSpan, expected: float | None = None) -> Rating:
    estimate = None if expected is None else Estimate(expected, "mqm")
    return Rating(Segment(text), None, errors, estimate=estimate)


def test_features() -> None:
    own = Rating(Segment("ein Satz"), None, (MINOR, MAJOR, MAJOR), unplaced=(CRITICAL,), estimate=Estimate(-1.5, "mqm"))
    assert reranking.features_of([own], -3.0) == {
        "expected_score": -1.5,
        "minor": 1.0,
        "major": 3.0,
        "model_score": -3.0,
        "length": 2.0,
    }
    assert reranking.features_of([Rating(Segment(""), None, None, estimate=Estimate(50, "esa"))]) == {"length": 0.0}


def test_expected_score_decides_then_errors() -> None:
    own = Candidates(("a", "b", "c"))
    scored = [rating("a", expected=-2), rating("b", MAJOR, expected=-1), rating("c", expected=-1)]
    assert reranking.choose(own, [scored]).index == 1, "the first of equally good ones"
    marked = [rating("a", MAJOR), rating("b", MINOR, MINOR), rating("c", MINOR, MINOR, MINOR)]
    assert reranking.choose(own, [marked]).scores == (-5, -2, -3)


def test_fixed_weights() -> None:
    own = Candidates(("a b", "a", "a b c"), model_scores=(-1.0, -2.0, -3.0))
    ratings = [rating(text, expected=0) for text in own.texts]
    assert reranking.choose(own, [ratings], {"model_score": 1}).index == 0
    assert reranking.choose(own, [ratings], {"model_score": 1, "length": 2}).scores == (3, 0, 3)
    assert reranking.choose(own, [ratings], {"length": -1}).index == 1


def test_rerank_never_reads_a_reference(tiny_model_dir: Path) -> None:
    (choice,) = matese.rerank([["Das Haus", "Ein Haus"]], ["The house"], model=tiny_model_dir)
    annotator = matese.load(tiny_model_dir, precision="float32")
    expected = [
        one.estimate.value
        for one in annotator.annotate(["Das Haus", "Ein Haus"], sources=["The house"] * 2)
        if one.estimate
    ]
    assert choice.scores == pytest.approx(expected, abs=1e-3)


def features(n_lists: int, weights: dict[str, float]) -> tuple[list[list[dict[str, float]]], list[list[float | None]]]:
    """Returns random features, and gold values that are their weighted sum."""
    random = np.random.default_rng(1)
    lists = [
        [{"expected_score": float(a), "minor": float(b), "length": 3.0} for a, b in random.normal(size=(6, 2))]
        for _ in range(n_lists)
    ]
    gold: list[list[float | None]] = [
        [sum(weights[name] * one[name] for name in weights) for one in own] for own in lists
    ]
    return lists, gold


def test_tuning_finds_the_weights() -> None:
    lists, gold = features(50, {"expected_score": 1.0, "minor": -0.25})
    found = reranking.tune(lists, gold)
    assert "length" not in found, "equal in all pairs"
    assert found["minor"] / found["expected_score"] == pytest.approx(-0.25, abs=0.01)


def test_tuning_leaves_out_what_is_not_known() -> None:
    lists, gold = features(20, {"expected_score": 1.0, "minor": -0.25})
    before = reranking.tune(lists, gold)
    more = [[*own, {"expected_score": 100.0, "minor": 0.0, "length": 9.0}] for own in lists]
    assert reranking.tune(more, [[*own, None] for own in gold]) == before


def test_tuning_draws_pairs_of_long_lists() -> None:
    random = np.random.default_rng(2)
    values = random.normal(size=60)
    found = reranking.tune([[{"expected_score": float(one), "length": 1.0} for one in values]], [list(values)])
    assert found["expected_score"] > 0


def test_tune_in_python(tiny_model_dir: Path) -> None:
    texts = [["Das Haus", "Ein Haus ist alt"]] * 2
    sources = ["The house"] * 2
    weights = matese.tune_reranking(texts, sources, [[0.0, 1.0]] * 2, model=tiny_model_dir, model_scores=[[-2, -1]] * 2)
    found = matese.rerank(texts, sources, model=tiny_model_dir, weights=weights, model_scores=[[-2, -1]] * 2)
    assert [choice.index for choice in found] == [1, 1]


def test_what_cannot_be_weighted(tiny_model_dir: Path) -> None:
    calls: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"weights": {"expected": 1}}, UsageError, "unknown feature 'expected', did you mean 'expected_score'?"),
        ({"weights": {"minor": float("nan")}}, InputError, "must be finite numbers"),
        ({"weights": {"minor": float("nan")}}, InputError, "must be finite numbers"),
        ({"weights": {"model_score": 1}}, InputError, "no model score of a candidate: must be an n-best list with sc"),
        ({"model_scores": [[1.0]]}, InputError, "2 candidates and 1 model scores; every candidate needs one"),
        ({"model_scores": [[1.0, float("inf")]]}, InputError, "must be finite numbers"),
    ]
    for arguments, kind, problem in calls:
        with pytest.raises(kind, match=problem.replace("?", r"\?")):
            matese.rerank([["a", "b"]], ["x"], model=tiny_model_dir, **arguments)
    with pytest.raises(InputError, match="no two candidates of a source differ in both gold values"):
        reranking.tune([[{"length": 1.0}, {"length": 2.0}]], [[1.0, 1.0]])
    with pytest.raises(InputError, match="a gold value is not finite"):
        reranking.tune([[{"length": 1.0}, {"length": 2.0}]], [[float("inf"), 1.0]])
    with pytest.raises(UsageError, match="differ in number; each candidate needs one"):
        reranking.tune([[{"length": 1.0}]], [[1.0, 1.0]])


def test_weights_that_choose_worse_than_the_given_order_are_not_kept() -> None:
    """Of each source the first candidate is best; fitted to other pairs, the weights would choose another one."""
    lists = [Candidates(("a", "b b"), "x"), Candidates(("c", "d d"), "y")]
    pairs = [(one, [[Rating(Segment(text, one.source), None, ()) for text in one.texts]]) for one in lists]
    gold = [[1.0, 0.0], [1.0, 0.0]]
    worse = {"length": 1.0}
    assert reranking.keep_best(pairs, gold, worse)[0] == "default"  # which chooses the first of equal ones
    assert reranking.keep_best(pairs, [row[::-1] for row in gold], worse)[:2] == ("tuned", worse)
    marked = [
        (one, [[replace(rating, errors=(ErrorSpan(0, 1, Severity.MAJOR),) * (n == 0)) for n, rating in enumerate(own)]])
        for one, (own,) in pairs
    ]
    kept, weights, *_ = reranking.keep_best(marked, gold, worse)
    assert (kept, weights) == ("first", {})
    assert reranking.choose(*marked[0], weights).index == 0


def test_features_of_several_models_are_tuned_together() -> None:
    """Gold is the sum of both models' scores, so that neither model alone orders the candidates right."""
    random = np.random.default_rng(3)
    lists = [Candidates(("a", "b", "c", "d"), str(number)) for number in range(40)]
    scores = random.normal(size=(40, 2, 4))
    pairs = [
        (one, [[rating(text, expected=float(score)) for text, score in zip(one.texts, own, strict=True)] for own in by])
        for one, by in zip(lists, scores, strict=True)
    ]
    gold: list[list[float | None]] = scores.sum(axis=1).tolist()
    tuned = reranking.tune(reranking.features(pairs), gold)
    assert tuned["expected_score_2"] / tuned["expected_score"] == pytest.approx(1, abs=0.05)
    kept, weights, n_sources, means = reranking.keep_best(pairs, gold, tuned)
    assert (kept, weights, n_sources) == ("tuned", tuned, 40)
    assert means["first"] < means["default"] < means["tuned"] == pytest.approx(means["best"])
    better = {"expected_score": 1.0, "expected_score_2": 1.0}
    assert reranking.keep_best(pairs, gold, {"length": 1.0}, better)[:2] == ("given", better)


def test_several_models_in_python(tiny_model_dir: Path) -> None:
    texts = [["Das Haus", "Ein Haus ist alt"]] * 2
    models = [tiny_model_dir, tiny_model_dir]
    weights = matese.tune_reranking(texts, ["The house"] * 2, [[0.0, 1.0]] * 2, model=models)
    (choice, _) = matese.rerank(texts, ["The house"] * 2, model=models, weights=weights)
    assert choice.index == 1
    assert choice.features[0]["expected_score_2"] == choice.features[0]["expected_score"]
    with pytest.raises(UsageError, match="unknown feature 'major_3'"):
        matese.rerank(texts, ["The house"] * 2, model=models, weights={"major_3": 1})

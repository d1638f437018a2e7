"""The logistic regression that detects segments free of errors, and its threshold."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest

from matese.annotation import ErrorSpan, Rating, Segment, Severity
from matese.model.error_free import Features
from matese.model.heads.tags.bio import B_MINOR, TAGS, O
from matese.model.model_input import ModelInput
from matese.model.prediction import Outputs, Prediction, TagProbabilities
from matese.training import error_free
from matese.training.judged import Judged
from tests.conftest import make_config

RNG = np.random.default_rng(7)


def drawn(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns features and labels drawn from log odds that fall with errors and rise with the worst token."""
    features = np.column_stack(
        [RNG.uniform(0, 3, n), RNG.exponential(1, n), RNG.uniform(-4, 4, n), np.ones(n), RNG.uniform(0, 3, n)]
    )
    odds = 3 - 0.5 * features[:, 0] - 2 * features[:, 1] + 0.1 * features[:, 2] + 0.3 * features[:, 4]
    return features, (RNG.random(n) < 1 / (1 + np.exp(-odds))).astype(float)


NO_MAJOR = np.zeros(20_000, np.bool_)


def test_the_weights_are_found() -> None:
    features, golds = drawn(20_000)
    fitted = error_free.fit_features(features, golds, NO_MAJOR)
    assert astuple(fitted.rule.weights)[:2] == pytest.approx((-0.5, -2), abs=0.3)
    assert fitted.rule.weights.length == pytest.approx(0.3, abs=0.1)
    assert fitted.rule.weights.worst == pytest.approx(0, abs=0.02), "no evidence makes a segment free of errors"
    assert fitted.rule.weights.marks == pytest.approx(0, abs=0.5), "this feature does not vary"
    assert (fitted.n, fitted.n_free) == (20_000, golds.sum())
    assert 0.3 < fitted.mcc < 1


def test_as_many_segments_pass_as_are_free() -> None:
    features, golds = drawn(4_000)
    rule = error_free.fit_features(features, golds, NO_MAJOR[:4_000]).rule
    passed = [rule.probability(Features(*row)) >= rule.threshold for row in features.tolist()]
    assert sum(passed) == pytest.approx(golds.sum(), abs=2)


@pytest.mark.parametrize("share", [0.1, 0.6])
def test_segments_with_a_major_mark_do_not_pass(share: float) -> None:
    """Of the others, as many pass as are free, however many have such a mark."""
    features, golds = drawn(4_000)
    has_major = RNG.random(len(golds)) < share
    plain = error_free.fit_features(features, golds, NO_MAJOR[:4_000])
    fit = error_free.fit_features(features, golds, has_major)
    assert fit.rule.threshold == pytest.approx(plain.rule.threshold, abs=0.1)
    assert 0 < fit.mcc < plain.mcc, "some of those with a mark were free of errors"


def test_where_all_have_a_major_mark_none_is_free() -> None:
    features, golds = drawn(500)
    assert error_free.fit_features(features, golds, np.ones(500, np.bool_)).mcc == 0


def judged(n_bad: int) -> list[Judged]:
    rows = []
    for number in range(n_bad + 60):
        error = 0.9 if number < n_bad else 0.1
        segment = Segment("x y", "a b")
        gold = Rating(segment, None, (ErrorSpan(0, 1, Severity.MINOR),) if number < n_bad else ())
        logs = np.full((1, len(TAGS)), 1e-9)
        logs[0, [O, B_MINOR]] = 1 - error, error
        said = Prediction(
            "x y", np.array([[0, 1]], np.int32), Outputs.of([TagProbabilities(np.log(logs))]), -10 * error
        )
        rows.append(Judged(gold, ModelInput.of(segment, "source"), said))
    return rows


@pytest.mark.parametrize(("n_bad", "n_fits"), [(60, 1), (10, 0), (0, 0)])
def test_a_rule_needs_segments_of_both_kinds(n_bad: int, n_fits: int) -> None:
    config = make_config(inputs=("source",))
    fitted = error_free.fit(judged(n_bad), config, config.decoding)
    assert (fitted is not None) == n_fits
    if fitted is not None:
        assert (fitted.n, fitted.n_free, fitted.mcc) == (120, 60, 1)

"""The logistic regression that detects segments free of errors, and its thresholds."""

from __future__ import annotations

import numpy as np
import pytest

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity
from matese.model.error_free import features_of as error_free_features
from matese.model.model_input import ModelInput
from matese.model.prediction import Outputs, Prediction
from matese.training import error_free
from matese.training.error_free import Decided
from matese.training.judged import Judged

RNG = np.random.default_rng(7)


def drawn(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns features and labels drawn from log odds that fall with errors and rise with the worst token."""
    features = np.column_stack([RNG.uniform(0, 3, n), RNG.exponential(1, n), RNG.uniform(-4, 4, n)])
    odds = 3 - 0.5 * features[:, 0] - 2 * features[:, 1] + 0.1 * features[:, 2]
    return features, (RNG.random(n) < 1 / (1 + np.exp(-odds))).astype(float)


def test_the_weights_are_found() -> None:
    features, golds = drawn(20_000)
    fitted = error_free.fit(features, golds, [""] * 20_000, "source")
    detector = fitted.detector
    found = (detector.expected_score, detector.errors, detector.offset)
    assert found == pytest.approx((-0.5, -2, 3), abs=0.3)
    assert detector.worst == 0, "no evidence of an error makes a segment free of errors"
    assert (fitted.n, fitted.n_free) == (20_000, golds.sum())
    assert 0.3 < fitted.mcc < 1


@pytest.mark.parametrize(("strictness", "n", "pairs"), [(0, 600, []), (4, 600, ["en-cs", "en-de"]), (4, 120, [])])
def test_a_language_pair_has_a_threshold_of_its_own_if_that_is_clearly_better(
    strictness: float, n: int, pairs: list[str]
) -> None:
    rng = np.random.default_rng(3)
    errors = rng.uniform(0, 8, 2000 + n)
    features = np.column_stack([np.ones(len(errors)), errors, np.zeros(len(errors))])
    limits = np.array([2.0] * 2000 + [2.0 + strictness] * n)
    golds = (errors + rng.normal(0, 0.5, len(errors)) < limits).astype(float)
    detector = error_free.fit(features, golds, ["en-de"] * 2000 + ["en-cs"] * n, "source").detector
    assert [one.lang_pair for one in detector.thresholds] == pairs
    assert not pairs or detector.threshold_of("en-cs") < detector.threshold < detector.threshold_of("en-de")


def test_as_many_segments_pass_as_are_free() -> None:
    features, golds = drawn(4_000)
    detector = error_free.fit(features, golds, [""] * 4_000, "source").detector
    passed = [detector.probability(tuple(row)) >= detector.threshold for row in features.tolist()]
    assert sum(passed) == pytest.approx(golds.sum(), abs=2)


def test_a_feature_that_does_not_vary_has_no_weight() -> None:
    features, golds = drawn(500)
    features[:, 0] = 1.0
    detector = error_free.fit(features, golds, [""] * 500, "source").detector
    assert abs(detector.expected_score) < 0.3
    assert detector.thresholds == ()


def test_segments_with_a_major_mark_do_not_pass() -> None:
    features, golds = drawn(4_000)
    has_major = np.arange(len(golds)) % 10 == 0
    plain = error_free.fit(features, golds, [""] * len(golds), "source")
    found = error_free.fit(features, golds, [""] * len(golds), "source", has_major=has_major)
    assert found.detector.threshold < plain.detector.threshold, "as many of the others pass as are free"
    assert found.mcc < plain.mcc, "some of those with a mark were free of errors"


def decided(n_bad: int, lang_pair: str | None = "en-de") -> list[Decided]:
    key = SegmentKey(lang_pair=lang_pair)
    rows = []
    for number in range(n_bad + 60):
        is_bad = number < n_bad
        segment = Segment("x y", "a b", key=key)
        gold = Rating(segment, None, (ErrorSpan(0, 1, Severity.MINOR),) if is_bad else ())
        said = Prediction("x y", np.zeros((0, 2), np.int32), Outputs(), -1.0)
        features = error_free_features(-9.0 if is_bad else -1.0, [0.9 if is_bad else 0.1])
        rows.append(Decided(Judged(gold, ModelInput.of(segment, "source"), said), features, is_bad))
    return rows


@pytest.mark.parametrize(("n_bad", "n_fits"), [(60, 1), (10, 0)])
def test_a_detector_needs_segments_of_both_kinds(n_bad: int, n_fits: int) -> None:
    fits = error_free.fit_all(decided(n_bad), (), inputs="source")
    assert len(fits) == n_fits
    assert all((fit.n, fit.n_free, fit.mcc) == (120, 60, 1) for fit in fits)


@pytest.mark.parametrize(
    ("n_bad", "lang_pairs", "n_bad_of_others", "expected"),
    [
        (60, "en-de", 0, [()]),  # no other ratings: one detector for all
        (60, "en-de", 10, [()]),  # too few of them
        (60, "en-de", 60, [("en-de",), ()]),
        (10, "en-de", 60, [()]),
        (60, None, 60, [()]),  # nothing says on which segments the first detector would decide
    ],
)
def test_other_ratings_are_for_the_other_language_pairs(
    n_bad: int, lang_pairs: str | None, n_bad_of_others: int, expected: list[tuple[str, ...]]
) -> None:
    others = decided(n_bad_of_others) if n_bad_of_others else []
    fits = error_free.fit_all(decided(n_bad, lang_pairs), others, inputs="source")
    assert [fit.detector.lang_pairs for fit in fits] == expected

"""The logistic regression that detects segments free of errors, and its thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from matese.annotation import ErrorSpan, Estimate, Rating, Segment, SegmentKey, Severity, TokenScores
from matese.model.heads.tags.bio import TAGS
from matese.training import error_free
from matese.training.error_free import ErrorFreeFit

RNG = np.random.default_rng(7)


def drawn(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns features and labels drawn from the log odds 1 - 2 * errors + 0.5 * score."""
    features = np.column_stack([RNG.uniform(1, 4, n), RNG.uniform(-10, 0, n), RNG.exponential(1, n), np.ones(n)])
    odds = 1 - 2 * features[:, 2] + 0.5 * features[:, 1]
    return features, (RNG.random(n) < 1 / (1 + np.exp(-odds))).astype(float)


def test_the_weights_are_found() -> None:
    features, golds = drawn(20_000)
    fitted = error_free.fit(features, golds, [""] * 20_000, "source")
    detector = fitted.detector
    found = (detector.length, detector.expected_score, detector.errors, detector.offset)
    assert found == pytest.approx((0, 0.5, -2, 1), abs=0.3)
    assert (fitted.n, fitted.n_free) == (20_000, golds.sum())
    assert 0.3 < fitted.mcc < 1


@pytest.mark.parametrize(("strictness", "n", "pairs"), [(0, 600, []), (4, 600, ["en-cs", "en-de"]), (4, 120, [])])
def test_a_language_pair_has_a_threshold_of_its_own_if_that_is_clearly_better(
    strictness: float, n: int, pairs: list[str]
) -> None:
    rng = np.random.default_rng(3)
    errors = rng.uniform(0, 8, 2000 + n)
    features = np.column_stack([np.ones(len(errors)), np.zeros(len(errors)), errors, np.ones(len(errors))])
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
    detector = error_free.fit(features, golds, [""] * 500, "source").detector
    assert detector.known_pair == 0
    assert detector.thresholds == ()


def annotate(segments: Iterable[Segment]) -> Iterator[tuple[Rating, TokenScores]]:
    for segment in segments:
        assert segment.references == ()
        error = 0.9 if "x" in segment.hypothesis else 0.1
        scores = TokenScores(((0, 1),), ((1 - error, error, *[0.0] * (len(TAGS) - 2)),))
        yield Rating(segment, "m", (), estimate=Estimate(-error, "mqm")), scores


def dev(n_bad: int) -> list[Rating]:
    key = SegmentKey(lang_pair="en-de")
    texts = ["x y"] * n_bad + ["z"] * 60
    return [
        Rating(Segment(text, "a b", ("c",), key), None, (ErrorSpan(0, 1, Severity.MINOR),) if "x" in text else ())
        for text in texts
    ]


def fit_all(ratings: list[Rating], others: Sequence[Rating] = ()) -> tuple[ErrorFreeFit, ...]:
    return error_free.fit_all(annotate, ratings, others, model_inputs=("source",), lang_pairs=("en-de",))


@pytest.mark.parametrize(("n_bad", "n_fits"), [(60, 1), (10, 0)])
def test_a_detector_needs_segments_of_both_kinds(n_bad: int, n_fits: int) -> None:
    copies = [Rating(Segment("a b c d e", "a b c d e"), None, ())] * 60  # decided by a rule
    fits = fit_all([*dev(n_bad), *copies])
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
    ratings = [
        replace(rating, segment=replace(rating.segment, key=SegmentKey(lang_pair=lang_pairs))) for rating in dev(n_bad)
    ]
    others = dev(n_bad_of_others) if n_bad_of_others else []
    assert [fit.detector.lang_pairs for fit in fit_all(ratings, others)] == expected

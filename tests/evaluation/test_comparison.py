from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from matese import mqm
from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey
from matese.evaluation import comparison
from matese.evaluation.comparison import Chance
from tests.evaluation.material import major, minor

CHANCE = Chance(n_resamples=200, n_flips=400, seed=3)


def ratings(*errors: tuple[ErrorSpan, ...]) -> list[Rating]:
    return [Rating(Segment(f"Das ist Satz {number}."), None, own) for number, own in enumerate(errors)]


Spans = tuple[ErrorSpan, ...]
NONE: Spans = ()
BAD: Spans = (major(0, 3),)
SOME: Spans = (minor(0, 3),)
OLD, NEW = ratings(BAD, BAD, SOME, NONE, BAD, SOME, BAD, SOME), ratings(NONE, NONE, SOME, NONE, SOME, NONE, NONE, NONE)


def test_better_system() -> None:
    found = comparison.compare(OLD, NEW, mqm.MATESE, CHANCE)
    score = found.score.bootstrap
    assert score.difference == pytest.approx(-2 / 8 - -23 / 8)
    assert 0 < score.low < score.difference < score.high
    assert found.wins == pytest.approx((0, 1, 0))
    assert found.major.bootstrap.difference == -0.5
    assert found.errors.bootstrap.difference == (2 - 7) / 8
    assert found.n_changes() == {"fixed": 5, "introduced": 0, "softened": 1, "worsened": 0, "kept": 1}
    assert found.balance.bootstrap == found.errors.bootstrap
    assert (found.balance.p, found.shift.bootstrap.difference) == (found.errors.p, -1 / 8)
    # What is introduced less what is fixed is the difference of the numbers of errors.
    assert found.errors.bootstrap.difference * 8 == found.n_changes()["introduced"] - found.n_changes()["fixed"]


def test_permutation_is_that_of_scipy() -> None:
    first, second = (np.array([mqm.score(one) for one in own]) for own in (OLD, NEW))
    exact = scipy.stats.permutation_test(
        (first, second), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf
    )
    ours = comparison.permutation(first, second, n_flips=4000, seed=1)
    assert ours == pytest.approx(exact.pvalue, abs=0.02)
    assert comparison.permutation(second, first, n_flips=4000, seed=1) == pytest.approx(ours, abs=0.02)


def test_equal_systems_do_not_differ() -> None:
    found = comparison.compare(OLD, OLD, mqm.MATESE, CHANCE)
    assert (found.score.p, found.score.bootstrap.p, found.wins) == (1, 1, (0, 0, 1))


def test_all_figures_are_drawn_within_language_pairs() -> None:
    """With one segment a pair every resample is the corpus: no interval has a width."""
    pairs = [SegmentKey(lang_pair=f"en-{name}") for name in ("de", "ru")]
    old, new = ([Rating(Segment("Das", key=key), None, own) for key in pairs] for own in (BAD, NONE))
    found = comparison.compare(old, new, mqm.MATESE, CHANCE)
    for test in (found.score, found.errors, found.major, found.balance, found.shift):
        assert test.bootstrap.low == test.bootstrap.high == test.bootstrap.difference


def test_without_resamples_there_are_no_intervals() -> None:
    found = comparison.compare(OLD[:1], NEW[:1], mqm.MATESE, Chance(0, 10, 0))
    assert np.isnan([found.score.bootstrap.low, found.score.bootstrap.p, *found.wins, found.errors.bootstrap.low]).all()
    figures, _ = comparison.measure([OLD], mqm.MATESE, Chance(0))
    assert np.isnan(figures[0]["score"].low)


def test_one_segment_is_too_few_for_a_bootstrap() -> None:
    with pytest.raises(ValueError, match=r"^1 segment: must be 2 or more for a bootstrap .0 resamples: none.$"):
        comparison.measure([OLD[:1], NEW[:1]], mqm.MATESE, CHANCE)

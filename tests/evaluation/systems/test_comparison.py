from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from matese import mqm
from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey
from matese.errors import InputError
from matese.evaluation.statistics import permutation_test
from matese.evaluation.systems import comparison
from matese.evaluation.systems.comparison import PairComparison
from matese.evaluation.systems.sampling import Sampling
from tests.evaluation.material import major, minor

SAMPLING = Sampling(bootstrap=200, permutations=400, seed=3)


def ratings(*errors: tuple[ErrorSpan, ...]) -> list[Rating]:
    return [Rating(Segment(f"Das ist Satz {number}."), None, own) for number, own in enumerate(errors)]


Spans = tuple[ErrorSpan, ...]
NONE: Spans = ()
BAD: Spans = (major(0, 3),)
SOME: Spans = (minor(0, 3),)
OLD = ratings(BAD, BAD, SOME, NONE, BAD, SOME, BAD, SOME)
NEW = ratings(NONE, NONE, SOME, NONE, SOME, NONE, NONE, NONE)


def compare(first: list[Rating], second: list[Rating], sampling: Sampling = SAMPLING) -> PairComparison:
    return comparison.compare({"first": first, "second": second}, sampling=sampling).pairs["first", "second"]


def test_better_system() -> None:
    found = compare(OLD, NEW)
    score = found.score.bootstrap
    assert score.value == pytest.approx(-2 / 8 - -23 / 8)
    assert 0 < score.low < score.value < score.high
    assert (found.losses, found.wins, found.ties) == pytest.approx((0, 1, 0))
    assert found.major.bootstrap.value == -0.5
    assert found.errors.bootstrap.value == (2 - 7) / 8
    assert found.n_changes() == {"fixed": 5, "introduced": 0, "softened": 1, "worsened": 0, "kept": 1}
    # Errors introduced minus errors fixed is the difference of the numbers of errors.
    assert found.net_introduced == found.errors
    assert found.net_worsened.bootstrap.value == -1 / 8
    assert found.errors.bootstrap.value * 8 == found.n_changes()["introduced"] - found.n_changes()["fixed"]


def test_permutation_is_that_of_scipy() -> None:
    first, second = (np.array([mqm.score(one) for one in own]) for own in (OLD, NEW))
    exact = scipy.stats.permutation_test(
        (first, second), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf
    )
    # All flips of few segments are made.
    assert permutation_test.two_sided_p(first, second, n_permutations=10, seed=1) == pytest.approx(exact.pvalue)
    assert permutation_test.two_sided_p(np.array([1.0, 2, 3]), np.zeros(3), n_permutations=10, seed=1) == 0.25
    many = [np.tile(own, 2) for own in (first, second)]
    exact = scipy.stats.permutation_test(
        many, lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf
    )
    ours = permutation_test.two_sided_p(many[0], many[1], n_permutations=4000, seed=1)
    assert ours == pytest.approx(exact.pvalue, abs=0.02)
    turned = permutation_test.two_sided_p(many[1], many[0], n_permutations=4000, seed=1)
    assert turned == pytest.approx(ours, abs=0.02)


def test_equal_systems_do_not_differ() -> None:
    found = compare(OLD, OLD)
    assert (found.score.p_permutation, found.score.bootstrap.p) == (1, 1)
    assert (found.losses, found.wins, found.ties) == (0, 0, 1)


def test_all_figures_are_drawn_within_language_pairs() -> None:
    """With one segment a pair every resample is the corpus: no interval has a width."""
    pairs = [SegmentKey(lang_pair=f"en-{name}") for name in ("de", "ru")]
    old, new = ([Rating(Segment("Das", key=key), None, own) for key in pairs] for own in (BAD, NONE))
    found = compare(old, new)
    for test in (
        found.score,
        found.errors,
        found.major,
        found.net_introduced,
        found.net_worsened,
    ):
        assert test.bootstrap.low == test.bootstrap.high == test.bootstrap.value


def test_without_resamples_there_are_no_intervals() -> None:
    systems = comparison.compare({"first": OLD[:1], "second": NEW[:1]}, sampling=Sampling(bootstrap=0, permutations=10))
    found = systems.pairs["first", "second"]
    score = found.score.bootstrap
    assert np.isnan([score.low, score.p, found.wins, found.losses, found.ties, found.errors.bootstrap.low]).all()
    assert np.isnan(systems.figures["first"]["score"].low)


def test_one_segment_is_too_few_for_a_bootstrap() -> None:
    with pytest.raises(InputError, match=r"^1 segment; intervals need 2 or more; give --bootstrap 0 "):
        compare(OLD[:1], NEW[:1])

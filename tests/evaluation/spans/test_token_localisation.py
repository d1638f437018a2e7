from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matese.annotation import TokenScores
from matese.evaluation.spans import token_localisation
from matese.evaluation.statistics import bootstrap
from tests.evaluation.material import major, minor

tokens = st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.1, 0.5, 0.5, 2.0, 5.0])), min_size=1, max_size=10)


def scores(*rows: tuple[float, ...]) -> TokenScores:
    return TokenScores(tuple((2 * i, 2 * i + 2) for i in range(len(rows))), rows)


@settings(deadline=None)  # the first call loads a library
@given(tokens)
def test_auc_is_that_of_scikit_learn_and_of_all_pairs(given_tokens: list[tuple[bool, float]]) -> None:
    from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]

    is_bad, values = (np.array(column) for column in zip(*given_tokens, strict=True))
    found = token_localisation.auc(is_bad, values)
    if is_bad.all() or not is_bad.any():
        assert np.isnan(found)
        return
    pairs = [(bad > good) + (bad == good) / 2 for bad in values[is_bad] for good in values[~is_bad]]
    assert found == pytest.approx(np.mean(pairs))
    assert found == pytest.approx(roc_auc_score(is_bad, values))


@settings(deadline=None)  # the first call loads a library
@given(tokens)
def test_recall_at_k_is_that_of_a_random_order_of_ties(given_tokens: list[tuple[bool, float]]) -> None:
    is_bad, values = (np.array(column) for column in zip(*given_tokens, strict=True))
    k = int(is_bad.sum())
    if k == 0:
        assert np.isnan(token_localisation.recall_at_k(is_bad, values))
        return
    rng = np.random.default_rng(0)
    found = []
    for _ in range(1 if len(set(values)) == len(values) else 400):
        order = rng.permutation(len(values))
        best = order[np.argsort(-values[order], kind="stable")][:k]
        found.append(is_bad[best].mean())
    assert token_localisation.recall_at_k(is_bad, values) == pytest.approx(np.mean(found), abs=0.12)


def test_badness_is_five_times_major_and_minor() -> None:
    given_scores = scores((0.5, 0.1, 0.2, 0.05, 0.15), (1.0, 0.0, 0.0, 0.0, 0.0))
    assert token_localisation.badness(given_scores).tolist() == pytest.approx([5 * 0.2 + 0.3, 0.0])


def test_bad_tokens_share_a_character() -> None:
    ranges = ((0, 2), (2, 2), (2, 4), (5, 6))
    assert token_localisation.bad_tokens([minor(3, 5)], ranges).tolist() == [False, False, True, False]
    assert token_localisation.bad_tokens([], ranges).tolist() == [False] * 4


def test_means_over_segments_with_bad_tokens_and_others() -> None:
    sure = (0.0, 0.0, 0.0, 1.0, 0.0)
    unsure = (1.0, 0.0, 0.0, 0.0, 0.0)
    found = token_localisation.statistic(
        [[major(0, 2)], [major(0, 2)], [], [major(0, 4)], [major(0, 2)]],
        [scores(sure, unsure), scores(unsure, sure), scores(sure, unsure), scores(sure, sure), None],
    ).figures(bootstrap.whole_sample(5))
    assert {name: float(values[0]) for name, values in found.items()} == {
        "localisation.auc": 0.5,
        "localisation.recall_at_k": 0.5,
    }


def test_no_segment_to_measure() -> None:
    found = token_localisation.statistic([[]], [scores()]).figures(bootstrap.whole_sample(1))
    assert np.isnan(found["localisation.auc"]).all()

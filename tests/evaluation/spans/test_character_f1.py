from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese.annotation import ErrorSpan, Severity
from matese.evaluation.spans import character_f1
from matese.evaluation.spans.rating_pairs import RatingPair
from matese.evaluation.statistics import bootstrap
from tests.evaluation.material import WORKED, major, minor, pair, pairs


def figures(*given_pairs: RatingPair) -> dict[str, float]:
    found = character_f1.statistic(given_pairs).figures(bootstrap.whole_sample(len(given_pairs)))
    return {name: float(values[0]) for name, values in found.items()}


def rates(given_pairs: list[RatingPair], task: str) -> tuple[float, float, float]:
    found = figures(*given_pairs)
    return found[f"{task}.precision"], found[f"{task}.recall"], found[f"{task}.f1"]


def oracle(given_pairs: list[RatingPair], task: str) -> tuple[float, float, float]:
    """Character by character and span by span, as the tasks describe it."""
    hits = n_gold = n_predicted = 0.0
    for one in given_pairs:
        for place in range(len(one.gold.segment.hypothesis)):
            gold, predicted = (
                [span.severity for span in side if span.start <= place < span.end]
                for side in (one.gold_spans, one.predicted_spans)
            )
            if task == "char_wmt23":
                n_gold += bool(gold)
                n_predicted += bool(predicted)
                if gold and predicted:
                    hits += 1.0 if set(gold) & set(predicted) else 0.5
            else:
                n_gold += len(gold)
                n_predicted += len(predicted)
                unmatched = Counter(gold) - Counter(predicted)
                rest = Counter(predicted) - Counter(gold)
                hits += len(gold) - unmatched.total() + 0.5 * min(unmatched.total(), rest.total())
    empty = math.nan if task == "char_wmt23" else 1.0
    precision = hits / n_predicted if n_predicted else empty
    recall = hits / n_gold if n_gold else empty
    return precision, recall, 0.0 if precision + recall == 0 else 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize("task", ["char_wmt23", "char_wmt25"])
def test_worked_case(task: str) -> None:
    assert rates([WORKED], task) == pytest.approx((0.28125, 9 / 28, 0.3), abs=1e-12)


@given(st.lists(pairs, min_size=1, max_size=4), st.sampled_from(["char_wmt23", "char_wmt25"]))
def test_oracle(given_pairs: list[RatingPair], task: str) -> None:
    assert rates(given_pairs, task) == pytest.approx(oracle(given_pairs, task), nan_ok=True)


NAN = math.nan


@pytest.mark.parametrize(
    ("one", "wmt23", "wmt25"),
    [
        (pair([], []), (NAN, NAN, NAN), (1.0, 1.0, 1.0)),
        (pair([], [], text=""), (NAN, NAN, NAN), (1.0, 1.0, 1.0)),
        (pair([major(0, 4)], []), (NAN, 0.0, NAN), (1.0, 0.0, 0.0)),
        (pair([ErrorSpan(0, 4, Severity.CRITICAL)], [major(0, 4)]), (1.0, 1.0, 1.0), (1.0, 1.0, 1.0)),
        # Gold with both severities: 2023 gives 1 for either, 2025 counts both spans and gives one of them.
        (pair([minor(0, 4), major(0, 4)], [major(0, 4)]), (1.0, 1.0, 1.0), (1.0, 0.5, 2 / 3)),
        # Two spans over one another count twice in 2025 alone.
        (pair([minor(0, 4)], [minor(0, 4), minor(0, 4)]), (1.0, 1.0, 1.0), (0.5, 1.0, 2 / 3)),
    ],
)
def test_of_one_segment(one: RatingPair, wmt23: tuple[float, ...], wmt25: tuple[float, ...]) -> None:
    assert rates([one], "char_wmt23") == pytest.approx(wmt23, nan_ok=True)
    assert rates([one], "char_wmt25") == pytest.approx(wmt25)


def test_plain_mean_over_language_pairs() -> None:
    large = [pair([minor(0, 10)], [minor(0, 10)], lang_pair="en-de") for _ in range(5)]
    small = pair([minor(0, 4)], [minor(2, 4)], lang_pair="zh-en")
    assert rates([*large, small], "char_wmt23") == pytest.approx((1.0, 0.75, (1 + 2 / 3) / 2))


def test_a_sample_without_a_language_pair_is_of_the_others() -> None:
    scores = character_f1.statistic(
        [pair([minor(0, 4)], [minor(0, 4)], lang_pair="en-de"), pair([minor(0, 4)], [], lang_pair="zh-en")]
    )
    assert scores.figures(np.array([[2.0, 0.0], [1.0, 1.0]]))["char_wmt25.recall"].tolist() == [1.0, 0.5]

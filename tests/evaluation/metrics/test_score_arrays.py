from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from matese.evaluation.metrics import score_arrays
from matese.evaluation.metrics.score_arrays import Scores
from matese.evaluation.statistics.arrays import row_means

NAN = np.nan


def table(name: str, **rows: list[float]) -> Scores:
    segments = np.array(list(rows.values()), dtype=float)
    return Scores(name, tuple(rows), row_means(segments), segments)


def test_from_segments_keeps_what_is_missing() -> None:
    made = score_arrays.from_segments("mqm", {"A": {1: -1.0, 2: None}, "B": {2: -3.0}, "C": {}}, [1, 2])
    assert made.segment is not None
    assert made.segment.tolist()[1][1] == -3
    assert np.isnan(made.segment).tolist() == [[False, True], [True, False], [True, True]]
    assert made.system.tolist()[:2] == [-1.0, -3.0]
    assert np.isnan(made.system[2])


def test_a_system_stands_once() -> None:
    with pytest.raises(ValueError, match="mqm names a system twice; it must score each once"):
        Scores("mqm", ("A", "A"), np.zeros(2))


@pytest.mark.parametrize(("system", "segment"), [(np.zeros(3), None), (np.zeros(2), np.zeros((3, 2)))])
def test_shapes_fit(system: np.ndarray, segment: np.ndarray | None) -> None:
    with pytest.raises(ValueError, match=r"mqm: scores of other shapes than \(2,\) and \(2, segments\)"):
        Scores("mqm", ("A", "B"), system, segment)


def test_match_orders_the_systems_and_leaves_out_others() -> None:
    gold = table("mqm", A=[1.0, 2.0], B=[3.0, NAN])
    metric = table("BLEU", C=[9, 9], B=[5, NAN], A=[6, 7])
    matched = score_arrays.match(gold, metric)
    assert matched.systems == ("A", "B")
    assert matched.segment is not None
    assert matched.segment[0].tolist() == [6, 7]


GOLD = table("mqm", A=[1.0, 2.0], B=[3.0, 4.0])


@pytest.mark.parametrize(
    ("metric", "problem"),
    [
        (table("BLEU", A=[1.0, 2.0]), "lacks system B"),
        (Scores("BLEU", ("A", "B"), np.ones(2), np.array([[1, 1], [NAN, NAN]])), "lacks segment 1 of system B"),
        (table("BLEU", A=[1.0], B=[1.0]), "scores 1 segment a system and mqm 2"),
        (Scores("BLEU", ("A", "B"), np.array([1.0, NAN])), "has no score of system B"),
    ],
)
def test_match_names_what_is_lacking(metric: Scores, problem: str) -> None:
    with pytest.raises(ValueError, match=f"BLEU {problem}"):
        score_arrays.match(GOLD, metric)


def test_match_without_segments_on_one_side() -> None:
    gold = table("mqm", A=[1.0], B=[2.0])
    metric = table("BLEU", A=[3.0], B=[4.0])
    assert score_arrays.match(replace(gold, segment=None), metric).segment is None
    assert score_arrays.match(gold, replace(metric, segment=None)).segment is None


def test_outliers() -> None:
    values = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 30.0])
    # Median 2.5, median distance 1.5: the cut is at 2.5 * 1.483 * 1.5 = 5.56.
    assert score_arrays.outliers(values).tolist() == [False] * 5 + [True]
    assert score_arrays.outliers(np.array([2.5 - 5.57, 1, 2, 3, 4, 30.0]))[0]
    assert not score_arrays.outliers(np.array([1.0, 1.0, 1.0, 9.0])).any()

"""The arithmetic of `benchmarks.choosing`, on ratings written by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

import matese
from benchmarks import choosing
from matese.annotation import SegmentKey
from tests.benchmarks.test_quality import GOLD, rating


def test_human_translations_are_no_candidates() -> None:
    human = replace(rating("A", 0, 0).segment, key=SegmentKey("newstest", "en-de", "refA", None, 0))
    groups = choosing.by_source([*GOLD, replace(GOLD[0], segment=human)])
    assert [len(of_source) for of_source in groups] == [3, 3, 3]


def test_ways_and_judges() -> None:
    groups = choosing.by_source(GOLD)
    annotator = matese.load("mini")
    judged, _, _ = choosing.judge(groups, annotator)
    assert judged["MQM"][0] == [-2, 0, -1]
    indices = choosing.best_systems(groups)
    assert indices == [[1], [1], [1]]
    best = choosing.measure(judged, indices)
    assert best["MQM"] == 0
    assert best["difference"][0] == pytest.approx((3 + 2 + 3) / 9)
    assert choosing.measure(judged, [[0, 1, 2]] * 3)["difference"] == [0, 0, 0]


def test_each_way_is_computed_on_demand() -> None:
    groups = choosing.by_source(GOLD)
    annotator = matese.load("mini")
    judged, ratings, lists = choosing.judge(groups, annotator)
    ways = choosing.ways(groups, lists, ratings, judged, annotator)
    assert ways["best by MQM (bound)"]() == ways["best system of each test set"]() == [[1], [1], [1]]
    assert ways["average system"]() == [[0, 1, 2]] * 3

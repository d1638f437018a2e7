from __future__ import annotations

import numpy as np
import pytest

from matese.annotation import Estimate, Rating, Segment
from matese.errors import InputError
from matese.evaluation.systems import system_ranking
from matese.evaluation.systems.system_ranking import RankedSystem
from matese.mqm import SystemSummary


def summary(name: str, scores: np.ndarray, expected: np.ndarray | None = None) -> SystemSummary:
    # The first half of the segments is of one language pair, the rest of another.
    lang_pairs = ["en-de" if number < len(scores) / 2 else "en-ru" for number in range(len(scores))]
    made = SystemSummary(name, n_segments=len(scores), lang_pairs=lang_pairs)
    made.scores.extend(scores.tolist())
    made.expected_scores.extend([] if expected is None else expected.tolist())
    return made


def test_many_segments_have_the_figures_of_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    first = -rng.exponential(3, size=4000)
    first[2000:] -= 10
    second = first + rng.normal(0.03, 1, size=4000)

    def measure() -> list[RankedSystem]:
        return system_ranking.rank([summary("a", first), summary("b", second)])

    drawn = measure()
    monkeypatch.setattr(system_ranking, "_MANY", 3000)
    for one, other in zip(drawn, measure(), strict=True):
        assert one.score is not None
        assert other.score is not None
        assert (one.score.low, one.score.high) == pytest.approx((other.score.low, other.score.high), abs=0.01)
        assert one.score.value == pytest.approx(other.score.value)
        assert one.p == (None if other.p is None else pytest.approx(other.p, abs=0.02))


def test_systems_of_other_sizes_and_scores_are_not_compared() -> None:
    ones = np.full(5, -1.0)
    shorter = system_ranking.rank([summary("a", ones), summary("b", ones[:4])])
    equal = summary("a", ones)
    assert [one.p for one in shorter] == [None, None]
    assert [one.p for one in system_ranking.rank([equal, equal])] == [None, 1.0]
    only, mixed = system_ranking.rank([summary("a", ones, ones / 2), summary("b", ones)])
    assert only.expected_score is mixed.expected_score is None
    (alone,) = system_ranking.rank([summary("a", ones[:1], ones[:1] / 2)])
    assert alone.expected_score is not None
    assert alone.rank_score == -0.5
    assert alone.score is not None
    assert np.isnan(alone.score.low)


def test_systems_without_spans_are_ranked_by_the_score_of_their_model() -> None:
    def scored(name: str, values: list[float]) -> SystemSummary:
        made = SystemSummary(name)
        for value in values:
            made.add(Rating(Segment("Gut"), "model", None, estimate=Estimate(value, "comet")))
        return made

    summaries = [scored("a", [0.1, 0.2, 0.3]), scored("b", [0.4, 0.5, 0.7])]
    worse, better = system_ranking.rank(summaries)
    assert worse.score is better.score is None
    assert worse.expected_score is not None
    assert (worse.rank_score, worse.expected_score.value) == pytest.approx((0.2, 0.2))
    assert (summaries[0].score, summaries[0].has_spans) == (None, False)
    with pytest.raises(InputError, match="not all segments have spans; rank by"):
        system_ranking.rank(summaries, "spans")

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matese.evaluation.spans import confidence_calibration
from matese.evaluation.spans.rating_pairs import RatingPair
from matese.evaluation.statistics import bootstrap
from tests.evaluation.material import minor, pair

confident = st.lists(st.tuples(st.integers(0, 100).map(lambda n: n / 100), st.booleans()), min_size=1, max_size=20)


def make(marks: list[tuple[float, bool]]) -> list[RatingPair]:
    """One segment a span, hit or not."""
    return [pair([minor(0, 4)] if is_hit else [], [minor(3, 6, confidence=p)]) for p, is_hit in marks]


def ece(pairs: list[RatingPair]) -> float:
    return float(
        confidence_calibration.statistic(pairs).figures(bootstrap.whole_sample(len(pairs)))["calibration.ece"][0]
    )


@settings(deadline=None)  # the first call loads a library
@given(confident)
def test_as_torchmetrics_has_it(marks: list[tuple[float, bool]]) -> None:
    import torch
    from torchmetrics.functional.classification import binary_calibration_error

    # Its bins hold their lower edge and ours their upper one, as Guo et al. write them: no number stands on an edge.
    marks = [(min(0.995, p + 0.005), is_hit) for p, is_hit in marks]
    confidences, hits = (torch.tensor([mark[at] for mark in marks]) for at in (0, 1))
    expected = binary_calibration_error(confidences.double(), hits.int(), n_bins=10, norm="l1")
    assert ece(make(marks)) == pytest.approx(float(expected), abs=1e-6)


def test_edges() -> None:
    given_pairs = make([(0.0, True), (0.1, True), (0.3, True), (0.7, False), (1.0, True)])
    bins = confidence_calibration.reliability(confidence_calibration.statistic(given_pairs))
    assert [one.n for one in bins] == [2, 0, 1, 0, 0, 0, 1, 0, 0, 1]
    assert (bins[0].low, bins[0].high, bins[0].confidence, bins[0].precision) == (0.0, 0.1, 0.05, 1.0)
    assert (bins[1].confidence, bins[1].precision) == (None, None)


def test_spans_without_confidence_do_not_count() -> None:
    assert np.isnan(ece([pair([], [minor(0, 3)])]))
    assert ece([pair([], [minor(0, 3), minor(5, 6, confidence=0.4)])]) == pytest.approx(0.4)

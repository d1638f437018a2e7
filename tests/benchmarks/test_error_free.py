"""The arithmetic of `benchmarks.error_free`, on decisions written by hand."""

from __future__ import annotations

import numpy as np

from benchmarks import error_free
from matese.annotation import Segment, SegmentKey


def test_a_model_is_measured_beside_its_baselines() -> None:
    segments = [
        Segment("a b", f"source {number // 2}", key=SegmentKey(lang_pair="en-de" if number < 20 else "en-cs"))
        for number in range(40)
    ]
    golds = np.array([1.0, 0.0] * 20)
    perfect = [bool(gold) for gold in golds]
    wrong = [not label for label in perfect]
    decisions = {error_free.MODEL: perfect, error_free.UNMARKED: [True] * 40, error_free.LENGTH: wrong}
    measured = error_free.measure(decisions, segments, golds)
    mccs = {name: row["mcc"] for name, row in measured["rows"].items()}
    assert mccs == {error_free.MODEL: 1.0, error_free.UNMARKED: 0.0, error_free.LENGTH: -1.0}
    model = measured["rows"][error_free.MODEL]
    assert model["mcc_by_pair"] == {"en-cs": 1.0, "en-de": 1.0}
    assert (model["model_minus"], model["standard_error"]) == (0, 0)
    assert measured["rows"][error_free.LENGTH]["model_minus"] == 2
    assert (measured["segments"], measured["sources"]) == (40, 20)
    assert error_free.rows(measured)[0][1] == "1.000"

"""The parts of a training step that the benchmark of the host measures."""

from __future__ import annotations

import pytest

from benchmarks import training_host
from tests.training.material import RATINGS


def test_parts_of_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_host, "_N_RUNS", 1)
    parts = training_host.measure(RATINGS)
    assert all(seconds >= 0 for seconds in parts.values())
    batch, *rest = parts
    step = rest.pop()
    assert (batch, step) == ("batch (in a worker)", "step, without the batch")
    assert parts[step] == pytest.approx(sum(parts[name] for name in rest))

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese.evaluation.statistics import bootstrap
from matese.evaluation.systems import agreement

segments = st.lists(
    st.tuples(st.integers(2, 4), st.integers(0, 5)).flatmap(
        lambda shape: st.lists(
            st.lists(st.integers(0, 2), min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
        ).map(lambda rows: np.array(rows, dtype=np.int64).reshape(shape))
    ),
    min_size=1,
    max_size=4,
)


def figures(given_segments: list[np.ndarray]) -> dict[str, float]:
    found = agreement.alpha_statistic(given_segments, 3).figures(bootstrap.whole_sample(len(given_segments)))
    return {name: float(values[0]) for name, values in found.items()}


def oracle(given_segments: list[np.ndarray]) -> float:
    """1 - observed / expected disagreement, pair of values by pair of values."""
    units = [column.tolist() for segment in given_segments for column in segment.T]
    values = [value for unit in units for value in unit]
    n = len(values)
    observed = sum(
        sum(a != b for i, a in enumerate(unit) for j, b in enumerate(unit) if i != j) / (len(unit) - 1)
        for unit in units
    )
    expected = sum(a != b for i, a in enumerate(values) for j, b in enumerate(values) if i != j) / max(1, n - 1)
    return 1 - observed / expected if expected else float("nan")


@given(segments)
def test_oracle(given_segments: list[np.ndarray]) -> None:
    found = figures(given_segments)
    assert found["alpha.severity"] == pytest.approx(oracle(given_segments), nan_ok=True)
    marked = [np.minimum(segment, 1) for segment in given_segments]
    assert found["alpha.marked"] == pytest.approx(oracle(marked), nan_ok=True)


def test_published_example() -> None:
    # Krippendorff 2011, section C: four observers, twelve units, some values missing; nominal alpha is 0.743.
    missing = 0
    table = np.array(
        [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, missing, missing, missing],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, missing, 3],
            [missing, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, missing],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, missing],
        ]
    )
    units = [column[column != missing][:, np.newaxis] - 1 for column in table.T]
    matrices = sum(agreement.coincidences(unit, 5) for unit in units if len(unit) > 1)
    assert agreement.alpha(np.array([matrices]))[0] == pytest.approx(0.743, abs=0.0005)

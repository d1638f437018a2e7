"""Annotations made from arrays are written as any others, in every format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from matese import ErrorSpan, Estimate, Omission, Overall, Rating, Segment, SegmentKey, Severity, write
from matese.annotation import Votes
from matese.formats.registry import TABLE
from tests.formats.test_round_trips import NEEDS, ON_TEMPLATES

ZERO: Any = np.int64(0)
FOUR: Any = np.int64(4)
EIGHT: Any = np.int32(8)
HALF: Any = np.float32(0.5)
RATING = Rating(
    Segment(
        "Das Haus", "The house", ("Ein Haus",), SegmentKey("ts", "en-de", "A", "doc", ZERO, "news"), {"n": np.arange(2)}
    ),
    "anna",
    (ErrorSpan(FOUR, EIGHT, Severity.MAJOR, "Style", HALF, Votes(HALF, HALF)),),
    source_errors=(ErrorSpan(FOUR, EIGHT, Severity.MINOR),),
    omissions=(
        Omission("source", None, FOUR, EIGHT, Severity.MINOR, confidence=HALF),
        Omission("reference", ZERO, FOUR, EIGHT, Severity.MINOR),
    ),
    overall=Overall(HALF, "esa"),
    estimate=Estimate(HALF, "mqm", HALF, HALF, HALF),
)


@pytest.mark.parametrize("name", [form.name for form in TABLE if form.writes and form.name not in ON_TEMPLATES])
def test_numbers_of_numpy_are_written(name: str, tmp_path: Path) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    write([RATING], tmp_path / "written", format=name)
    assert (tmp_path / "written").exists()


def test_a_fraction_is_no_offset() -> None:
    with pytest.raises(TypeError):
        ErrorSpan(0.5, 3, None)  # type: ignore[arg-type]

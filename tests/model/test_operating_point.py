from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path

import pytest

import matese
from matese.model import operating_point
from matese.model.operating_point import OperatingPoint
from matese.model.storage import checkpoint

POINTS = tuple(OperatingPoint(value, value, 1 - value) for value in (0.1, 0.2, 0.5))


@pytest.mark.parametrize(("value", "expected"), [(0.01, 0), (0.1, 0), (0.19, 1), (0.34, 1), (0.36, 2), (0.99, 2)])
def test_the_nearest_point(value: float, expected: int) -> None:
    assert operating_point.nearest(POINTS, value) == POINTS[expected]
    assert operating_point.nearest((), value) is None


def test_a_model_that_was_not_calibrated_has_none(tiny_model_dir: Path) -> None:
    assert matese.operating_points(tiny_model_dir) == ()


def test_the_embedded_model_has_those_of_its_calibration() -> None:
    points = matese.operating_points()
    assert [point.min_confidence for point in points] == sorted(point.min_confidence for point in points)
    precisions = {point.min_confidence: point.precision for point in points}  # above 0.6, there are hardly any spans
    assert precisions[0.05] < precisions[0.25] < precisions[0.5] < precisions[0.6]
    assert all(before.recall >= after.recall for before, after in itertools.pairwise(points))


def test_a_corrupt_table_is_refused(tmp_path: Path) -> None:
    directory = Path(shutil.copytree(checkpoint.resolve("mini"), tmp_path / "mini"))
    config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    config["training"]["calibration"]["span_points"][0]["precision"] = "high"
    (directory / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(matese.ModelError, match="precision: "):
        matese.operating_points(directory)

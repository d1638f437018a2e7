"""Expected precision and recall by minimum confidence: the table that `matese calibrate` writes into a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matese.model.storage import checkpoint


@dataclass(frozen=True)
class OperatingPoint:
    """Agreement with the raters of the calibration data at a minimum confidence, over all kinds of input.

    Attributes:
        min_confidence: least confidence of a marked span.
        precision: share of the marked spans that share a character with a rater's span of any severity.
        recall: share of the raters' spans that share a character with a marked span of any severity.
    """

    min_confidence: float
    precision: float
    recall: float


def read(directory: Path) -> tuple[OperatingPoint, ...]:
    """Returns the operating points of a model, in order of confidence; none if it was not calibrated.

    Raises:
        ModelError: if the configuration is corrupt.
    """
    training = checkpoint.read_config(directory).training or {}
    points = training.get("calibration", {}).get("span_points", ())
    return checkpoint.convert(points, tuple[OperatingPoint, ...], directory / checkpoint.CONFIG)


def nearest(points: Sequence[OperatingPoint], min_confidence: float) -> OperatingPoint | None:
    """Returns the point with the nearest minimum confidence; None if there are no points."""
    return min(points, key=lambda point: abs(point.min_confidence - min_confidence), default=None)

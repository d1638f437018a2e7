"""Shows how far our scores and labels are from those of unbabel-comet, for the models that `comet/make.py` wrote.

python -m tests.regression.compare DIR
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import matese
from matese.annotation import Segment


def segments(texts: list[dict[str, str]], inputs: str) -> list[Segment]:
    """Returns the segments with the texts of these inputs."""
    return [
        Segment(
            text["mt"],
            text["src"] if "source" in inputs else None,
            (text["ref"],) if "reference" in inputs else (),
        )
        for text in texts
    ]


def differences(directory: Path, precision: str) -> Iterator[tuple[str, str, float, float, float]]:
    """Yields for each model and its inputs the largest and the mean difference of scores, and their correlation."""
    expected: dict[str, Any] = json.loads((directory / "expected.json").read_text(encoding="utf-8"))
    for name, found in expected["models"].items():
        annotator = matese.load(directory / name, precision=precision, device="cpu")
        for inputs, theirs in found.items():
            given = segments(expected["texts"], inputs)
            own = [rating.overall.value for rating in annotator.annotate_segments(given) if rating.overall]
            gaps = np.abs(np.array(own) - np.array(theirs["scores"]))
            correlation = float(np.corrcoef(own, theirs["scores"])[0, 1])
            yield name, inputs, float(gaps.max()), float(gaps.mean()), correlation


if __name__ == "__main__":
    for row in differences(Path(sys.argv[1]), (sys.argv[2:] or ["float32"])[0]):
        print("{:<16} {:<17} max {:.1e} mean {:.1e} r {:.6f}".format(*row))  # noqa: T201

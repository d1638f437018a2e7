"""This package with a released model of COMET: `Annotator.annotate_segments`."""

from __future__ import annotations

from collections import deque
from typing import Any

import matese
from benchmarks.speed import texts
from benchmarks.speed.worker import Prepared
from matese.annotation import Segment


def prepare(entry: dict[str, Any]) -> Prepared:
    """Loads the model in the directory `model`."""
    annotator = matese.load(
        entry["model"], device=entry["device"], precision=entry["precision"], threads=entry["threads"]
    )

    def run(limit: int | None) -> None:
        annotator.predictor.forget()  # or results of the warm-up would be reused
        given = (
            Segment(one["hypothesis"], one["source"], (one["reference"],)) for one in texts.read(entry["texts"], limit)
        )
        deque(annotator.annotate_segments(given), maxlen=0)

    return Prepared(run, sum(1 for _ in texts.read(entry["texts"])))

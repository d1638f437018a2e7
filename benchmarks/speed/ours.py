"""This package: `Annotator.annotate_segments` with its default options."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import matese
from benchmarks.speed import texts
from benchmarks.speed.worker import Prepared
from matese.annotation import Segment
from matese.inference.model_input import with_inputs


def prepare(entry: dict[str, Any]) -> Prepared:
    """Loads the model in the directory `model`."""
    annotator = matese.load(
        entry["model"], device=entry["device"], precision=entry["precision"], threads=entry["threads"]
    )

    def segments(limit: int | None) -> Iterator[Segment]:
        for text in texts.read(entry["texts"], limit):
            segment = Segment(text["hypothesis"], text["source"], (text["reference"],))
            yield with_inputs(segment, entry["inputs"]) if entry["inputs"] else segment

    def run(limit: int | None) -> None:
        annotator.predictor.forget()  # or results of the warm-up would be reused
        # Streamed, so that texts and ratings do not count as memory of the annotator.
        deque(annotator.annotate_segments(segments(limit)), maxlen=0)

    return Prepared(run, sum(1 for _ in texts.read(entry["texts"])))

"""Shows how far our scores and labels are from those of unbabel-comet, for the models that `comet/make.py` wrote.

python -m tests.model.released.compare DIR
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

import matese
from matese.annotation import Segment

_LONGEST = 510
"""Tokens to which unbabel-comet cuts a text that it embeds alone: `prepare_sample` in `comet/encoders/base.py`."""


def read_expected(directory: Path) -> dict[str, Any]:
    """Returns the texts, and what unbabel-comet computes of them, without translations of nothing.

    unbabel-comet reads a blank source or reference as an empty text; here it is a missing one.
    """
    expected: dict[str, Any] = json.loads((directory / "expected.json").read_text(encoding="utf-8"))
    kept = [not text["mt"].strip() or all(text[name].strip() for name in ("src", "ref")) for text in expected["texts"]]
    for of_model in expected["models"].values():
        for of_inputs in of_model.values():
            of_inputs |= {name: list(compress(values, kept)) for name, values in of_inputs.items()}
    return {**expected, "texts": list(compress(expected["texts"], kept))}


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


@dataclass(frozen=True)
class Difference:
    """How far our scores are from theirs.

    Attributes:
        model: its name.
        inputs: what it reads beside the hypothesis.
        fitting: largest difference of the segments that fit into the encoder.
        longer: largest difference of the others, which unbabel-comet cuts and we read in windows; 0 if there are none.
        n_longer: number of these.
    """

    model: str
    inputs: str
    fitting: float
    longer: float
    n_longer: int


def differences(directory: Path, precision: str) -> Iterator[Difference]:
    """Yields the differences of each model and its inputs."""
    expected = read_expected(directory)
    for name, by_inputs in expected["models"].items():
        annotator = matese.load(directory / name, precision=precision, device="cpu")
        for inputs, theirs in by_inputs.items():
            texts = segments(expected["texts"], inputs)
            ours = [rating.estimate.value for rating in annotator.annotate_segments(texts) if rating.estimate]
            is_longer = np.array([_is_longer(annotator, segment) for segment in texts])
            gaps = np.abs(np.array(ours) - np.array(theirs["scores"]))
            longer = float(gaps[is_longer].max(initial=0))
            yield Difference(name, inputs, float(gaps[~is_longer].max()), longer, int(is_longer.sum()))


def _is_longer(annotator: matese.Annotator, segment: Segment) -> bool:
    """Returns whether we read a segment in windows, or unbabel-comet cuts a text of it: to 510 tokens."""
    before = annotator.counts.windowed
    list(annotator.annotate_segments([segment]))  # remembered, so that nothing is computed again
    texts = [text for text in (segment.hypothesis, segment.source, *segment.references) if text is not None]
    n_tokens = max(len(tokens.ids) for tokens in annotator.predictor.text_encoder.tokenize(texts)) + 2
    return annotator.counts.windowed > before or n_tokens > _LONGEST


if __name__ == "__main__":
    for row in differences(Path(sys.argv[1]), (sys.argv[2:] or ["float32"])[0]):
        print(  # noqa: T201
            f"{row.model:<16} {row.inputs:<17} largest difference {row.fitting:.1e}; "
            f"of {row.n_longer} longer than the encoder {row.longer:.1e}"
        )

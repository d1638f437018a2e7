"""What a network predicts: for a window of a row, for a row, and for a segment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from matese.annotation import ErrorSpan, Omission, TokenScores
from matese.errors import ModelError
from matese.model.texts.encoding import Encoding, IntArray

FloatArray = npt.NDArray[np.floating]
"""What networks compute, in any precision; `evaluation.statistics.arrays` has that of figures."""


class Window(NamedTuple):
    """A network's output for an encoding.

    Attributes:
        encoding: the encoding.
        outputs: what each head says, by its name; without the heads that say nothing about the encoding.
    """

    encoding: Encoding
    outputs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Prediction:
    """A network's prediction for a hypothesis: for a row, for one reading, or for all readings of a segment.

    Attributes:
        hypothesis: the text.
        ranges: (tokens, 2), range of each token, half-open, in code points.
        outputs: what each head says, by its name, as its `decoding` describes it.
        score: the expected score; None for a row or one reading.
        is_windowed: whether the texts were too long to be read at once: in overlapping windows or, beside a short
            hypothesis, only the middle of a long source or reference.
        is_blank: whether the hypothesis is blank, so that the model did not read it.
    """

    hypothesis: str
    ranges: IntArray
    outputs: Mapping[str, Any]
    score: float | None = None
    is_windowed: bool = False
    is_blank: bool = False

    @property
    def log_probabilities(self) -> FloatArray:
        """The log-probabilities of the tags, which every tagger has, and no other model: (tokens, tags)."""
        rows: FloatArray = self.outputs["tags"]
        return rows

    def token_scores(self) -> TokenScores:
        """Returns the token ranges and tag probabilities as plain numbers."""
        probabilities = np.round(np.exp(self.log_probabilities), 6).tolist()
        return TokenScores(tuple(map(tuple, self.ranges.tolist())), tuple(map(tuple, probabilities)))


class Marks(NamedTuple):
    """What the heads mark in a segment.

    Attributes:
        errors: in the hypothesis; they may overlap until all heads have marked.
        omissions: words that the hypothesis lacks.
    """

    errors: tuple[ErrorSpan, ...] = ()
    omissions: tuple[Omission, ...] = ()


def check_numbers(output: FloatArray | float) -> None:
    """Raises a ModelError if the output of a model contains NaN."""
    if np.isnan(output).any():
        raise ModelError("the model's output is NaN: its weights must be finite and not too large")

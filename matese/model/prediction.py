"""What a network predicts: for a window of a row, for a row, and for a segment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from matese.annotation import ErrorSpan, Omission, TokenScores
from matese.errors import ModelError
from matese.model.arrays import Floats, Int32Array
from matese.model.texts.encoding import Encoding

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Outputs:
    """What the heads of a model say, each in a dataclass of its own.

    Attributes:
        by_type: what each head says, by its type; without the heads that say nothing.
    """

    by_type: Mapping[type, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, said: Iterable[object]) -> Self:
        """Returns the outputs of several heads; None stands for a head that says nothing."""
        return cls({type(output): output for output in said if output is not None})

    def get(self, kind: type[T]) -> T | None:
        """Returns what the head with this type of output says; None if it says nothing."""
        return self.by_type.get(kind)

    def __getitem__(self, kind: type[T]) -> T:
        """Returns what the head with this type of output says."""
        output: T = self.by_type[kind]
        return output

    def changed(self, output: object) -> Self:
        """Returns the outputs with another one in place of that of the same type."""
        return type(self)({**self.by_type, type(output): output})


class WindowOutput(NamedTuple):
    """A network's output for an encoding.

    Attributes:
        encoding: the encoding.
        outputs: what each head says about it.
    """

    encoding: Encoding
    outputs: Outputs


@dataclass(frozen=True, slots=True)
class TagProbabilities:
    """What every tagger says, and no other model.

    Attributes:
        values: (tokens, tags), log-probabilities of `tags.bio.TAGS`.
    """

    values: Floats


class Prediction(NamedTuple):
    """A network's prediction for a hypothesis: for a row, for one reading, or for all readings of a segment.

    Attributes:
        hypothesis: the text.
        ranges: (tokens, 2), range of each token, half-open, in code points.
        outputs: what each head says.
        score: the expected score, not rounded; None for a row or one reading.
        is_windowed: whether a sentence was too long to be read at once, or any text by a model that reads no pieces.
        is_blank: whether the hypothesis is blank, so that the model did not read it.
        n_pieces: number of pieces that were read beside the whole; 1 for a text that was read at once.
    """

    hypothesis: str
    ranges: Int32Array
    outputs: Outputs
    score: float | None = None
    is_windowed: bool = False
    is_blank: bool = False
    n_pieces: int = 1

    @property
    def log_probabilities(self) -> Floats:
        """The log-probabilities of a tagger's tags: (tokens, tags)."""
        return self.outputs[TagProbabilities].values

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


def check_numbers(outputs: Sequence[Floats] | Sequence[float]) -> None:
    """Raises a ModelError if an output of a model contains NaN."""
    if outputs and np.isnan(np.concatenate(outputs) if isinstance(outputs[0], np.ndarray) else outputs).any():
        raise ModelError("the model's output is NaN: its weights must be finite and not too large")

"""What computes the predictions of a tagger, by whatever library: torch, ONNX Runtime or numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from matese.encoder.encoding import Encoding
from matese.tagger.prediction import FloatArray


class Output(NamedTuple):
    """What a model computes for an encoding.

    Attributes:
        encoding: what was read.
        log_probabilities: (hypothesis tokens, tags).
        score: of the score head; None without one.
        lacking: (tokens of the last context,), probability that the hypothesis lacks the token; None without a head.
        categories: (hypothesis tokens, categories), see `Prediction.categories`; None without a head.
    """

    encoding: Encoding
    log_probabilities: FloatArray
    score: float | None
    lacking: FloatArray | None
    categories: FloatArray | None


Job = Callable[[], Sequence[Output]]
"""Computes prepared encodings, and returns the output for each."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What a model runs on; the values are those of `matese.load`."""

    device: str
    precision: str
    batch_tokens: int | None
    threads: int | None


class Engine(Protocol):
    """A model that computes encodings.

    Attributes:
        precision: "bf16" or "float32".
        is_async: whether it computes on another processor, while this one goes on.
        batch_tokens: padded tokens that it computes together at most, as asked for.
        lowered_batch_tokens: the same since the device ran out of memory; None if it did not.
    """

    precision: str
    is_async: bool
    batch_tokens: int
    lowered_batch_tokens: int | None

    def prepare(self, encodings: Sequence[Encoding]) -> Job:
        """Returns what computes the encodings. It does the part that needs no device, and may run in another thread."""

"""What computes a model, by whatever library: torch, ONNX Runtime or numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from matese.encoder.encoding import Encoding

WindowT_co = TypeVar("WindowT_co", covariant=True)
"""What a model computes for one encoding, a window of a row."""


@dataclass(frozen=True, slots=True)
class Hardware:
    """What a model runs on; the values are those of `matese.load`."""

    device: str = "auto"
    precision: str = "auto"
    batch_tokens: int | None = None
    threads: int | None = None


class Engine(Protocol[WindowT_co]):
    """A model that computes encodings.

    Attributes:
        precision: "bf16" or "float32".
        is_async: whether it computes on another processor, while this one goes on.
        batch_tokens: most padded tokens of a batch.
        lowered_batch_tokens: the same since the device ran out of memory; None if it did not.
    """

    precision: str
    is_async: bool
    batch_tokens: int
    lowered_batch_tokens: int | None

    @property
    def module(self) -> Any:  # noqa: ANN401  (torch is imported by models that need it)
        """The model in torch; None if another library computes it."""

    def prepare(self, encodings: Sequence[Encoding]) -> Callable[[], Sequence[WindowT_co]]:
        """Returns what computes the encodings. It does the part that needs no device, and may run in another thread."""

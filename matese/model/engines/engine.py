"""The interface of an engine, which computes a model with torch or numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from matese.model.heads.head import Combine
from matese.model.prediction import WindowOutput
from matese.model.texts.encoding import Encoding
from matese.validation.options import Count, Options


@dataclass(frozen=True)
class Hardware(Options):
    """Device and precision of a model; see `matese.load` for the values."""

    device: str = "auto"
    precision: str = "auto"
    batch_tokens: Count | None = None
    threads: Count | None = None
    engine: str = "auto"


class Engine(Protocol):
    """A model that computes encodings.

    Attributes:
        precision: "bf16" or "float32".
        is_async: whether it computes on another processor while the program continues.
        batch_tokens: most padded tokens of a batch.
        lowered_batch_tokens: `batch_tokens` since the device ran out of memory; None if it did not.
    """

    precision: str
    is_async: bool
    batch_tokens: int
    lowered_batch_tokens: int | None

    @property
    def module(self) -> Any:  # noqa: ANN401  (torch is imported by models that need it)
        """The torch module; None if another library computes the model."""

    @property
    def combine(self) -> Combine | None:
        """Scores embeddings of texts that were read alone; None if the engine cannot."""

    def prepare(self, encodings: Sequence[Encoding]) -> Callable[[], Sequence[WindowOutput]]:
        """Returns a function that computes the encodings. `prepare` needs no device and may run in another thread."""

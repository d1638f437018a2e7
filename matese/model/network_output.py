"""What a network says of a batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from matese.model.heads import registry
from matese.model.prediction import Window
from matese.model.texts.encoding import Encoding


@dataclass(frozen=True, slots=True)
class NetworkOutput:
    """Output of any network for a batch.

    Attributes:
        of_heads: what each head says, by its name, see its class.
    """

    of_heads: Mapping[str, Any]

    @property
    def tag_logits(self) -> Tensor:
        """What every tagger says: (batch, hypothesis tokens, tags), float32."""
        logits: Tensor = self.of_heads["tags"]
        return logits

    @property
    def score(self) -> Tensor | None:
        """(batch,), float32, between LOWEST_SCORE and 0; None without a score head."""
        return self.of_heads.get("score")

    def windows(self, encodings: Sequence[Encoding]) -> Iterator[Window]:
        """Yields the output of each row of the batch, without padding."""
        networks = registry.networks()
        names = list(self.of_heads)
        columns = [networks[name].rows(self.of_heads[name], encodings) for name in names]
        for encoding, *values in zip(encodings, *columns, strict=True):
            said = {name: value for name, value in zip(names, values, strict=True) if value is not None}
            yield Window(encoding, said)

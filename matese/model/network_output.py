"""What a network says of a batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch import Tensor

from matese.model.heads.networks import HeadOutput
from matese.model.heads.score.network import ScoreTensor
from matese.model.heads.tags.network import TagLogits
from matese.model.prediction import Outputs, WindowOutput
from matese.model.texts.encoding import Encoding


@dataclass(frozen=True, slots=True)
class NetworkOutput(Outputs):
    """Output of any network for a batch: a `HeadOutput` of each head."""

    @property
    def tag_logits(self) -> Tensor:
        """What every tagger says: (batch, hypothesis tokens, tags), float32."""
        return self[TagLogits].logits

    @property
    def score(self) -> Tensor | None:
        """(batch,), float32, between LOWEST_SCORE and 0; None without a score head."""
        found = self.get(ScoreTensor)
        return None if found is None else found.values

    def windows(self, encodings: Sequence[Encoding]) -> Iterator[WindowOutput]:
        """Yields the output of each row of the batch, without padding."""
        heads: list[HeadOutput] = list(self.by_type.values())
        columns = [head.rows(encodings) for head in heads]
        for encoding, *said in zip(encodings, *columns, strict=True):
            yield WindowOutput(encoding, Outputs.of(said))

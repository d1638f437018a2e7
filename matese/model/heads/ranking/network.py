"""The distances of a ranking model, which has no layers of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor
from torch.nn import functional

from matese.model.config import ModelConfig
from matese.model.heads.networks import HeadNetwork, Outputs
from matese.model.prediction import FloatArray
from matese.model.states import States
from matese.model.texts.encoding import Encoding


class RankingHead(HeadNetwork):
    """Says "ranking": (batch, width), the embedding of each text."""

    @classmethod
    def of(cls, config: ModelConfig, width: int, inner: int | None) -> RankingHead:
        """Returns the head."""
        return cls()

    def forward(self, states: States, outputs: Outputs) -> Outputs:
        """Returns the embeddings."""
        return {"ranking": states.pooled}

    def combine(self, texts: Mapping[str, Tensor]) -> Tensor:
        """Returns the score of each hypothesis from its distances to the other texts: Rei et al. 2020, section 2.4."""
        to_source = functional.pairwise_distance(texts["hypothesis"], texts["source"])
        to_reference = functional.pairwise_distance(texts["hypothesis"], texts["reference"])
        return 1 / (1 + 2 * to_reference * to_source / (to_reference + to_source))

    @staticmethod
    def rows(output: Tensor, encodings: Sequence[Encoding]) -> Sequence[FloatArray]:
        """Returns the embedding of each row."""
        return list(output.cpu().numpy())

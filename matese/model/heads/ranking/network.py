"""The distances of a ranking model, which has no layers of its own."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor
from torch.nn import functional

from matese.model.config import ModelConfig
from matese.model.encoder.settings import Pooling
from matese.model.heads.networks import HeadNetwork
from matese.model.heads.quality.network import RowVectors
from matese.model.states import BatchStates


class RankingHead(HeadNetwork):
    """Says the embedding of each text."""

    @classmethod
    def of(cls, config: ModelConfig, width: int, inner: int | None) -> RankingHead:
        """Returns the head."""
        assert config.heads.ranking is not None
        return cls(config.heads.ranking.pooling)

    def __init__(self, pooling: Pooling) -> None:
        super().__init__()
        self._pooling = pooling

    def forward(self, states: BatchStates) -> RowVectors:
        """Returns the embeddings."""
        return RowVectors(states.pooled(self._pooling))

    def combine(self, texts: Mapping[str, Tensor]) -> Tensor:
        """Returns the score of each hypothesis from its distances to the other texts: Rei et al. 2020, section 2.4."""
        to_source = functional.pairwise_distance(texts["hypothesis"], texts["source"])
        to_reference = functional.pairwise_distance(texts["hypothesis"], texts["reference"])
        return 1 / (1 + 2 * to_reference * to_source / (to_reference + to_source))

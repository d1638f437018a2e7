"""The distances of a ranking model, which has no layers of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor
from torch.nn import functional

from matese.model.config import RegressionConfig
from matese.model.heads.networks import HeadNetwork, Outputs, PooledStates
from matese.model.prediction import FloatArray
from matese.model.texts.encoding import Encoding


class RankingHead(HeadNetwork):
    """Says "ranking": (batch, width), the embedding of each text."""

    @classmethod
    def of(cls, config: RegressionConfig, width: int, inner: int | None) -> RankingHead:
        """Returns the head."""
        return cls()

    def forward(self, states: PooledStates, outputs: Outputs) -> Outputs:  # type: ignore[override]
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

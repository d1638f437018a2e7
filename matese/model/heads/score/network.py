"""The layers that predict the expected score."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from matese.model.config import ModelConfig
from matese.model.encoder import pooling
from matese.model.heads.networks import HeadNetwork, Outputs, in_sequence
from matese.model.states import States
from matese.model.texts.encoding import Encoding
from matese.mqm import LOWEST_SCORE


class ScoreHead(nn.Sequential, HeadNetwork):
    """Says "score": (batch,), between LOWEST_SCORE and 0."""

    @classmethod
    def of(cls, config: ModelConfig, width: int, inner: int | None) -> ScoreHead:
        """Returns the head with random weights; it starts near the typical score, a few points below 0."""
        n_pooled = 2 if config.score_pooling == "texts" else 1
        last = nn.Linear(width, 1)
        nn.init.constant_(last.bias, -2.0)
        return cls(nn.Linear(n_pooled * width, width), nn.GELU(), nn.Dropout(config.dropout), last)

    def forward(self, states: States, outputs: Outputs) -> Outputs:  # type: ignore[override]  # not of tensors
        """Returns the score."""
        batch = states.batch
        has_contexts = states.config.score_pooling == "texts"
        contexts = pooling.mean(states.final, batch.roles > 1) if has_contexts else None
        with pooling.in_full(states.final):
            pooled = pooling.mean(states.hypothesis.float(), batch.hypothesis_mask)
            pooled = pooled if contexts is None else torch.cat([pooled, contexts.float()], 1)
            logit = in_sequence(self, pooled).squeeze(-1)
            similarity = states.similarity
            logit = logit if similarity is None else logit + similarity.float()
            return {"score": LOWEST_SCORE * torch.sigmoid(logit)}

    @staticmethod
    def rows(output: Tensor, encodings: Sequence[Encoding]) -> Sequence[float]:
        """Returns the score of each row."""
        scores: list[float] = output.tolist()
        return scores

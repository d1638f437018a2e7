"""Masked tokens: a hypothesis that nobody rated teaches what stands in a translation, as in a masked language model.

Devlin et al. 2019; beside a text in another language, translation language modelling of Conneau and Lample 2019.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from matese.tagger.batch import Batch


class Masking(nn.Module):
    """Hides tokens of hypotheses of which other translations are known, and guesses them from the model's states."""

    def __init__(self, embeddings: nn.Embedding, *, share: float, hidden_id: int) -> None:
        """Takes the model's own embeddings, which are what is guessed among.

        Args:
            embeddings: of the ids.
            share: of the tokens that are hidden.
            hidden_id: what stands in their place.
        """
        super().__init__()
        self._embeddings, self._share, self._hidden_id = [embeddings], share, hidden_id  # in a list: no module of this
        n_ids, width = embeddings.weight.shape
        self.transform = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width))
        self.bias = nn.Parameter(torch.zeros(n_ids))

    def hide(self, batch: Batch) -> tuple[Batch, Tensor]:
        """Returns the batch to read and, of each token of a hypothesis, the id that was hidden, -1 where none was.

        Of a segment with hidden tokens nothing else is to be learned.
        """
        assert batch.doubts is not None
        is_unrated = batch.doubts.isfinite().any(1)  # (batch,)
        ids = batch.ids.gather(1, batch.positions)  # (batch, hypothesis tokens)
        chosen = (torch.rand(ids.shape, device=ids.device) < self._share) & batch.hypothesis_mask & is_unrated[:, None]
        rows, columns = chosen.nonzero(as_tuple=True)
        read = batch.ids.clone()
        read[rows, batch.positions[rows, columns]] = self._hidden_id
        scores = batch.scores.masked_fill(is_unrated, torch.nan)
        doubts = batch.doubts.masked_fill(is_unrated[:, None], torch.nan)
        return replace(batch, ids=read, scores=scores, doubts=doubts), ids.masked_fill(~chosen, -1)

    def forward(self, states: Tensor, hidden: Tensor) -> Tensor:
        """Returns the cross-entropy of the hidden ids, 0 where there are none.

        Args:
            states: (batch, hypothesis tokens, width).
            hidden: (batch, hypothesis tokens), as from `hide`.
        """
        is_hidden = hidden >= 0
        (embeddings,) = self._embeddings
        logits = functional.linear(self.transform(states[is_hidden]), embeddings.weight, self.bias)
        total = functional.cross_entropy(logits.float(), hidden[is_hidden], reduction="sum")
        return total / is_hidden.sum().clamp(min=1)

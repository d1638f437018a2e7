"""Similarity between the texts of a row, computed after the layers that read each text alone.

Each token is matched to the tokens of the other text by the cosine of their states, as in BERTScore (Zhang et al.
2020). The layers above, which read all texts together, get how well each token is covered, and by which state. The mean
over the tokens, a BERTScore that is trained with the model, contributes to the expected score.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from matese.model.encoder.relations import N_CENTRES, RELATIONS, SHARPNESS, USUAL_COSINES, USUAL_SPREAD
from matese.model.texts.encoding import ROLES

_ABSENT = -1e4
_SIMILARITY = 0.15
"""Initial weight of the similarity: a typical difference changes the score by a third of a point."""


class TextComparison(nn.Module):
    """Adds the similarity of texts that were read alone to their states, before they are read together."""

    def __init__(self, width: int) -> None:
        """Initialises the weights so that cosines are those of the states and only the roles are added.

        Args:
            width: width of the states.
        """
        super().__init__()
        self.roles = nn.Embedding(len(ROLES), width)
        nn.init.normal_(self.roles.weight, std=0.02)
        self.projection = nn.Linear(width, width)
        nn.init.eye_(self.projection.weight)
        nn.init.zeros_(self.projection.bias)
        # How close the best match is, and whether the same piece occurs there.
        self.closeness = nn.Parameter(torch.zeros(len(RELATIONS), N_CENTRES + 1, width))
        self.difference = nn.Parameter(torch.zeros(len(RELATIONS), width, width))
        self.similarity = nn.Parameter(torch.full((len(RELATIONS),), _SIMILARITY))

    def forward(self, states: Tensor, ids: Tensor, roles: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the terms to add to the states, (batch, tokens, width), and to the score's logit, (batch,).

        Args:
            states: (batch, tokens, width).
            ids: (batch, tokens).
            roles: (batch, tokens), see `encoding.ROLES`; 0 also for padding.
        """
        added: Tensor = self.roles(roles)
        logit = torch.zeros_like(ids[:, 0], dtype=torch.float32)
        projected = functional.normalize(self.projection(states), dim=-1)
        cosines = (projected @ projected.transpose(1, 2)).float()  # (batch, tokens, tokens)
        is_same = ids.unsqueeze(2) == ids.unsqueeze(1)
        is_on_cpu = states.device.type == "cpu" and not self.training
        for number, (of, within) in enumerate(RELATIONS):
            is_other = (roles == within).unsqueeze(1)  # (batch, 1, tokens)
            is_matched = (roles == of) & is_other.any(2)  # (batch, tokens)
            if is_on_cpu and not is_matched.any():  # a GPU would have to be awaited to know this
                continue
            masked = cosines.masked_fill(~is_other, _ABSENT)
            matched = (SHARPNESS * masked).softmax(2).to(states.dtype) @ states
            closest = masked.amax(2)  # (batch, tokens)
            features = torch.cat([_near_centres(closest), (is_same & is_other).any(2, keepdim=True)], 2)
            terms = features.to(states.dtype) @ self.closeness[number]
            terms = terms + (matched - states) @ self.difference[number]
            added = added + terms * is_matched.unsqueeze(2)
            distances = (USUAL_COSINES[number] - closest) / USUAL_SPREAD * is_matched
            logit = logit + self.similarity[number] * distances.sum(1) / is_matched.sum(1).clamp(min=1)
        return added, logit


def _near_centres(cosines: Tensor) -> Tensor:
    """Returns how near each cosine is to each of the centres, from 0 to 1: (batch, tokens, centres)."""
    steps = N_CENTRES - 1
    centres = torch.arange(N_CENTRES, device=cosines.device)
    return (1 - (cosines.clamp(min=0).unsqueeze(2) * steps - centres).abs()).clamp(min=0)

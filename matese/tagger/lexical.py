"""Which tokens stand in the other texts too, told to the encoder as a part of their embeddings.

A pretrained encoder finds the same word in two texts by itself. One that is trained from scratch on little data spends
most of it on learning to; told, it can begin with what is not the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from torch import Tensor, nn

from matese.encoder.encoding import ROLES

_HYPOTHESIS, _SOURCE, _REFERENCE = (ROLES.index(name) for name in ("hypothesis", "source", "reference"))
_RELATIONS = (
    (_HYPOTHESIS, _REFERENCE),
    (_HYPOTHESIS, _SOURCE),
    (_REFERENCE, _HYPOTHESIS),
    (_SOURCE, _HYPOTHESIS),
)
"""(of, in): the texts whose tokens are looked up, and where."""
Array = TypeVar("Array", Tensor, npt.NDArray[np.int64])
_ALONE, _WITH_LEFT, _WITH_RIGHT = 1, 2, 4
_N_KINDS = 8
UNCONCERNED = -1
"""Kind of a token that is not looked up: it is of another text, or the other text is not there."""


class LexicalMatch(nn.Module):
    """Embeds the role of each token and how it is matched: alone, with its left and with its right neighbour."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.roles = nn.Embedding(len(ROLES), width)
        self.matches = nn.Embedding(len(_RELATIONS) * _N_KINDS, width)
        for embedding in (self.roles, self.matches):
            nn.init.normal_(embedding.weight, std=0.02)

    def forward(self, roles: Tensor, kinds: Sequence[Tensor]) -> Tensor:
        """Returns what is added to the embeddings.

        Args:
            roles: (batch, tokens), see `encoding.ROLES`.
            kinds: (batch, tokens) for each relation, as `match_kinds` has them.
        """
        added: Tensor = self.roles(roles)
        for number, own in enumerate(kinds):
            rows = number * _N_KINDS + own.clamp(min=0)
            added = added + self.matches(rows) * (own != UNCONCERNED).unsqueeze(-1)
        return added


def match_kinds(ids: Array, roles: Array) -> list[Array]:
    """Returns for each relation how each token is matched, 0 to 7 or UNCONCERNED: each is (batch, tokens).

    Args:
        ids: (batch, tokens), of torch or of numpy, which does not take the threads of torch from who computes.
        roles: (batch, tokens), see `encoding.ROLES`.
    """
    same = ids[:, :, None] == ids[:, None, :]  # (batch, tokens, tokens)
    found = []
    for of, within in _RELATIONS:
        own, other = roles == of, roles == within
        pairs = same & own[:, :, None] & other[:, None, :]
        both = pairs[:, 1:, 1:] & pairs[:, :-1, :-1]  # both a token and its left neighbour stand there side by side
        kinds = _ALONE * pairs.any(2)
        kinds[:, 1:] += _WITH_LEFT * both.any(2)
        kinds[:, :-1] += _WITH_RIGHT * both.any(2)
        kinds[~(own & other.any(1)[:, None])] = UNCONCERNED
        found.append(kinds)
    return found

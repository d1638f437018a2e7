"""Find tokens that also occur in another text of their row. See `model.LexicalMatch`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from matese.encoder.encoding import ROLES

_HYPOTHESIS, _SOURCE, _REFERENCE = (ROLES.index(name) for name in ("hypothesis", "source", "reference"))
RELATIONS = (
    (_HYPOTHESIS, _REFERENCE),
    (_HYPOTHESIS, _SOURCE),
    (_REFERENCE, _HYPOTHESIS),
    (_SOURCE, _HYPOTHESIS),
)
"""(of, in): the text whose tokens are looked up, and the text they are looked up in."""
N_CENTRES = 21
"""Number of features of a cosine in `comparison.Comparison`: each is 1 at its centre and falls to 0 at the next."""
SHARPNESS = 30.0
"""Factor of the cosines in the weights of the matched states: a cosine lower by 0.1 has a twentieth of the weight."""
USUAL_COSINES, USUAL_SPREAD = (0.88, 0.74, 0.88, 0.74), 0.07
"""Normalise the mean closest cosine of a text, for each relation: roughly its mean and standard deviation on dev
in layer 8 of multilingual-e5-small."""
_ALONE, _WITH_LEFT, _WITH_RIGHT = 1, 2, 4
N_KINDS = 8
NOT_LOOKED_UP = -1
"""Kind of a token of another text, or of any token if the other text is missing."""
Ids = npt.NDArray[np.int64]


def kinds(ids: Ids, roles: Ids) -> list[Ids]:
    """Returns how each token is matched, 0 to 7 or NOT_LOOKED_UP: (batch, tokens) for each relation.

    Args:
        ids: (batch, tokens).
        roles: (batch, tokens), see `encoding.ROLES`.
    """
    same = ids[:, :, None] == ids[:, None, :]  # (batch, tokens, tokens)
    all_kinds = []
    for of, within in RELATIONS:
        is_looked_up, is_other = roles == of, roles == within
        pairs = same & is_looked_up[:, :, None] & is_other[:, None, :]
        both = pairs[:, 1:, 1:] & pairs[:, :-1, :-1]  # a token and its left neighbour are also neighbours there
        kind = _ALONE * pairs.any(2)
        kind[:, 1:] += _WITH_LEFT * both.any(2)
        kind[:, :-1] += _WITH_RIGHT * both.any(2)
        kind[~(is_looked_up & is_other.any(1)[:, None])] = NOT_LOOKED_UP
        all_kinds.append(kind)
    return all_kinds

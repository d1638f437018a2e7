"""How chance is drawn when systems are compared."""

from __future__ import annotations

from dataclasses import dataclass

from matese.validation.options import Count, CountOrZero, Options


@dataclass(frozen=True, kw_only=True)
class Sampling(Options):
    """How chance is drawn.

    Attributes:
        bootstrap: resamples of the bootstrap; 0 for none (default: 1,000).
        permutations: of the permutation test (default: 1,000).
        seed: of both (default: 0).
    """

    bootstrap: CountOrZero = 1000
    permutations: Count = 1000
    seed: CountOrZero = 0

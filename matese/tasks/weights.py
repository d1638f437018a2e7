"""What errors cost: an option of all tasks that score them."""

from __future__ import annotations

from dataclasses import dataclass

from matese import mqm
from matese.tasks.request import Checked, option
from matese.tasks.values import Penalties


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Weighted(Checked):
    """Penalties of errors.

    Attributes:
        weights: penalties of errors: matese, google, unbabel or no-omissions, or a YAML file (default: matese).
    """

    weights: mqm.AnyWeights = option("matese", Penalties())

    @property
    def penalties(self) -> mqm.Weights:
        """The weights that are named."""
        return mqm.find_weights(self.weights)

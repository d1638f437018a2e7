"""What errors cost: an option of all tasks that score them."""

from __future__ import annotations

import os
from dataclasses import dataclass

from matese import mqm
from matese.errors import FormatError, UsageError, one_of, unknown
from matese.validation.options import Options, option


def _weights(weights: object) -> mqm.Weights:
    """Returns weights: those of a preset or of a YAML file, or the weights themselves."""
    if isinstance(weights, mqm.Weights):
        return weights
    name = str(weights)
    if name in mqm.PRESETS:
        return mqm.PRESETS[name]
    if os.sep not in name and not name.endswith((".yaml", ".yml")) and not os.path.exists(name):
        raise UsageError(unknown("weights", name, mqm.PRESETS, allowed=one_of([*mqm.PRESETS, "a YAML file"])))
    from matese.formats import weights_file

    try:
        return weights_file.read(name)
    except FormatError as error:
        raise UsageError(str(error)) from None


@dataclass(frozen=True, kw_only=True)
class Weighted(Options):
    """Penalties of errors.

    Attributes:
        weights: penalties of errors: matese, google, unbabel or no-omissions, or a YAML file (default: matese).
    """

    weights: mqm.AnyWeights = option("matese", take=_weights, names=lambda: tuple(mqm.PRESETS), metavar="NAME|FILE")

    @property
    def penalties(self) -> mqm.Weights:
        """The weights that are named."""
        return mqm.find_weights(self.weights)

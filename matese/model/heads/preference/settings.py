"""The settings of the head that compares two translations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from matese.model.heads.quality.settings import Activation, Widths


@dataclass(frozen=True)
class PreferenceSettings:
    """The model scores a translation against another one, such as a reference, from one row with the source (PEAR).

    Attributes:
        hidden_sizes: widths of the hidden layers.
        activation: activation after each hidden layer.
        final_activation: activation after the last layer; null for none.
    """

    of_texts: ClassVar = {"layout": "source-first", "inputs": ("source+reference",)}
    hidden_sizes: Widths = (512, 256, 128)
    activation: Activation = "GELU"
    final_activation: Activation | None = None

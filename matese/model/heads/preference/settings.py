"""The settings of the head that compares two translations."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from matese.errors import InputError
from matese.model.heads.quality.settings import Activation, Widths
from matese.model.texts.settings import TextSettings


@dataclass(frozen=True)
class PreferenceSettings:
    """The model scores a translation against another one, such as a reference, from one row with the source (PEAR).

    Attributes:
        hidden_sizes: widths of the hidden layers.
        activation: activation after each hidden layer.
        final_activation: activation after the last layer; null for none.
    """

    hidden_sizes: Widths = (512, 256, 128)
    activation: Activation = "GELU"
    final_activation: Activation | None = None

    def check(self, texts: TextSettings, heads: Collection[str]) -> None:
        """Raises an InputError unless the source is the first of three texts in a row."""
        if texts.layout != "source-first" or texts.inputs != ("source+reference",):
            problem = f"texts.layout {texts.layout} and texts.inputs {list(texts.inputs)}"
            raise InputError(f"{problem}: must be source-first and source+reference for heads.preference")

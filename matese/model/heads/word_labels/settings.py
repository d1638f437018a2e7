"""The settings of the head for labels of severity."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from matese.annotation import Severity
from matese.errors import InputError
from matese.model.texts.settings import TextSettings


@dataclass(frozen=True)
class WordLabelSettings:
    """A unified model also marks errors.

    Attributes:
        severities: of the errors.
        layer: encoder layer that they are predicted from.
        input_weights: weights of a segment's three rows (source, reference, both) in their probabilities.
    """

    severities: Annotated[tuple[Severity, ...], Meta(min_length=1)]
    layer: int
    input_weights: tuple[float, float, float] = (0.1667, 0.3333, 0.5)

    def check(self, texts: TextSettings, heads: Collection[str]) -> None:
        """Raises an InputError except beside a quality head on rows of several texts."""
        if texts.layout == "alone" or "quality" not in heads:
            raise InputError("heads.word_labels: must be null except beside heads.quality on rows of several texts")

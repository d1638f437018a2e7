"""The settings of the head for categories."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from matese.errors import InputError
from matese.model.texts.settings import TextSettings


@dataclass(frozen=True)
class CategorySettings:
    """A tagger also predicts the main MQM category of each error."""

    def check(self, texts: TextSettings, heads: Collection[str]) -> None:
        """Raises an InputError without tags."""
        if "tags" not in heads:
            raise InputError("heads.categories: must be null without heads.tags")

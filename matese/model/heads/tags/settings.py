"""The settings of the head that tags errors."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from matese.errors import InputError
from matese.model.texts.settings import TextSettings


@dataclass(frozen=True)
class TagSettings:
    """The model marks errors by BIO tags, as a tagger does."""

    def check(self, texts: TextSettings, heads: Collection[str]) -> None:
        """Raises an InputError unless the texts stand in one row."""
        if texts.layout != "together":
            raise InputError(f"texts.layout {texts.layout}: must be together for heads.tags")

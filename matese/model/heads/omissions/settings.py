"""The settings of the head for omissions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from matese.errors import InputError
from matese.model.texts.settings import TextSettings


@dataclass(frozen=True)
class OmissionSettings:
    """A tagger also finds the words that the hypothesis lacks, of the reference or, without one, of the source."""

    def check(self, texts: TextSettings, heads: Collection[str]) -> None:
        """Raises an InputError without tags."""
        if "tags" not in heads:
            raise InputError("heads.omissions: must be null without heads.tags")

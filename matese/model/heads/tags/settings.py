"""The settings of the head that tags errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class TagSettings:
    """The model marks errors by BIO tags, as a tagger does."""

    of_texts: ClassVar = {"layout": "together"}

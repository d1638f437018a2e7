"""The settings of the head for categories."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CategorySettings:
    """A tagger also predicts the main MQM category of each error."""

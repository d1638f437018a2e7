"""The settings of the head for omissions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OmissionSettings:
    """A tagger also finds the words that the hypothesis lacks, of the reference or, without one, of the source."""

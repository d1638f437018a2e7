"""The settings of the head for errors of meaning, and of the rule that its logits follow in decoding."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from matese.errors import InputError
from matese.model.texts.encoding import InputKind
from matese.model.texts.settings import TextSettings
from matese.mqm import LOWEST_SCORE


@dataclass(frozen=True)
class MeaningSettings:
    """A tagger also judges, apart from its tags and score, whether the hypothesis says something else than the texts.

    Attributes:
        inputs: the kinds of input with which `matese calibrate` makes use of the head.
    """

    inputs: tuple[InputKind, ...] = ("reference",)

    def check(self, texts: TextSettings, heads: Collection[str]) -> None:
        """Raises an InputError without tags."""
        if "tags" not in heads:
            raise InputError("heads.meaning: must be null without heads.tags")


@dataclass(frozen=True)
class MeaningRule:
    """How an error of meaning lowers the expected score, for one kind of input. Tags and marks stay as they are.

    The evidence is the logit of the segment plus the log odds of the most probable Major tag, so that head and tags
    must agree: people's ratings of real translations have nothing to do with the logit alone, and the rule lowered many
    of their scores for nothing.

    Attributes:
        inputs: the kind of input.
        threshold: evidence at which half of the fall is due.
        floor: score to which a certain error of meaning lowers a segment; lower scores stay as they are, so that real
            translations, of which the rule mostly finds bad ones, lose little.
        ramp: the score begins to fall where the evidence is this far below the threshold, and reaches the floor as far
            above it. A score that fell at the threshold at once would tear similar translations apart.
    """

    inputs: InputKind
    threshold: float
    floor: float = -10.0
    ramp: float = 2.0

    def __post_init__(self) -> None:
        if not LOWEST_SCORE <= self.floor <= 0:
            raise InputError(f"floor {self.floor}: must be between {LOWEST_SCORE:g} and 0")
        if self.ramp <= 0:
            raise InputError(f"ramp {self.ramp}: must be greater than 0")

"""The settings of the head for errors of meaning, and of the rule that its logits follow in decoding."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from matese.errors import InputError
from matese.model.texts.encoding import InputKind
from matese.model.texts.settings import TextSettings


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
class MeanEffect:
    """What the rule takes from the score on average in translations of a length.

    Attributes:
        n_characters: length of the hypothesis.
        points: MQM points, 0 or more.
    """

    n_characters: int
    points: float


@dataclass(frozen=True)
class MeaningRule:
    """How far an error of meaning lowers the score and marks words, for one kind of input.

    Attributes:
        inputs: the kind of input.
        threshold: logit of the segment above which words are marked.
        share: how far a certain error of meaning moves the score towards the lowest one: 0.4 moves -2.5 to -11.5. A
            smaller share leaves it above the score of a correct wording that is unlike the reference
            (`benchmarks.ruler`).
        ramp: the score begins to fall where the logit is this far below the threshold, and has fallen by its whole
            share as far above it. A score that fell at the threshold at once would tear similar translations apart:
            with a ramp of 2, `benchmarks.ruler` orders more pairs of meaning right and no real translations worse.
        mean_effects: what the rule takes from the score on average, by length and in order of it; added to every score,
            so that short segments are not scored lower than long ones only because the rule applies to them more often.
            Between two lengths it is interpolated; empty to add nothing.
    """

    inputs: InputKind
    threshold: float
    share: float = 0.4
    ramp: float = 2.0
    mean_effects: tuple[MeanEffect, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise InputError(f"share {self.share}: must be between 0 and 1")
        if self.ramp <= 0:
            raise InputError(f"ramp {self.ramp}: must be greater than 0")
        lengths = [effect.n_characters for effect in self.mean_effects]
        if lengths != sorted(set(lengths)):
            raise InputError(f"mean_effects at {lengths} characters: must be in order of length, each length once")

"""The settings of the head for the expected score of a tagger."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from matese.errors import InputError, one_of
from matese.model.texts.settings import TextSettings

ScorePooling = Literal["hypothesis", "texts"]
CONTEXTS: Mapping[ScorePooling, tuple[Callable[[Any], Any], ...]] = {
    "hypothesis": (),
    "texts": (lambda roles: roles > 1,),
}
"""For each pooling, what is averaged besides the hypothesis: masks of tokens by their roles, in numpy or torch."""


@dataclass(frozen=True)
class ScoreSettings:
    """A tagger also predicts the segment's MQM score.

    Attributes:
        pooling: what the head averages: the tokens of the hypothesis only, or those of the hypothesis and, separately,
            those of the other texts, so that omissions count too.
    """

    pooling: ScorePooling = "hypothesis"

    def __post_init__(self) -> None:
        if self.pooling not in CONTEXTS:
            raise InputError(f"pooling {self.pooling!r}: must be {one_of(tuple(CONTEXTS))}")

    @property
    def contexts(self) -> tuple[Callable[[Any], Any], ...]:
        """What the head averages besides the hypothesis, see `CONTEXTS`."""
        return CONTEXTS[self.pooling]

    def check(self, texts: TextSettings, heads: Collection[str]) -> None:
        """Raises an InputError without tags."""
        if "tags" not in heads:
            raise InputError("heads.score: must be null without heads.tags")

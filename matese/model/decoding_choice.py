"""What a user chooses of a model's reading and decoding. Every command with a model has these options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from matese.errors import UsageError
from matese.validation.options import InnerShare, Options, option

Override = Literal["copy", "blank"]
"""A rule that overrides the model, see `matese.model.copy_and_blank`."""
OVERRIDES: tuple[Override, ...] = get_args(Override)


@dataclass(frozen=True, kw_only=True)
class DecodingChoice(Options):
    """What a user chooses of a model's decoding; `matese.load` takes it.

    `Decoding.varied` follows it; a setting of texts (`TextSettings`) of the same name takes its value.

    Attributes:
        min_confidence: mark every span with at least this confidence (between 0 and 1; default: the model's own
            minimum).
        use: what the marks are for: interface for the strings of a program, of which at most one right one in ten gets
            a mark (default: texts of any kind, of whose marks people confirm half).
        whole_words: whether spans are widened to whole words; None for the model's own setting.
        reads_pieces: whether texts of several sentences are also read in pieces; None for the model's own setting.
        error_free: also decide which segments are free of errors; the model must be calibrated for that
            (docs/research/wmt.md).
        overrides: rules that override the model, see `matese.model.copy_and_blank`; all by default.
    """

    min_confidence: InnerShare | None = option(None, metavar="P")
    use: Literal["interface"] | None = option(None, flags=["--for"])
    whole_words: bool | None = option(None, is_of_python=True)
    reads_pieces: bool | None = option(None, is_of_python=True)
    error_free: bool = option(False, is_of_python=True)
    overrides: tuple[Override, ...] = option(OVERRIDES, is_of_python=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "overrides", tuple(name for name in OVERRIDES if name in self.overrides))
        if self.use is not None and self.min_confidence is not None:
            raise UsageError("a use and a minimum confidence are both given; give one of them")

    @property
    def reading(self) -> DecodingChoice:
        """The same with only what changes how texts are read: choices that agree in it share a loaded model."""
        return DecodingChoice(reads_pieces=self.reads_pieces, overrides=self.overrides)

"""How the texts of a segment become the rows that a model reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from matese.model.texts.encoding import InputKind
from matese.validation.options import CountOrZero

Layout = Literal["together", "combinations", "alone", "source-first"]
"""How the texts of a reading are divided into rows: all in one; a row with the source, one with the reference and one
with both; each text in a row of its own; or all in one after the source."""
RowFormat = Literal["special-tokens", "metricx-23", "metricx-24"]


@dataclass(frozen=True)
class TextSettings:
    """What a model reads, and in which rows.

    Attributes:
        inputs: what the model can read besides the hypothesis: reference, source, source+reference; one of them if each
            text is read alone.
        layout: how texts become rows: together, all texts in one row; alone, each text in a row of its own, whose
            embeddings are compared (COMET: Rei et al. 2020); or combinations, all texts in one row or, for source and
            reference, three rows: with the source, with the reference, and with both (UniTE: Wan et al. 2022); or
            source-first, source, hypothesis and reference in one row (PEAR).
        max_tokens: longest input, including special tokens; longer texts are read in parts.
        reads_pieces: whether a tagger also reads a hypothesis of several sentences in pieces: each sentence beside
            those of the source or reference that it translates. Without it, and by other models, only a text that is
            too long is read in parts: in overlapping windows.
        row_format: how the texts of a row are told apart: by special tokens, or as in a released MetricX.
        has_token_types: whether the encoder gets token types that mark the hypothesis, as BERT does.
        separate_layers: number of the lowest encoder layers in which each text is read alone, as the encoder was
            pretrained. The remaining layers read all texts together, with each token's similarity to the other texts.
            0: all layers read all texts together.
    """

    inputs: Annotated[tuple[InputKind, ...], Meta(min_length=1)] = ("reference",)
    layout: Layout = "together"
    max_tokens: Annotated[int, Meta(ge=16)] = 512
    reads_pieces: bool = True
    row_format: RowFormat = "special-tokens"
    has_token_types: bool = False
    separate_layers: CountOrZero = 0

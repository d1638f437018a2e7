"""A smaller copy of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from matese.errors import counted
from matese.tasks import models, notices, texts
from matese.tasks.models import NewModel
from matese.tasks.texts import require
from matese.validation.options import Count, File, option, share


@dataclass(frozen=True, kw_only=True)
class Request(NewModel):
    """Write a smaller and faster copy of a model, or the mean of two models.

    Attributes:
        layers: keep the lowest N layers of the encoder.
        inner_width: keep N units of each feed-forward layer; needs --data.
        heads: keep N attention heads of each layer; needs --data.
        pieces: keep N pieces of the vocabulary, the most frequent ones in the texts of --data and in general.
        int8: store the matrices in 8 bits, or in 4 where that is exact, as in the embedded model.
        mean_with: a model of the same shape; the copy has the mean of the weights of both.
        share: share of that model in the mean.
        columns: columns with unusual names, such as hypothesis=mtA,mtB reference=gold comment=remarks.
        data: translations to choose heads, units and pieces with, in any format that matese convert reads.
    """

    layers: Count | None = None
    inner_width: Count | None = None
    heads: Count | None = None
    pieces: Count | None = None
    int8: bool = False
    mean_with: str | None = option(None, metavar="MODEL")
    share: float = option(0.5, take=share, metavar="P")
    data: File | None = None
    columns: Sequence[str] = option((), metavar="NAME=COLUMN")


def run(request: Request, stream: TextIO | None = None) -> Path:
    """Writes a smaller copy of a model; returns its directory."""
    is_chosen = request.heads is not None or request.inner_width is not None
    is_smaller = is_chosen or request.layers is not None
    require(
        is_smaller or bool(request.pieces) or request.int8 or request.mean_with is not None,
        "no size is given: use --layers, --heads, --inner-width, --pieces, --int8 or --mean-with",
    )
    has_texts = request.data is not None
    require(has_texts or not (is_chosen or request.pieces), "--heads, --inner-width and --pieces need --data")
    source, target = models.source_and_target(request)
    with notices.undisturbed():
        from matese.model.storage import checkpoint
        from matese.training import shrinking
    mean_with = None if request.mean_with is None else checkpoint.resolve(request.mean_with)
    reading = texts.FileReading(columns=request.columns)
    segments = [] if request.data is None else texts.all_segments(request.data, reading)
    with notices.quiet():
        n_skipped = shrinking.write(
            source,
            target,
            segments,
            size=shrinking.Size(request.layers, request.inner_width, request.heads),
            n_pieces=request.pieces,
            precision="int8" if request.int8 else "float32",
            name=request.model,
            mean_with=mean_with,
            share=request.share,
        )
    if n_skipped:
        what = "that lack a text that the model reads or are too long for it"
        notices.info(f"skipped: {counted(n_skipped, 'text')} {what}")
    if stream is not None:
        stream.write(f"model\t{target}\n")
    return target

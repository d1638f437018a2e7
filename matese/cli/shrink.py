"""`matese shrink`: write a smaller copy of a model."""

from __future__ import annotations

import argparse
import dataclasses
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from matese import cli
from matese.cli import inputs, messages, model, options, output
from matese.errors import UsageError

if TYPE_CHECKING:
    from torch import Tensor

    from matese.annotation import Segment
    from matese.encoder.checkpoint import Checkpoint
    from matese.encoder.storage import StoredPrecision

SUMMARY = "write a smaller and faster copy of a model"
EPILOG = """examples:
  matese shrink runs/comet-da/model --layers 8 --output small
  matese shrink runs/comet-da/model --heads 6 --inner-width 1024 --data texts.jsonl --int8 --output small
  matese shrink runs/xlmr-base/model --layers 10 --inner-width 2048 --data texts.jsonl --output small
  matese shrink runs/xlmr-base/model --pieces 64000 --data texts.jsonl --int8 --output small

The command drops the top layers of the encoder, and the heads and feed-forward units on which the scores of the texts
depend least. Dropped pieces of the vocabulary are replaced with shorter ones. The encoder must be of the RoBERTa
family. A copy with all its heads can be trained further with matese train or matese distil.
"""
_TEXTS = 300
"""Texts from which the importance of heads and units is measured, spread evenly over the file."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    parser.add_argument("model", metavar="MODEL", help="a model directory or a hub id")
    parser.add_argument("--output", required=True, metavar="DIR", help="directory of the new model")
    group = parser.add_argument_group("size")
    for name, text in (
        ("--layers", "keep the lowest N layers of the encoder"),
        ("--inner-width", "keep N units of each feed-forward layer; needs --data"),
        ("--heads", "keep N attention heads of each layer; needs --data"),
        ("--pieces", "keep N pieces of the vocabulary, the most frequent ones in the texts of --data and in general"),
    ):
        group.add_argument(name, type=options.whole_number(1), metavar="N", help=text)
    text = "store the matrices in 8 bits, or in 4 where that is exact, as in the embedded model"
    group.add_argument("--int8", action="store_true", help=text)
    text = "translations to choose heads, units and pieces with, in any format that matese convert reads"
    group.add_argument("--data", dest="input", metavar="FILE", help=text)
    inputs.add_columns(group)


def run(args: argparse.Namespace) -> None:
    """Runs the command."""
    from matese.encoder import checkpoint

    is_chosen = args.heads is not None or args.inner_width is not None
    is_smaller = is_chosen or args.layers is not None
    options.require(
        is_smaller or args.pieces or args.int8,
        "no size is given: use --layers, --heads, --inner-width, --pieces or --int8",
    )
    options.require(
        args.input is not None or not (is_chosen or args.pieces), "--heads, --inner-width and --pieces need --data"
    )
    target = output.model_directory(args.output)
    directory = checkpoint.resolve(args.model)
    if target.resolve() == directory.resolve():
        raise UsageError(f"--output {target} is the model itself; choose another directory")
    with cli.deferring_ctrl_c():
        from matese import shrinking
        from matese.annotator import load
        from matese.encoder import vocabulary
        from matese.regression import loading
    size = shrinking.Size(args.layers, args.inner_width, args.heads)
    changes = {name: value for name, value in dataclasses.asdict(size).items() if value is not None}
    changes |= {} if args.pieces is None else {"pieces": args.pieces}
    card = shrinking.card(args.model, changes, checkpoint.read_card(directory))
    with model.quiet():
        importance = None
        if is_smaller:
            annotator = load(directory, device="cpu", precision="float32")
            shrinking.check(annotator, size)
            importance = shrinking.measure(annotator, _segments(args)) if is_chosen else None
            if importance is not None and importance.n_skipped:
                what = "texts were skipped: they lack a text that the model reads, or are too long for it"
                messages.info(f"{importance.n_skipped:,} {what}")
        if checkpoint.kind(directory) is None:
            loading.save(target, loading.load(directory), card=card)
            directory = target
        texts = _texts(args) if args.pieces is not None else ()
        precision: StoredPrecision = "int8" if args.int8 else "float32"

        def change(model: Checkpoint[Tensor]) -> Checkpoint[Tensor]:
            return shrinking.shrink(model, size, importance) if is_smaller else model

        pieces = args.pieces
        vocabulary.shrink(
            directory, target, texts=texts, n_pieces=pieces, precision=precision, card=card, change=change
        )
    print(f"model\t{target}")


def _texts(args: argparse.Namespace) -> Iterator[str]:
    for segment in _all_segments(args):
        yield from (segment.hypothesis, *segment.references, *([] if segment.source is None else [segment.source]))


def _segments(args: argparse.Namespace) -> list[Segment]:
    found = list(_all_segments(args))
    return found[:: max(1, len(found) // _TEXTS)]


def _all_segments(args: argparse.Namespace) -> Iterator[Segment]:
    from matese.formats import segments

    with inputs.read_options(args) as how:
        systems, _ = segments.from_file(args.input, how)
        yield from itertools.chain.from_iterable(system.read() for system in systems)

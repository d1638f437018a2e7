"""`matese shrink`: write a smaller copy of a model."""

from __future__ import annotations

import argparse

from matese.cli import inputs, messages, model, options
from matese.errors import counted

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


def add_options(parser: argparse.ArgumentParser) -> None:
    model.add_new_model(parser)
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
    is_chosen = args.heads is not None or args.inner_width is not None
    is_smaller = is_chosen or args.layers is not None
    options.require(
        is_smaller or args.pieces or args.int8,
        "no size is given: use --layers, --heads, --inner-width, --pieces or --int8",
    )
    options.require(
        args.input is not None or not (is_chosen or args.pieces), "--heads, --inner-width and --pieces need --data"
    )
    directory, target = model.source_and_target(args)
    with messages.undisturbed():
        from matese import shrinking
    segments = [] if args.input is None else inputs.all_segments(args, args.input)
    with messages.quiet():
        n_skipped = shrinking.write(
            directory,
            target,
            segments,
            size=shrinking.Size(args.layers, args.inner_width, args.heads),
            n_pieces=args.pieces,
            precision="int8" if args.int8 else "float32",
            name=args.model,
        )
    if n_skipped:
        messages.info(
            f"skipped: {counted(n_skipped, 'text')} that lack a text that the model reads or are too long for it"
        )
    print(f"model\t{target}")

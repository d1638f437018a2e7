"""`matese shrink`: write a smaller copy of a model."""

from __future__ import annotations

import argparse

from matese.cli import fields, groups
from matese.tasks import shrink
from matese.tasks.shrink import Request

EPILOG = """examples:
  matese shrink runs/comet-da/model --layers 8 --output small
  matese shrink runs/comet-da/model --heads 6 --inner-width 1024 --data texts.jsonl --int8 --output small
  matese shrink runs/xlmr-base/model --layers 10 --inner-width 2048 --data texts.jsonl --output small
  matese shrink runs/xlmr-base/model --pieces 64000 --data texts.jsonl --int8 --output small
  matese shrink mini --mean-with runs/finetuned/model --share 0.3 --int8 --output mean

The command drops the top layers of the encoder, and the heads and feed-forward units on which the scores of the texts
depend least. Dropped pieces of the vocabulary are replaced with shorter ones. The encoder must be of the RoBERTa
family. A copy with all its heads can be trained further with matese train or matese distil.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    groups.add_new_model(parser, Request)
    group = parser.add_argument_group("size")
    fields.add(group, Request, "layers", "inner_width", "heads", "pieces", "int8", "mean_with", "share")
    fields.add(group, Request, "data", "columns")


def request(args: argparse.Namespace) -> Request:
    return fields.make(args, Request)


def run(request: Request) -> None:
    shrink.run(request, groups.standard_output())

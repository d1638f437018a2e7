"""`matese train`: trains a model from settings and rated segments."""

from __future__ import annotations

import argparse

from matese.cli import fields, groups
from matese.tasks import train
from matese.tasks.train import Request

SUMMARY = "train a model on rated segments"
EPILOG = """examples:
  matese train --config configs/xlmr-large.yaml --train train.jsonl --dev dev.jsonl --output runs/xlmr-large
  matese train --config configs/comet-da.yaml --train train.jsonl --dev dev.jsonl     a model that scores
  matese train --config configs/xlmr-base.yaml --set training.max_epochs=1 --set training.seed=2
  matese train --resume runs/xlmr-large                       resume a stopped or killed run
  matese train --settings                                     list all settings, documented, with their defaults

Ratings are in any format that matese convert reads. All ratings of a segment are used; --set data.rater=NAME uses those
of one rater, and --set data.merge=union (or majority) merges them. The model is written to the folder `model` in the
output.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    fields.add(what, Request, "config", "resume", "settings")
    group = parser.add_argument_group("options that replace settings of the file")
    fields.add(group, Request, "train", "dev")
    groups.add_joined_texts(group, Request)
    fields.add(group, Request, "lang_pair", "output", "set")


def request(args: argparse.Namespace) -> Request:
    return fields.make(args, Request)


def run(request: Request) -> None:
    with groups.training():
        train.run(request, groups.standard_output())

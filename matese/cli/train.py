"""`matese train`: trains a model from settings and rated segments."""

from __future__ import annotations

import argparse

from matese.cli import fields, groups
from matese.tasks import train
from matese.tasks.train import Request

EPILOG = """examples:
  matese train raw.tsv --config configs/matese/xlmr-large.yaml --output runs/large
  matese train --config configs/comet/comet-da.yaml --dev dev.jsonl
  matese train --from mini ratings.jsonl --output runs/ours
  matese train --resume runs/large

Raw ratings are prepared as by matese prepare, which merges the raters of a segment, unless --set data.rater=NAME
chooses one, or --set data.prepare=null uses all as they are. The model is the folder `model` in the output.

With --from, heads that the ratings cannot teach stay as they are. Without --dev, a tenth of the sources of RATINGS is
held out. With --from and 300 such ratings, the model is calibrated on them: `calibrated`.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    fields.add_positional(parser, Request, "ratings", metavar="RATINGS")
    what = parser.add_mutually_exclusive_group(required=True)
    fields.add(what, Request, "config")
    fields.add(what, Request, "start", option="--from", metavar="MODEL")
    fields.add(what, Request, "resume", "settings")
    group = parser.add_argument_group("options that replace settings of the file")
    fields.add(group, Request, "train", "dev")
    groups.add_joined_texts(group, Request)
    fields.add(group, Request, "lang_pair", "output", "set")


def request(args: argparse.Namespace) -> Request:
    return fields.make(args, Request)


def run(request: Request) -> None:
    with groups.training():
        train.run(request, groups.standard_output())

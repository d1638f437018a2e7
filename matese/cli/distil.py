"""`matese distil`: train a small model on the ratings of a large one."""

from __future__ import annotations

import argparse

from matese.cli import fields, groups
from matese.tasks import distil
from matese.tasks.distil import Request

EPILOG = """examples:
  matese distil Unbabel/XCOMET-XL --student configs/small/xcomet.yaml --data texts.jsonl --output fast --set start=null
  matese distil mini ours --student configs/small/unified.yaml --data texts.jsonl --output fast --device cuda

The texts are a table of translations with their sources or references. The teacher's labels are written to train.jsonl
and dev.jsonl in the output, the model to run/model. The figures compare the student with its teacher. Run the same
command again to resume a stopped run.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    fields.add_positional(parser, Request, "model", metavar="TEACHER", is_required=True)
    fields.add(parser, Request, "student", "data", is_required=True)
    fields.add(parser, Request, "dev")
    fields.add(parser, Request, "output", is_required=True)
    fields.add(parser, Request, "set")
    fields.add(parser.add_argument_group("table"), Request, "columns")
    fields.add(parser.add_argument_group("teacher"), Request, "device")


def request(args: argparse.Namespace) -> Request:
    return fields.make(args, Request)


def run(request: Request) -> None:
    with groups.training():
        distil.run(request, groups.standard_output())

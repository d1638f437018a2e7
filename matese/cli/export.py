"""`matese export`: a released model as a directory of ours."""

from __future__ import annotations

import argparse

from matese.cli import fields, groups
from matese.tasks import export
from matese.tasks.export import Request

EPILOG = """A model directory holds the weights as safetensors, the encoder's configuration, the tokenizer and a card
with the licence. It loads faster than a released model, and without a network. docs/models.md lists the
models that can be converted.

example:
  matese export Unbabel/wmt22-comet-da --output comet-22
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    groups.add_new_model(parser, Request)


def request(args: argparse.Namespace) -> Request:
    return fields.make(args, Request)


def run(request: Request) -> None:
    export.run(request, groups.standard_output())

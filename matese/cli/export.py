"""`matese export`: a released model as a directory of ours."""

from __future__ import annotations

import argparse

from matese.cli import messages, model
from matese.errors import UsageError

SUMMARY = "write a COMET, MetricX or MaTESe model as a model directory"
EPILOG = """A model directory holds the weights as safetensors, the encoder's configuration, the tokenizer and a card
with the licence. It loads faster than a released model, and without a network. docs/models.md lists the
models that can be converted.

example:
  matese export Unbabel/wmt22-comet-da --output comet-22
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    model.add_new_model(parser)


def run(args: argparse.Namespace) -> None:
    from matese.model.storage import checkpoint

    directory, target = model.source_and_target(args)
    if checkpoint.is_ours(directory):
        raise UsageError(f"{args.model} is a model of matese already: give a released model")
    with messages.undisturbed():
        from matese.model import loading
    with messages.quiet():
        loading.convert(directory, target, name=args.model)
    model.say_licences([args.model])
    print(f"model\t{target}")

"""`matese convert-model`: a released model of another program as a model directory of ours."""

from __future__ import annotations

import argparse

from matese import cli
from matese.cli import model, output

SUMMARY = "write a released model of COMET, MetricX or MaTESe as a model directory"
EPILOG = """examples:
  matese convert-model Unbabel/wmt22-comet-da --output comet-22
  matese score --model comet-22 --src src.txt --ref ref.txt --hyp mt.txt

The new directory holds the weights as safetensors, the encoder's configuration, the tokenizer and a card with the
licence. It loads faster, and it needs no network. docs/released-models.md lists the models that can be converted.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    parser.add_argument("model", metavar="SRC", help="a directory as the hub lays it out, or a hub id")
    parser.add_argument("--output", required=True, metavar="DIR", help="directory of the new model")


def run(args: argparse.Namespace) -> None:
    """Runs the command."""
    from matese.encoder import checkpoint

    target = output.model_directory(args.output)
    directory = checkpoint.resolve(args.model)
    with cli.deferring_ctrl_c():
        from matese.regression import loading
    with model.quiet():
        loading.convert(directory, target, name=args.model)
    model.say_licence(args.model, directory)
    print(f"model\t{target}")

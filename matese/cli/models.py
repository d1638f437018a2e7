"""`matese models`: the models of the package, with their inputs, sizes, licences and figures."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from matese.cli import output
from matese.render import json_objects

SUMMARY = "list the models of the package, or show the card of one"
EPILOG = """Lists the models of the package. With MODEL (a name, a directory or a hub id), shows its card.

examples:
  matese models
  matese models mini
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    parser.add_argument("model", nargs="?", metavar="MODEL", help="show the card of this model")
    parser.add_argument("--json", action="store_true", help="write the list as one JSON object")


def run(args: argparse.Namespace) -> None:
    """Runs the command."""
    from matese.encoder import checkpoint, description

    with output.opened(None) as results:
        if args.model is not None:
            card = description.card(checkpoint.resolve(args.model))
            results.write(card or f"{args.model} has no model card\n")
            return
        found = [description.describe(name, checkpoint.resolve(name)) for name in checkpoint.embedded()]
        if args.json:
            results.write(json_objects.dumps({"models": [asdict(model) for model in found]}))
        else:
            results.write("\n".join(map(description.text, found)))

"""`matese info`: the contents of a file of ratings, or the facts about a model."""

from __future__ import annotations

import argparse
import os

from matese.cli import inputs, output
from matese.formats import detection
from matese.formats.registry import BY_NAME
from matese.render import file_summary
from matese.render.labels import show

SUMMARY = "show what is in a file of ratings, or describe the models"
EPILOG = """output for a file:
  The format of the file, counts of ratings, segments and spans, and lists of systems, raters and language pairs.
  "spans on words" is the share of spans that begin and end at word boundaries. If it is low in a language with spaces
  between words, the offsets may not be in code points (but in bytes or UTF-16 units, or with inclusive ends).

examples:
  matese info mqm_newstest2020_ende.tsv
  matese info                              list the embedded models
  matese info mini                         show the card of a model
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    text = "ratings (- is standard input), or the name, directory or hub id of a model"
    parser.add_argument("input", nargs="?", metavar="FILE|MODEL", help=text)
    inputs.add_from(parser)
    inputs.add_lang_pair(parser)
    inputs.add_columns(parser)


def run(args: argparse.Namespace) -> None:
    with output.opened(None) as results:
        if args.input is None or (args.from_ is None and not _is_ratings(args.input)):
            results.write(_models() if args.input is None else _card(args.input))
            return
        with inputs.read_options(args) as how:
            name = args.from_ or detection.detect(args.input)
            ratings = detection.read(args.input, how, name=args.from_)
            rows = list(file_summary.rows(f"{name} ({BY_NAME[name].title})", ratings))
        width = max(len(label) for label, _ in rows)
        for label, value in rows:
            results.write(f"{label:<{width}}  {show(value)}\n")


def _is_ratings(path: str) -> bool:
    """Whether a path is to be read as ratings: also one that does not exist but looks like the name of a file."""
    from matese.model.storage import checkpoint

    if os.path.exists(path):
        return not os.path.isfile(os.path.join(path, checkpoint.CONFIG))
    return path == "-" or (path not in checkpoint.embedded() and bool(os.path.splitext(path)[1]))


def _models() -> str:
    from matese.model.storage import checkpoint, model_card

    models = [model_card.describe(name, checkpoint.resolve(name)) for name in checkpoint.embedded()]
    return "\n".join(map(model_card.text, models))


def _card(model: str) -> str:
    from matese.model.storage import checkpoint, model_card

    lines = model_card.card(checkpoint.resolve(model)).splitlines() or [f"{model} has no model card"]
    return "".join(f"{show(line)}\n" for line in lines)

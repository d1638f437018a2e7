"""`matese info`: the contents of a file of ratings, and whether its offsets look right."""

from __future__ import annotations

import argparse

from matese.cli import inputs, output
from matese.evaluation.systems import contents
from matese.formats import detection
from matese.formats.registry import BY_NAME
from matese.render import contents_report
from matese.render.labels import show

SUMMARY = "show what is in a file of ratings"
EPILOG = """output:
  The format of the file, counts of ratings, segments and spans, and lists of systems, raters and language pairs.
  "spans on words" is the share of spans that begin and end at word boundaries. If it is low in a language with spaces
  between words, the offsets may not be in code points (but in bytes or UTF-16 units, or with inclusive ends).

examples:
  matese info mqm_newstest2020_ende.tsv
  matese info export.json
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    parser.add_argument("input", metavar="FILE", help="ratings; - is standard input")
    inputs.add_from(parser)
    inputs.add_reading(parser)


def run(args: argparse.Namespace) -> None:
    """Runs the command."""
    with output.opened(None) as results, inputs.read_options(args) as how:
        name = args.from_ or detection.detect(args.input)
        found = contents.count(detection.read(args.input, how, name=args.from_))
        rows = list(contents_report.rows(f"{name} ({BY_NAME[name].title})", found))
        width = max(len(label) for label, _ in rows)
        for label, value in rows:
            results.write(f"{label:<{width}}  {show(value)}\n")

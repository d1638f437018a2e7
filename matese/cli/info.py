"""`matese info`: the contents of a file of ratings, or the facts about a model."""

from __future__ import annotations

import argparse

from matese.cli import fields, groups
from matese.tasks import info
from matese.tasks.info import Request

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
    fields.add_positional(parser, Request, "input", metavar="FILE|MODEL")
    fields.add(parser, Request, "from_", option="--from")
    fields.add(parser, Request, "lang_pair", "columns")


def request(args: argparse.Namespace) -> Request:
    return fields.make(args, Request)


def run(request: Request) -> None:
    info.run(request, groups.standard_output())

"""`matese prepare`: make training data of raw ratings by several raters."""

from __future__ import annotations

import argparse

from matese.cli import fields, groups
from matese.tasks import prepare
from matese.tasks.prepare import Request

USUAL = ("output", "merge", "dev", "test", "splits", "lang-pair", "src", "ref")
EPILOG = """Errors of Accuracy/Omission, Source error, Neutral and Non-translation are left out, Critical becomes Major,
and the raters of a segment are merged: of overlapping spans the more severe one stays. The score is the mean of the
raters' scores before that. A segment with an error of Non-translation keeps its score alone. Each step is counted.

examples:
  matese prepare mqm_newstest2020_ende.tsv --lang-pair en-de --output data
  matese prepare anna.tsv ben.tsv --src src.txt --ref ref.txt --output data --test 0.1 --plot spans.svg
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    fields.add_positional(parser, Request, "ratings", metavar="RATINGS", is_required=True)
    fields.add(parser, Request, "output", is_required=True)
    fields.add(parser, Request, "merge")
    fields.add(parser.add_argument_group("split by source"), Request, "dev", "test", "splits", "seed")
    groups.add_joined_texts(parser.add_argument_group("texts of a test set"), Request)
    fields.add(parser, Request, "lang_pair", "columns")
    fields.add(parser.add_argument_group("report"), Request, "unit", "plot")


def request(args: argparse.Namespace) -> Request:
    return fields.make(args, Request)


def run(request: Request) -> None:
    prepare.run(request, groups.standard_output())

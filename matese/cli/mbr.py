"""`matese mbr`: choose among the candidates of each source by minimum Bayes risk."""

from __future__ import annotations

import argparse

from matese.cli import fields, groups
from matese.tasks import mbr
from matese.tasks.mbr import Request

USUAL = ("nbest", "hyp", "src", "format", "output", "utility", "prune", "model")
EPILOG = f"""{groups.CANDIDATES}
  Minimum Bayes risk: every candidate is compared with every candidate of its source; its score is the mean, in which
  equal candidates count repeatedly. The cost grows with the square of their number; --prune and --aggregate lower it.
  Do not evaluate the choice with the metric that made it: docs/choose.md shows why.

examples:
  matese mbr --nbest samples.txt --src src.txt
  matese mbr --hyp a.txt b.txt c.txt --src src.txt --utility model
  matese mbr --hyp systems --src src.txt --utility model --prune 8 --output chosen.jsonl
  matese mbr --nbest samples.txt --src src.txt --utility model --model Unbabel/wmt22-comet-da --aggregate
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    groups.add_candidates(parser, Request)
    fields.add(parser.add_argument_group("risk"), Request, "utility", "aggregate", "prune", "prune_model")
    groups.add_model(parser, Request, has_weights=False)


def request(args: argparse.Namespace) -> Request:
    return fields.make(args, Request)


def run(request: Request) -> None:
    mbr.run(request, groups.standard_output())

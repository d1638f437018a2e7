"""`matese explain`: which words lower the score of a translation."""

from __future__ import annotations

import argparse

from matese.cli import fields, groups
from matese.tasks import explain
from matese.tasks.explain import Request

USUAL = ("hyp", "src", "ref", "by", "format", "output", "limit", "model")
EPILOG = """methods (--by), with a layer L and a head H; docs/explain.md describes them:
  every model                     leave-one-out, lime
  taggers                         tags
  encoders of the RoBERTa family  attention[:L[:H]], attention-norm, attention-gradient, attention-value-gradient,
                                  gradient-norm[:L], gradient-hidden[:L], integrated-gradients, embed-align[:L]

A positive weight lowers the score; the absolute weights of a text have the mean 1.

--fit GOLD measures the methods against human spans on rated segments. It finds the best layer and head, and the weight
from which a word counts as an error; --min-weight applies that weight and so marks spans with any model. With --fit,
--output keeps the weights of each segment in a file; the same command resumes a stopped run from it.

examples:
  matese explain --ref ref.txt --hyp mt.txt
  matese explain --ref ref.txt --hyp mt.txt --by integrated-gradients --output heat.html
  matese explain --fit dev.jsonl --by attention attention-norm gradient-hidden --limit 200
  matese explain --ref ref.txt --hyp mt.txt --by attention:3:0 --min-weight 2.1 --output spans.jsonl
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    groups.add_texts(parser, Request)
    fields.add(parser.add_argument_group("explanation"), Request, "by", "fit", "min_weight")
    fields.add(parser.add_argument_group("output"), Request, "format", "output", "limit")
    groups.add_model(parser, Request, has_weights=False)


def request(args: argparse.Namespace) -> Request:
    return fields.make(args, Request)


def run(request: Request) -> None:
    explain.run(request, groups.standard_output())

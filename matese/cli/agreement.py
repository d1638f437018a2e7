"""`matese agreement`: measure how well human raters agree with each other."""

from __future__ import annotations

import argparse

from matese.cli import fields, groups
from matese.tasks import agreement
from matese.tasks.agreement import Request

USUAL = ("unit", "weights", "bootstrap", "all", "json")
EPILOG = """RATINGS holds ratings of the same segments by two or more raters. All pairs of ratings of a segment are
compared in both directions, so precision equals recall. A model with higher figures in matese evaluate agrees with a
rater better than the raters agree with each other.

output:
  of all raters      matching, characters, HSH/TSH, tags, severities of matched spans, scores, Krippendorff's alpha
  of each rater      errors per segment, share of Major errors, share of error-free segments, span length, mean score;
                     agreement with the others
  of two raters      the same figures; the first rater counts as GOLD, the second as PRED of matese evaluate

  docs/research/evaluation.md defines all of them, and the keys of --json.

examples:
  matese agreement mqm_newstest2020_ende.tsv
  matese agreement ratings.jsonl --bootstrap 200 --json agreement.json
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    fields.add_positional(parser, Request, "ratings", metavar="RATINGS")
    groups.add_figures(parser.add_argument_group("figures"), Request)
    fields.add(parser.add_argument_group("output"), Request, "all", "markdown", "latex", "json")
    fields.add(parser, Request, "lang_pair")


def request(args: argparse.Namespace) -> Request:
    return fields.make(args, Request)


def run(request: Request) -> None:
    agreement.run(request, groups.standard_output())

"""`matese calibrate`: fit a model's confidences and operating point to human ratings."""

from __future__ import annotations

import argparse

from matese.cli import fields, groups
from matese.tasks import calibrate
from matese.tasks.calibrate import Request

USUAL = ("output", "error-free", "short-texts", "every")
EPILOG = """examples:
  matese calibrate runs/mini/model data/prepared/dev.jsonl --output runs/mini/calibrated
  matese calibrate runs/mini/model dev.jsonl --error-free esa.jsonl --every 6 --output runs/mini/calibrated

Each segment is read once with its reference and once with its source, if the model reads both; everything is fitted to
that, in the order in which a model decodes:

  tags        temperature and biases. The error probability with the best F1 of erroneous tokens determines the spans.
  meaning     from which evidence of an error of meaning on the expected score falls: as little as possible, so that
              the correlation with people's scores falls by at most .01. Models without a meaning head have no rule.
  confidence  the probability that a span overlaps a rater's span. It never falls where the error probability rises, and
              is capped where there were too few spans to know more.
  severity    as many marks are Major as of the raters: in texts of up to six words, in others, and in each language
              pair with enough marks.
  thresholds  the lowest confidence from which on half of the marks overlap a rater's span, in texts of up to six words
              and in others. 1 means that nothing is marked. --min-confidence of matese tag overrides them.
  error-free  a logistic regression for matese tag --error-free, if there are enough segments of both kinds, and how
              well it agrees with the raters (Matthews correlation coefficient). A segment with a Major mark is never
              free of errors. With --error-free there are two: one for the language pairs of the ratings, and one for
              all others.

Prints a table of each. A sample of some 1,500 ratings suffices (--every). Texts of up to six words are always read:
they are rare and short, and have limits of their own. --short-texts gives more of them.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    groups.add_new_model(parser, Request)
    fields.add_positional(parser, Request, "ratings", metavar="FILE", is_required=True)
    fields.add(parser, Request, "error_free")
    fields.add(parser, Request, "short_texts")
    fields.add(parser, Request, "every", metavar="N")


def request(args: argparse.Namespace) -> Request:
    return fields.make(args, Request)


def run(request: Request) -> None:
    calibrate.run(request, groups.standard_output())

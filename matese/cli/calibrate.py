"""`matese calibrate`: fit a model's confidences and operating point to human ratings."""

from __future__ import annotations

import argparse

from matese.cli import fields, groups
from matese.tasks import calibrate
from matese.tasks.calibrate import Request

SUMMARY = "write a copy of a model with calibrated confidences"
EPILOG = """examples:
  matese calibrate runs/mini/model data/prepared/dev.jsonl --output runs/mini/calibrated
  matese calibrate runs/mini/model dev.jsonl --error-free esa.jsonl --output runs/mini/calibrated

Prints the calibration error before and after, and a table of error probabilities with the precision, recall and F1 of
erroneous tokens and the macro-F1 of the five tags. The probability with the best F1 determines the spans. The
confidence of a span becomes the probability that it overlaps a rater's span; a second table shows the precision and
recall of spans by minimum confidence. The default minimum marks as many segments as the raters marked, if the
model has as many spans; --min-confidence of matese tag overrides it. As many spans are Major as of the raters.

With enough segments of both kinds, a logistic regression for matese tag --error-free is fitted to whether the raters
found nothing to correct. The last table shows its Matthews correlation coefficient and its threshold for each kind of
input, the number of language pairs that have a threshold of their own, and the language pairs that it decides on. With
--error-free there are two of them: one for the language pairs of the ratings, and one for all others.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    groups.add_new_model(parser, Request)
    fields.add_positional(parser, Request, "ratings", metavar="FILE", is_required=True)
    fields.add(parser, Request, "error_free")


def request(args: argparse.Namespace) -> Request:
    return fields.make(args, Request)


def run(request: Request) -> None:
    calibrate.run(request, groups.standard_output())

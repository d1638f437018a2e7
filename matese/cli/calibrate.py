"""`matese calibrate`: fit a model's confidences and operating point to human ratings."""

from __future__ import annotations

import argparse

from matese.cli import fields, groups
from matese.tasks import calibrate
from matese.tasks.calibrate import Request

USUAL = ("output", "error-free", "contrasts", "every")
EPILOG = """examples:
  matese calibrate runs/mini/model data/prepared/dev.jsonl --output runs/mini/calibrated
  matese calibrate runs/mini/model dev.jsonl --error-free esa.jsonl --every 6 --output runs/mini/calibrated

Each segment is read once with its reference and once with its source, if the model reads both; everything is fitted to
that, in the order in which a model decodes. The weights stay as they are.

  marks       runs of tokens whose error probability reaches a limit. Their confidence is the probability that they
              overlap a rater's mark; it never falls where an error becomes more probable. The threshold is the lowest
              confidence from which on half of the marks overlap a rater's. Texts of up to six words have their own,
              and --for interface a third one, by which at most one right short text in ten gets a mark. In texts that
              are read in several pieces, thresholds rise with their number, so that half of the marks are right where
              one sentence of two, four or eight is wrong (fitted to --contrasts). As many marks are Major as of the
              raters. --min-confidence of matese tag overrides the thresholds.
  pieces      how the expected score of a text of several sentences follows from the whole and its pieces.
  meaning     from which evidence of an error of meaning on the expected score falls: as little as possible, so that
              the correlation with people's scores falls by at most .01. In texts of up to six words the evidence also
              raises it: at most one right text in ten is below -1. Models without a meaning head have no rule.
  error-free  a logistic regression for matese tag --error-free, if there are enough segments of both kinds, and how
              well it agrees with the raters (Matthews correlation coefficient). A segment with a Major mark is never
              free of errors.

Prints a table of each. A sample of some 1,500 ratings suffices (--every). --contrasts names right and wrong texts;
some 1,500 of up to six words and as many longer ones are read.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    groups.add_new_model(parser, Request)
    fields.add_positional(parser, Request, "ratings", metavar="FILE", is_required=True)
    fields.add(parser, Request, "error_free")
    fields.add(parser, Request, "contrasts")
    fields.add(parser, Request, "every", metavar="N")


def request(args: argparse.Namespace) -> Request:
    return fields.make(args, Request)


def run(request: Request) -> None:
    calibrate.run(request, groups.standard_output())

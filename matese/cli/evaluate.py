"""`matese evaluate`: compare predicted spans and scores with gold ones."""

from __future__ import annotations

import argparse

from matese.cli import fields, groups
from matese.tasks import evaluate
from matese.tasks.evaluate import Request

USUAL = ("versus", "weights", "bootstrap", "by", "all", "json", "common", "rater", "merge")
EPILOG = """GOLD and PRED hold ratings of the same segments. Rating i of both must be of the same hypothesis; if the
order differs, ratings are matched by their keys. Neutral and undecided spans do not count, and Critical spans count as
Major.

figures:
  mpp, mp, em      spans matched one to one: with partial credit (report mpp micro F1), with any overlap, exactly
  char_wmt23, ...  precision, recall and F1 of marked characters, as in the WMT tasks of 2023 and 2025
  soft             SoftF1: as characters, but a prediction near the gold one earns something, too
  hsh, tsh         share of the predicted spans (hsh) and of the gold spans (tsh) that overlap one of the other side
  exact, tags      spans with equal units and severity (exact); tags compared unit by unit (tags)
  category         agreement on the main MQM categories of matched spans; --by category adds precision, recall and F1
  score            correlation and error of the MQM scores; expected_score: the same for the model's expected scores
  calibration      how well confidences match precision
  error_free       labels of segments as free of errors; needs files written with --error-free. mcc is 1 if all labels
                   are right and 0 if they are as good as chance; error_free.unmarked takes segments without marks for
                   those free of errors
  pass             precision and recall of good translations at every threshold of a score; needs --good
  uncertainty      how well the intervals of expected scores fit the human scores; needs matese tag --uncertainty
  localisation     how well token scores find erroneous tokens; needs files written with --tokens
  --rater and --merge apply to GOLD. With --merge, segments with several raters have a human ceiling: each rater against
  the others, merged.
  docs/research/evaluation.md defines all of them, and the keys of --json.

examples:
  matese evaluate gold.jsonl spans.jsonl
  matese evaluate gold.jsonl new.jsonl --versus old.jsonl --bootstrap 1000
  matese evaluate ted.tsv spans.jsonl --by severity system --json figures.json
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    fields.add_positional(parser, Request, "gold", metavar="GOLD")
    fields.add_positional(parser, Request, "predicted", metavar="PRED")
    fields.add(parser, Request, "versus", "common")
    group = parser.add_argument_group("figures")
    groups.add_figures(group, Request)
    fields.add(group, Request, "interval_scale", "by", "good", "sentinels")
    fields.add(parser.add_argument_group("output"), Request, "all", "markdown", "latex", "json")
    groups.add_raters(parser, Request)
    fields.add(parser, Request, "lang_pair")
    groups.add_joined_texts(parser.add_argument_group("texts of GOLD, if its file lacks them"), Request)


def request(args: argparse.Namespace) -> Request:
    return fields.make(args, Request)


def run(request: Request) -> None:
    evaluate.run(request, groups.standard_output())

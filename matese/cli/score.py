"""`matese score`: score systems and their segments."""

from __future__ import annotations

import argparse

from matese.cli import fields, groups
from matese.tasks import score
from matese.tasks.score import Request

USUAL = ("hyp", "src", "ref", "input", "segments", "weights", "json", "model")
EPILOG = """output:
  On a terminal a table with a header, best system first, with 95% intervals and the p-value of the difference from the
  first system (paired permutation test); elsewhere a header and one line per system, its fields separated by tabs:
    system, score, expected score, segments, segments with errors, Minor, Major (Critical included), blank hypotheses,
    signature
  --quiet: only the score that ranks the systems, one number per system, or per segment with --segments
  --segments: one line per segment, before the table or in place of the lines of the systems:
    system, document (if several files are joined, the file), segment (its line or name in the file), score, expected
    score, Minor, Major, signature
  --json: one object with `signature`, `weights`, `ranking` (names, best first) and `systems`, a list of objects with
    `system`, `score`, `expected_score`, `segments`, `with_errors`, `minor`, `major`, `blank`, `score_interval`,
    `expected_score_interval`, `score_100` (from 0 to 100: a model's own, or 100 for no error and 0 for -25),
    `penalty_per_1000_words` (of the source), `p` and, with --segments, `segment_scores`, a list of objects with
    `index` (from 0, over all segments of the system), `document`, `segment`, `score`, `expected_score`, `minor` and
    `major`.

  A system's score is the mean of its segments' scores: 0 is best, lower is worse. The score adds up the penalties of
  the marked errors; the expected score is the model's estimate of the score that people would give. Systems are ranked
  by the expected score if there is one, or as --by says. COMET models give an expected score on their own scale, on
  which higher is better. For a model that marks no errors, the score and the counts of errors are empty.

  The score of a segment with several raters is their mean; the counts are those of all its raters' errors.

  RATINGS are scored without a model, human annotations too, in any format that matese convert reads.

examples:
  matese score --ref ref.txt --hyp sys1.txt sys2.txt
  matese score --src src.txt --hyp mt.txt --segments --quiet
  matese score --input data.csv --columns hypothesis=mtA,mtB
  matese score spans.jsonl --weights google
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    fields.add_positional(parser, Request, "ratings", metavar="RATINGS")
    groups.add_texts(parser, Request, has_test_sets=True)
    fields.add(parser.add_argument_group("output"), Request, "segments", "by", "json")
    uncertainty = parser.add_argument_group("uncertainty", "docs/explain.md explains the intervals")
    fields.add(uncertainty, Request, "uncertainty", "interval_scale")
    groups.add_model(parser, Request)


def request(args: argparse.Namespace) -> Request:
    return fields.make(args, Request, scores_only=args.quiet)


def run(request: Request) -> None:
    score.run(request, groups.standard_output())

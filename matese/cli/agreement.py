"""`matese agreement`: measure how well human raters agree with each other."""

from __future__ import annotations

import argparse

from matese.cli import evaluate, inputs, messages, options, output

SUMMARY = "compare the errors that several raters marked"
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
    parser.add_argument("ratings", metavar="RATINGS", help="one file with the ratings of all raters")
    evaluate.add_figures(parser.add_argument_group("figures"))
    options.add_json(parser.add_argument_group("output"))
    inputs.add_lang_pair(parser)


def run(args: argparse.Namespace) -> None:
    with output.results(args.json, [args.ratings]) as outputs:
        from matese import api
        from matese.render import agreement_report, tables

        measured = api.agreement(inputs.ratings(args.ratings, args), **evaluate.figures(args))
        messages.info(*measured.notices, *tables.undefined({**measured.pooled, **measured.alpha}))
        outputs.write_text(*agreement_report.text(measured))
        outputs.write_json(agreement_report.to_json(measured, name=args.ratings))

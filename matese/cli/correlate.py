"""`matese correlate`: compare metric scores with human scores."""

from __future__ import annotations

import argparse

from matese.cli import fields, groups
from matese.tasks import correlate
from matese.tasks.correlate import Request

USUAL = ("lang-pairs", "metrics", "gold", "metric", "baseline", "rank-by", "significance", "json")
EPILOG = """TESTSET is a directory of mt-metrics-eval. Without it, --gold and --metric are files: SYSTEM SCORE lines,
WMT submissions of 2019 or 2022, MQM averages (system mqm_avg_score seg_id), CSV (system,segment,score), or JSONL of
ratings, whose MQM scores are used. --gold can also be relative ranks of WMT (RR-seglevel.csv), whose only figure is
segment.darr. Baselines are computed from the texts of TESTSET, or of the ratings of --gold.

figures (docs/research/correlate.md defines all of them, and the keys of --json):
  system    pearson, accuracy (pairwise), spa (soft pairwise accuracy)
  segment   pearson, kendall_b and kendall_c, each also _by_item and _by_system; pdp, darr, acc_eq
  average   wmt23, wmt24 (the same as in WMT25), over the language pairs

  Metrics with the same cluster number do not differ significantly.

examples:
  matese correlate wmt22 --lang-pairs en-de zh-en --baseline bleu chrf --json figures.json
  matese correlate wmt22 --rank-by average.wmt24 --by domain
  matese correlate --gold newstest2020.avg_seg_scores.tsv --metric BLEU.seg.score mini.jsonl
  matese correlate --gold ratings.jsonl --baseline chrf yisi mini Unbabel/wmt22-comet-da
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    fields.add_positional(parser, Request, "test_set", metavar="TESTSET")
    group = parser.add_argument_group("scores")
    fields.add(group, Request, "lang_pairs", "metrics", "gold", "metric", "human_metric", "ref", "first_segment")
    fields.add(group.add_mutually_exclusive_group(), Request, "with_human", "without_human")
    fields.add(group, Request, "without")
    fields.add(group.add_mutually_exclusive_group(), Request, "without_outliers", "with_outliers")
    fields.add(group, Request, "baseline", "encoder", "layer")
    group = parser.add_argument_group("figures")
    fields.add(group, Request, "rank_by", "significance", "samples", "good", "by", "bootstrap")
    fields.add(parser.add_argument_group("output"), Request, "markdown", "latex", "json", "plot")


def request(args: argparse.Namespace) -> Request:
    return fields.make(args, Request)


def run(request: Request) -> None:
    correlate.run(request, groups.standard_output())

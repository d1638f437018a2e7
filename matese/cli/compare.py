"""`matese compare`: compare two or more systems."""

from __future__ import annotations

import argparse

from matese.annotation.severities import COUNTED
from matese.cli import fields, groups
from matese.errors import one_of
from matese.tasks import compare
from matese.tasks.compare import Request

_SEVERITIES = one_of([severity.value for severity in COUNTED])
USUAL = ("hyp", "src", "ref", "input", "baseline", "filter", "all", "html", "json", "metrics")
EPILOG = f"""RATINGS are files with ratings of the same segments by the same rater or model. A file holds one or several
systems. The model marks translations (--hyp, --input) first. Rating i of each system must be of the same segment; if
the order differs, segments are matched by their keys.

The report has a verdict for each other system against --baseline, or for any two systems; their scores and error rates;
and the segments with the largest differences. --all adds the differences with the paired bootstrap and the paired
permutation test, and how many errors are fixed, introduced, less severe, more severe and unchanged. docs/compare.md
defines all figures and the keys of --json. The score is minus the penalties of the marked errors, the expected score
the model's estimate of the score that people would give. Systems are compared by the expected score if all ratings have
one, or as --by says. Marks that --checks also adds change the score, but not the expected score: --by spans counts
them.

filters (--filter):
  length=MIN:MAX     sources of MIN to MAX words; either number may be omitted
  errors=MIN:MAX     segments in which a system has MIN to MAX errors
  severity=NAME,...  segments in which a system has an error of this severity: {_SEVERITIES}; none: no error
  number, name       sources with a digit; with a capitalised word that does not begin a sentence
  glossary=FILE      sources with a term of this file, one per line
  unique             the first segment of each source in each language pair

examples:
  matese compare old.jsonl new.jsonl
  matese compare --hyp a.txt b.txt c.txt --ref ref.txt --baseline b.txt
  matese compare --input data.csv --columns hypothesis=mtA,mtB
  matese compare old.jsonl new.jsonl --metrics bleu chrf bertscore Unbabel/wmt22-comet-da
  matese compare old.jsonl new.jsonl --filter length=20: number --html compare.html --json compare.json
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    groups.add_rated(parser, Request)
    fields.add(parser.add_argument_group("figures"), Request, "baseline", "by", "bootstrap", "filter")
    fields.add(parser.add_argument_group("output"), Request, "all", "markdown", "latex", "json", "html")
    text = "ask which of two translations is better, in both orders (docs/models.md)"
    fields.add(parser.add_argument_group("language model", text), Request, "annotator", "base_url", "set", "cache")
    text = "other metrics, as rows beside the scores of the ratings"
    fields.add(parser.add_argument_group("metrics", text), Request, "metrics")


def request(args: argparse.Namespace) -> Request:
    return fields.make(args, Request)


def run(request: Request) -> None:
    compare.run(request, groups.standard_output())

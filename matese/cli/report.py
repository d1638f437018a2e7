"""`matese report`: write ratings as an HTML page."""

from __future__ import annotations

import argparse

from matese.cli import fields, groups
from matese.tasks import report
from matese.tasks.report import Request

USUAL = ("hyp", "src", "ref", "input", "lang-pair", "output", "summary", "lang", "title", "checks", "model")
EPILOG = """The page is one file that needs no network and no other file: open it from disk, send it, or print it.
Severities differ by underline and label as well as by colour. Point at an error, or press n and p, to see its details.
Search, filters and sorting apply to all segments. Printing includes the segments that pass the filters.
The model marks translations (--hyp, --input) first.

examples:
  matese report spans.jsonl --output report.html
  matese report --hyp mt.txt --ref ref.txt --output report.html
  matese report online-A.jsonl online-B.jsonl --output report.html --title "Release 2.1"
  matese report mqm_newstest2020_ende.tsv --lang-pair en-de --output human.html
  matese report reviewed.jsonl --summary --lang de --output summary.html
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    fields.add_positional(parser, Request, "ratings", metavar="RATINGS")
    groups.add_texts(parser, Request)
    groups.add_checks(parser, Request)
    groups.add_model(parser, Request)
    group = parser.add_argument_group("output")
    fields.add(group, Request, "output", is_required=True)
    fields.add(group, Request, "summary", "lang", "title")


def request(args: argparse.Namespace) -> Request:
    return fields.make(args, Request)


def run(request: Request) -> None:
    report.run(request, groups.standard_output())

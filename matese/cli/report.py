"""`matese report`: write ratings as an HTML page."""

from __future__ import annotations

import argparse

from matese.cli import inputs, options, output
from matese.formats.file_endings import ENDINGS

SUMMARY = "make an HTML page of ratings to read, search and correct"
EPILOG = """The page is one file that needs no network and no other file: open it from disk, send it, or print it.
Severities differ by underline and label as well as by colour. Point at an error, or press n and p, to see its details.
Search, filters and sorting apply to all segments. Printing includes the segments that pass the filters.

examples:
  matese report spans.jsonl --output report.html
  matese report online-A.jsonl online-B.jsonl --output report.html --title "Release 2.1"
  matese report mqm_newstest2020_ende.tsv --lang-pair en-de --output human.html
  matese report reviewed.jsonl --summary --lang de --output summary.html
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ratings", nargs="+", metavar="RATINGS", help="files of ratings, of one system or several")
    group = parser.add_argument_group("output")
    group.add_argument("--output", required=True, metavar="FILE", help="the page; - is standard output")
    text = "one page to print for a customer: a verdict, counts, the five worst segments, and what was checked by what"
    group.add_argument("--summary", action="store_true", help=text)
    text = "language of the summary: en, de, es, fr or zh (default: en)"
    group.add_argument("--lang", metavar="CODE", help=text)
    group.add_argument("--title", metavar="TEXT", help="heading of the page (default: names of the systems)")
    options.add_weights(group)
    inputs.add_lang_pair(parser)


def run(args: argparse.Namespace) -> None:
    inputs.check_stdin(args.ratings)
    output.check_apart(args.output, args.ratings)
    options.require(args.summary or args.lang is None, "--lang is for --summary only")
    output.format_of(args.output, "html", {**ENDINGS, **output.PAGE})
    with output.opened(args.output) as page:
        from matese import api

        systems = inputs.systems(args.ratings, args, must_be_rated=False)
        if args.summary:
            page.write(api.summary(systems, title=args.title, lang=args.lang or "en", weights=args.weights))
        else:
            page.write(api.report(systems, title=args.title, weights=args.weights))

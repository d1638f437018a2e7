"""`matese convert`: convert ratings from one format to another, and count everything that is lost."""

from __future__ import annotations

import argparse

from matese.cli import fields, groups
from matese.formats.registry import TABLE
from matese.tasks import convert
from matese.tasks.convert import Request

_FORMATS = "\n".join(
    f"  {'r' if form.reads else '-'}{'w' if form.writes else '-'} {form.name:<16} {form.title}" for form in TABLE
)
USUAL = ("to", "from", "lang-pair", "strict", "columns", "rater", "before", "template")
EPILOG = f"""formats (r: can be read, w: can be written):
{_FORMATS}

  The format of IN, also on standard input (-), is detected from its beginning unless --from is given. What the format
  of OUT cannot hold is left out, and reported by kind and count. docs/formats.md describes what each format can hold.

examples:
  matese convert spans.jsonl spans.csv
  matese convert spans.jsonl ted.tsv --to mqm-tsv
  matese convert spans.jsonl tasks --to label-studio
  matese convert ted.tsv ted.jsonl --src ted.en --ref ted.de       the references of raw MQM ratings
  matese convert export.json corrected.jsonl --before spans.jsonl
  matese convert submission.jsonl predicted.jsonl --texts mteval-test26.jsonl
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    fields.add_positional(parser, Request, "input", metavar="IN")
    fields.add_positional(parser, Request, "output", metavar="OUT")
    fields.add(parser, Request, "to")
    fields.add(parser, Request, "from_", option="--from")
    group = parser.add_argument_group("reading")
    fields.add(group, Request, "lang_pair", "first_segment", "strict", "end_shift", "single_characters", "predictions")
    fields.add(group, Request, "test_set", "texts", "columns")
    groups.add_joined_texts(group, Request)
    fields.add(group, Request, "before")
    groups.add_raters(parser, Request)
    group = parser.add_argument_group("writing")
    fields.add(
        group,
        Request,
        "as_rater",
        "all_reviewed",
        "weights",
        "method",
        "score",
        "system",
        "template",
        "corrections_only",
    )


def request(args: argparse.Namespace) -> Request:
    return fields.make(args, Request)


def run(request: Request) -> None:
    convert.run(request, groups.standard_output())

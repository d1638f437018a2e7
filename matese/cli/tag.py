"""`matese tag`: marks the errors of translations, for readers, for programs, or for other tools."""

from __future__ import annotations

import argparse

from matese.cli import fields, groups
from matese.tasks import cluster, tag
from matese.tasks.tag import Request
from matese.tasks.texts import require
from matese.tasks.values import OneOf

QUIET = (
    "show errors only, no notices and no progress; without --format, print one score per segment and nothing else "
    "unless the output is a terminal"
)
USUAL = ("hyp", "src", "ref", "lang-pair", "input", "format", "output", "only-errors", "sort", "checks", "model")
EPILOG = """examples:
  matese tag --ref ref.txt --hyp mt.txt
  matese tag --src src.txt --hyp mt.txt                      reference-free
  matese tag --ref a.txt --ref b.txt --hyp mt1.txt mt2.txt   two references, two systems
  matese tag --ref ref.txt --hyp mt.txt --output spans.jsonl
  matese tag --src src.txt --hyp mt.txt --format label-studio --output tasks
  matese tag --ref ref.txt --hyp mt.txt --output report.html
  matese tag --src src.txt --hyp mt.txt --shard 3/8 --output spans-3.jsonl
  matese tag --input data.csv --output out.csv               a table; its other columns are kept
  matese tag --src src.txt --hyp mt.txt --annotator openai:MODEL --base-url http://localhost:8080/v1
  matese tag --input mteval-test26.jsonl --error-free --format wmt26 --output submission.jsonl
  matese tag --cluster ray --input texts --output spans       a folder or pattern of tables, on a cluster

A system has the name of its file without the last suffix ("stdin" for standard input), or its path if two names are
equal. docs/formats.md describes the formats; matese/formats/rating.schema.json is the JSON Schema of the JSONL. For
formats that people correct, such as label-studio, --min-confidence is by default half of the model's own minimum.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    groups.add_texts(parser, Request, has_test_sets=True)
    fields.add(parser, Request, "ignore_references")
    output = parser.add_argument_group("output")
    fields.add(output, Request, "format", "output", "only_errors", "sort", "limit", "tokens", "cache")
    large = parser.add_argument_group("large jobs", "docs/operation.md compares the two ways")
    fields.add(large, Request, "shard")
    text = "annotate the files of a folder on a cluster: ray"
    large.add_argument("--cluster", type=fields.Argument(OneOf("cluster", ("ray",))), metavar="NAME", help=text)
    fields.add(large, cluster.Request, "workers")
    groups.add_checks(parser, Request)
    asked = parser.add_argument_group("language model", "docs/models.md explains it")
    fields.add(asked, Request, "annotator", "base_url", "context", "correct", "dry_run", "set")
    uncertainty = parser.add_argument_group("uncertainty", "docs/explain.md explains the intervals")
    fields.add(uncertainty, Request, "uncertainty", "interval_scale")
    fields.add(parser.add_argument_group("error-free segments"), Request, "error_free")
    groups.add_model(parser, Request)


def request(args: argparse.Namespace) -> Request | cluster.Request:
    request = fields.make(args, Request, scores_only=args.quiet)
    if args.cluster is None:
        require(args.workers is None, "--workers is for --cluster ray only")
        return request
    require(request.annotator is None, "--annotator: leave out --cluster")
    fields.refuse(request, cluster.Request, "--cluster ray: leave out", allowed=("scores_only", "format"))
    folder = request.input[0] if len(request.input) == 1 else ""
    return fields.make(args, cluster.Request, input=folder, output=request.output or "")


def run(request: Request | cluster.Request) -> None:
    if isinstance(request, Request):
        tag.run(request, groups.standard_output())
    else:
        cluster.run(request)

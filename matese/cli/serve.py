"""`matese serve`: serve a page and an HTTP interface that mark errors, or a page to correct the marks of a file."""

from __future__ import annotations

import argparse

from matese.cli import fields, groups
from matese.tasks import serve
from matese.tasks.serve import LimitOptions, Request

USUAL = ("output", "port", "model", "lang-pair")
EPILOG = """Needs pip install 'matese[serve]', but no network. Press Ctrl-C to stop the server. A request:

  curl http://127.0.0.1:8000/annotate --json '{"segments": [{"hypothesis": "Volga", "references": ["Wolga"]}]}'

The answer is {"ratings": [...]}, each as matese tag --format jsonl writes it. A CSV table may be sent as text/csv.
/docs describes the interface, /health answers as soon as the model is loaded, and /metrics is for Prometheus.
Pages of other sites cannot use it. There is no password: with --host, anyone who can reach the port can use the server.

With FILE, the page shows its translations and marks, and a file without marks is marked first, by --model. Type your
name: what you correct is then saved at once in --output, and in no other file; run the same command again to go on.
Only this machine can use the page.

examples:
  matese serve
  matese serve --model runs/xlmr-base/calibrated --port 8080
  matese serve spans.jsonl
  matese serve fr.po --output fr-anna.jsonl
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    fields.add_positional(parser, Request, "file", metavar="FILE")
    fields.add(
        parser.add_argument_group("correcting FILE"), Request, "output", "lang_pair", "columns", "checks", "terms"
    )
    fields.add(parser.add_argument_group("server"), Request, "host", "port")
    fields.add(parser.add_argument_group("limits of a request"), Request, *fields.names(LimitOptions))
    groups.add_model(parser, Request)


def request(args: argparse.Namespace) -> Request:
    return fields.make(args, Request)


def run(request: Request) -> None:
    serve.run(request)

"""`matese serve`: serve a page and an HTTP interface that mark errors, or a page to correct the marks of a file."""

from __future__ import annotations

import argparse
import ipaddress
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from matese.cli import inputs, messages, model, options, output
from matese.errors import UsageError, check_installed
from matese.files import reason
from matese.serving import limits

if TYPE_CHECKING:
    from matese.annotation import Rating

_LAST_PORT = 65535
SUMMARY = "serve a page that marks errors, or one to correct the marks"
USUAL = ("output", "port", "model", "lang-pair")
EPILOG = """Needs pip install 'matese[serve]', but no network. Press Ctrl-C to stop the server. A request:

  curl http://127.0.0.1:8000/annotate --json '{"segments": [{"hypothesis": "Volga", "references": ["Wolga"]}]}'

The answer is {"ratings": [...]}, each as matese tag --format jsonl writes it. A CSV table may be sent as text/csv.
/docs describes the interface, and /health answers as soon as the model is loaded. Pages of other sites cannot use it.
There is no password: with --host, anyone who can reach the port can use the server.

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
    text = "ratings or translations, in any format that matese convert reads: show and correct their marks"
    parser.add_argument("file", nargs="?", metavar="FILE", help=text)
    group = parser.add_argument_group("correcting FILE")
    text = "JSONL file for the corrected ratings (default: FILE with the ending .reviewed.jsonl)"
    group.add_argument("--output", metavar="JSONL", help=text)
    inputs.add_lang_pair(group)
    group = parser.add_argument_group("server")
    text = "address to listen on (default: 127.0.0.1, this machine only)"
    group.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help=text)
    text = "port; 0 for any free one (default: 8000)"
    group.add_argument("--port", type=options.whole_number(0), default=8000, metavar="N", help=text)
    group = parser.add_argument_group("limits of a request")
    usual = limits.Limits()
    for option in limits.OPTIONS:
        options.add_number(group, option.name, 1, getattr(usual, option.limit), option.help, to=option.limit)
    model.add_options(parser, is_main=True)


def run(args: argparse.Namespace) -> None:
    options.require(args.file is not None or not (args.output or args.lang_pair), "--output and --lang-pair need FILE")
    options.require(args.port <= _LAST_PORT, f"--port {args.port}: must be {_LAST_PORT} at most")
    for package in ("starlette", "uvicorn", "swagger_ui"):
        check_installed("matese serve", package, extra="serve")
    if args.file is not None:
        _review(args)
        return
    with _listening(args.host, args.port) as listening, model.loaded(args) as annotator:
        from matese.serving import app, server

        host, port = listening.getsockname()[:2]
        address = ipaddress.ip_address(host)
        if not address.is_loopback:
            messages.info(f"{host} is open to other machines: everybody who can reach it can use it")
        name = f"[{host}]" if address.version == 6 else host
        messages.info(f"{annotator.name} at http://{name}:{port}/, press Ctrl-C to stop")
        chosen = limits.Limits(**{option.limit: getattr(args, option.limit) for option in limits.OPTIONS})
        server.run(app.make_app(annotator, chosen, is_loopback=address.is_loopback), listening, chosen)


def _review(args: argparse.Namespace) -> None:
    """Serves the page that corrects the marks of a file."""
    options.require(args.file != "-", "FILE is standard input: must be a file")
    target = Path(args.output or f"{args.file.removesuffix(Path(args.file).suffix)}.reviewed.jsonl")
    options.require(target.suffix == ".jsonl", f"--output {target}: must be a JSONL file")
    output.check_apart(str(target), [args.file])
    with _listening(args.host, args.port) as listening:
        host, port = listening.getsockname()[:2]
        is_loopback = ipaddress.ip_address(host).is_loopback
        options.require(is_loopback, f"--host {args.host}: must be an address of this machine alone, to correct FILE")
        from matese.serving import marking, review, server

        systems = inputs.systems([args.file], args, must_be_rated=False)
        reviewed = review.Review(systems, target, args.weights)
        if marking.is_unmarked(systems):
            reviewed = review.Review(_marked(systems, args), target, args.weights)
        else:
            options.require(args.model == "mini", f"--model {args.model}: {args.file} has marks: leave out --model")
        name = f"[{host}]" if ":" in host else host
        messages.info(f"{args.file} at http://{name}:{port}/, saved in {target}, press Ctrl-C to stop")
        server.run(review.make_app(reviewed), listening, reviewed.limits)


def _marked(systems: Mapping[str, Sequence[Rating]], args: argparse.Namespace) -> Mapping[str, Sequence[Rating]]:
    """Returns the ratings of the file, marked by the model."""
    from matese.serving import marking

    n_given = sum(map(len, systems.values()))
    with model.loaded(args, n_given) as annotator:
        wanted = marking.readable(systems, annotator)
        again = f"to keep the marks, write them with matese tag --input {args.file} --output FILE.jsonl"
        messages.info(f"{args.file} has no marks: {annotator.name} marks {len(wanted):,} translations first; {again}")
        if n_left := n_given - len(wanted):
            messages.info(f"{n_left:,} translations lack what the model needs, {annotator.needed}: not marked")
        ratings = annotator.annotate_segments(rating.segment for rating in wanted)
        return marking.with_marks(systems, list(messages.progress(ratings, len(wanted))), annotator)


def _listening(host: str, port: int) -> socket.socket:
    """Returns a listening socket; it is opened before the model is loaded, so that a busy port is reported at once."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except (OSError, UnicodeError) as error:
        problem = reason(error) if isinstance(error, OSError) else "no such address"
        allowed = "must be an address of this machine and a free port"
        raise UsageError(f"--host {host} --port {port}: {problem}: {allowed}") from None

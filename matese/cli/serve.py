"""`matese serve`: serve a web page and an HTTP interface that mark errors."""

from __future__ import annotations

import argparse
import ipaddress
import socket

from matese.cli import messages, model, options
from matese.cli.messages import reason
from matese.errors import UsageError, check_installed

_LAST_PORT = 65535
SUMMARY = "serve a page that marks errors while you type, and an HTTP interface for programs"
EPILOG = """Needs pip install 'matese[serve]', but no network. Press Ctrl-C to stop the server. A request:

  curl http://127.0.0.1:8000/annotate --json '{"segments": [{"hypothesis": "Volga", "references": ["Wolga"]}]}'

The answer is {"ratings": [...]}, each as matese tag --format jsonl writes it. A CSV table may be sent as text/csv.
/docs describes the interface, and /health answers as soon as the model is loaded. Pages of other sites cannot use it.
There is no password: with --host, anyone who can reach the port can use the server.

examples:
  matese serve
  matese serve --model runs/xlmr-base/calibrated --port 8080
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("server")
    text = "address to listen on (default: 127.0.0.1, this machine only)"
    group.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help=text)
    text = "port; 0 for any free one (default: 8000)"
    group.add_argument("--port", type=options.whole_number(0), default=8000, metavar="N", help=text)
    limits = parser.add_argument_group("limits of a request")
    for name, default, unit in (
        ("--max-segments", 128, "segments"),
        ("--max-characters", 100_000, "characters of all texts"),
        ("--timeout", 60, "seconds to wait for an answer"),
    ):
        options.add_number(limits, name, 1, default, unit)
    model.add_options(parser, is_main=True)


def run(args: argparse.Namespace) -> None:
    options.require(args.port <= _LAST_PORT, f"--port {args.port}: must be {_LAST_PORT} at most")
    for package in ("starlette", "uvicorn", "swagger_ui"):
        check_installed("matese serve", package, extra="serve")
    with _listening(args.host, args.port) as listening, model.loaded(args) as annotator:
        from matese.serving import server
        from matese.serving.middleware import RequestLimits

        host, port = listening.getsockname()[:2]
        address = ipaddress.ip_address(host)
        if not address.is_loopback:
            messages.info(f"{host} is open to other machines: everybody who can reach it can use it")
        name = f"[{host}]" if address.version == 6 else host
        messages.info(f"{annotator.name} at http://{name}:{port}/, press Ctrl-C to stop")
        server.run(annotator, listening, RequestLimits(args.max_segments, args.max_characters, args.timeout))


def _listening(host: str, port: int) -> socket.socket:
    """Returns a listening socket; it is opened before the model is loaded, so that a busy port is reported at once."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except (OSError, UnicodeError) as error:
        problem = reason(error) if isinstance(error, OSError) else "no such address"
        allowed = "must be an address of this machine and a free port"
        raise UsageError(f"--host {host} --port {port}: {problem}: {allowed}") from None

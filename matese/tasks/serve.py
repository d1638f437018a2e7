"""A server: a page and an HTTP interface that mark errors, or a page to correct the marks of a file."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, TextIO

from msgspec import Meta

from matese.annotation import Rating
from matese.errors import UsageError, check_installed, counted
from matese.files import reason
from matese.serving.limits import Limits
from matese.tasks import annotators, notices, sinks, texts
from matese.tasks.annotators import Marking
from matese.tasks.texts import FileReading, require
from matese.tasks.weights import Weighted
from matese.validation.options import File, group, option

_Systems = Mapping[str, Sequence[Rating]]


@dataclass(frozen=True)
class Request(Weighted):
    """Serve a model, or the page that corrects a file.

    Attributes:
        file: ratings or translations, in any format that matese convert reads: show and correct their marks.
        output: JSONL file for the corrected ratings (default: FILE with the ending .reviewed.jsonl).
        host: address to listen on (default: 127.0.0.1, this machine only).
        port: port; 0 for any free one (default: 8000).
    """

    file: File | None = None
    _: KW_ONLY
    output: File | None = option(None, metavar="JSONL")
    host: str = option("127.0.0.1", metavar="ADDRESS")
    port: Annotated[int, Meta(ge=0, le=65535)] = 8000
    reading: FileReading = group(FileReading)
    limits: Limits = group(Limits)
    marking: Marking = group(Marking)


def run(request: Request, stream: TextIO | None = None) -> None:
    """Serves until Ctrl-C; nothing is written to `stream`."""
    is_review = request.file is not None
    of_file = request.output or request.reading.given() or request.marking.checks
    require(is_review or not of_file, "--output, --lang-pair, --columns and --checks need FILE")
    for package in ("starlette", "uvicorn", "swagger_ui", "prometheus_client"):
        check_installed("matese serve", package, extra="serve")
    if request.file is not None:
        _review(request, request.file)
        return
    with (
        _listening(request.host, request.port) as listening,
        annotators.loaded(request.marking, weights=request.weights) as annotator,
    ):
        from matese.serving import app, server

        host, port = listening.getsockname()[:2]
        address = ipaddress.ip_address(host)
        if not address.is_loopback:
            notices.info(f"{host} is open to other machines: everybody who can reach it can use it")
        name = f"[{host}]" if address.version == 6 else host
        notices.info(f"{annotator.name} at http://{name}:{port}/, press Ctrl-C to stop")
        limits = request.limits
        server.run(app.make_app(annotator, limits, is_loopback=address.is_loopback), listening, limits)


def _review(request: Request, file: str) -> None:
    """Serves the page that corrects the marks of a file."""
    require(file != "-", "FILE is standard input: must be a file")
    target = Path(request.output or f"{file.removesuffix(Path(file).suffix)}.reviewed.jsonl")
    require(target.suffix == ".jsonl", f"--output {target}: must be a JSONL file")
    sinks.check_apart(str(target), [file])
    sinks.check_target(str(target), "--output")
    with _listening(request.host, request.port) as listening:
        host, port = listening.getsockname()[:2]
        is_loopback = ipaddress.ip_address(host).is_loopback
        require(is_loopback, f"--host {request.host}: must be an address of this machine alone, to correct FILE")
        from matese.serving import marking, review, server

        options = texts.read_options(request.reading)
        systems = texts.systems([file], options, must_be_rated=False)
        reviewed = review.Review(systems, target, request.penalties)
        if marking.is_unmarked(systems):
            reviewed = review.Review(_marked(systems, request, file), target, request.penalties)
        else:
            require(
                request.marking.model == "mini", f"--model {request.marking.model}: {file} has marks: leave out --model"
            )
        name = f"[{host}]" if ":" in host else host
        notices.info(f"{file} at http://{name}:{port}/, saved in {target}, press Ctrl-C to stop")
        server.run(review.make_app(reviewed), listening, reviewed.limits)


def _marked(systems: _Systems, request: Request, file: str) -> _Systems:
    """Returns the ratings of the file, marked by the model."""
    from matese.formats import detection
    from matese.serving import marking

    n_given = sum(map(len, systems.values()))
    systems = marking.of_file(systems, file)
    forms = {file: detection.detect(file)}
    with annotators.opened(request.marking, n_given, forms, weights=request.weights) as marker:
        wanted = marking.readable(systems, marker.needs.can_read)
        who = "--checks only" if request.marking.is_only_checks else request.marking.model
        again = f"to keep the marks, write them with matese tag --input {file} --output FILE.jsonl"
        n_wanted = counted(len(wanted), "translation")
        notices.info(f"{file} has no marks: {who} marks {n_wanted} first; {again}")
        if n_left := n_given - len(wanted):
            left = f"{counted(n_left, 'translation')} without what the model needs"
            notices.info(f"{left}, {marker.needs.needed}: not marked")
        ratings = marker.annotate(rating.segment for rating in wanted)
        marked = [rating for rating, _ in notices.progress(ratings, len(wanted))]
        return marking.with_marks(systems, marked, marker.needs.can_read)


def _listening(host: str, port: int) -> socket.socket:
    """Returns a listening socket; it is opened before the model is loaded, so that a busy port is reported at once."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except (OSError, UnicodeError) as error:
        problem = reason(error) if isinstance(error, OSError) else "no such address"
        allowed = "must be an address of this machine and a free port"
        raise UsageError(f"--host {host} --port {port}: {problem}: {allowed}") from None

"""The server: an application on a socket, until a signal ends it."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import uvicorn

from matese.serving import app
from matese.serving.limits import Limits

if TYPE_CHECKING:
    from matese.annotator import Annotator

_MOST_CONNECTIONS = 128
"""More get 503 at once."""
_LAST_SECONDS = 5
"""What requests under way are given to end after Ctrl-C."""


def run(annotator: Annotator, listening: socket.socket, limits: Limits) -> None:
    """Serves until SIGINT or SIGTERM, which is raised again at the end, for the handlers from before."""
    config = uvicorn.Config(
        app.make(annotator, limits),
        log_config=None,  # warnings and tracebacks, on standard error
        access_log=False,
        server_header=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=_LAST_SECONDS,
    )
    uvicorn.Server(config).run(sockets=[listening])

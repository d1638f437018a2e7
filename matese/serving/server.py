"""The HTTP server: the application on a socket, until a signal ends it."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from matese.serving.limits import Limits

if TYPE_CHECKING:
    from starlette.applications import Starlette


def run(application: Starlette, listening: socket.socket, limits: Limits) -> None:
    """Serves an application until SIGINT or SIGTERM, which is raised again at the end for the previous handlers.

    It answers running requests first; a second signal drops them.
    """
    config = uvicorn.Config(
        application,
        http=_connection(limits),
        ws="none",
        log_config=None,  # only warnings and tracebacks, on standard error
        access_log=False,
        server_header=False,
        limit_concurrency=limits.connections,
        timeout_graceful_shutdown=limits.seconds,
    )
    uvicorn.Server(config).run(sockets=[listening])


def _connection(limits: Limits) -> type[asyncio.Protocol]:
    """Returns a protocol that closes connections on which no request begins or ends in time.

    uvicorn never times out if a client sends no complete header, or does not read its answer.
    """
    seconds = 3 * limits.seconds  # to send a request, to wait for its answer, and to read that

    class Connection(H11Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            # A pending timer would keep the connection and its texts in memory.
            self._timer.cancel()
            super().connection_lost(exc)

        def _watch(self) -> None:
            self._timer = self.loop.call_later(seconds, self._close_if_still, self.cycle)

        def _close_if_still(self, cycle: object) -> None:
            if self.cycle is cycle:
                self.transport.abort()
            else:
                self._watch()

    return Connection

"""Middleware: which hosts may be requested, how many requests run at once, and headers that restrict browsers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_REQUESTS = 128
"""Requests that run at the same time; further ones get 503 at once."""
RETRY_AFTER = {"Retry-After": "1"}
_OWN_NAME = re.compile(rb"(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?", re.IGNORECASE)
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),  # a policy in the page cannot forbid frames
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)


class Guard:
    """Middleware that refuses requests for foreign hosts, and too many requests at once.

    The owner of another site can make its name resolve to 127.0.0.1 (DNS rebinding), so that browsers take this server
    for that site. Such requests carry that name as their host.
    """

    def __init__(self, app: ASGIApp, *, is_loopback: bool) -> None:
        """Stores the application; unless `is_loopback` (only this machine can reach it), any host is accepted."""
        self._app, self._is_loopback, self._n_requests = app, is_loopback, 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Runs the application, or refuses the request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *_HEADERS]}
            await send(message)

        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if self._is_loopback and not (len(hosts) == 1 and _OWN_NAME.fullmatch(hosts[0])):
            host = b", ".join(hosts).decode("latin-1") or "missing"
            problem = f"host is {host}: must be localhost or 127.0.0.1, as the server listens on this machine only"
            await JSONResponse({"detail": problem}, 421)(scope, receive, guarded)
        elif self._n_requests >= MOST_REQUESTS:
            problem = f"{MOST_REQUESTS} requests are waiting: ask again later"
            await JSONResponse({"detail": problem}, 503, RETRY_AFTER)(scope, receive, guarded)
        else:
            self._n_requests += 1
            try:
                await self._app(scope, receive, guarded)
            finally:
                self._n_requests -= 1

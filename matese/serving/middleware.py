"""Middleware: which hosts may be requested, how large a request may be, and how many run at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import JSONResponse, Response

from matese.serving.limits import Limits

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

RETRY_AFTER = {"Retry-After": "1"}
_OWN_NAMES = ("localhost", "127.0.0.1", "[::1]")
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),  # a policy in the page cannot forbid frames
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)


async def refuse(request: Request, error: Exception) -> Response:
    """Answers an HTTPException with its problem as JSON."""
    assert isinstance(error, HTTPException)
    return JSONResponse({"detail": error.detail}, error.status_code, error.headers)


class LimitedBody:
    """Middleware that refuses a request whose body is too large, or arrives too slowly."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Runs the application; reading a body beyond the limits raises an HTTPException there."""
        deadline = asyncio.get_running_loop().time() + self._limits.seconds
        n_bytes = 0

        async def limited() -> Message:
            nonlocal n_bytes
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
                    n_bytes += len(message.get("body", b""))
                    while n_bytes > self._limits.n_bytes and message.get("more_body", False):
                        message = await receive()  # a client that is still sending would not read the answer
            except TimeoutError:
                limit = f"must be {self._limits.seconds} s at most"
                raise HTTPException(408, f"the request took too long to arrive: {limit}") from None
            if n_bytes > self._limits.n_bytes:
                raise HTTPException(413, f"the request is too large: must be {self._limits.n_bytes:,} bytes at most")
            return message

        await self._app(scope, limited if scope["type"] == "http" else receive, send)


class Guard:
    """Middleware that refuses requests for foreign hosts, and too many requests at once.

    The owner of another site can make its name resolve to 127.0.0.1 (DNS rebinding), so that browsers take this server
    for that site. Such requests carry that name as their host.
    """

    def __init__(self, app: ASGIApp, limits: Limits, *, is_loopback: bool) -> None:
        """Stores the application; unless `is_loopback` (only this machine can reach it), any host is accepted."""
        self._app = app
        self._limits = limits
        self._is_loopback = is_loopback
        self._n_requests = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Runs the application, or refuses the request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *_HEADERS]}
            await send(message)

        if self._n_requests >= self._limits.requests:
            problem = f"{self._limits.requests} requests are waiting: ask again later"
            await JSONResponse({"detail": problem}, 503, RETRY_AFTER)(scope, receive, guarded)
        else:
            self._n_requests += 1
            try:
                await self._trusting(scope)(scope, receive, guarded)
            finally:
                self._n_requests -= 1

    def _trusting(self, scope: Scope) -> ASGIApp:
        """Returns the application for the names of this machine, and for the address that the server listens on."""
        if not self._is_loopback:
            return self._app
        address = scope["server"][0]
        return TrustedHostMiddleware(self._app, (*_OWN_NAMES, f"[{address}]" if ":" in address else address))

"""The HTTP client under that of `openai`, which repeats a request that raises an error here."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

import httpx2

LARGEST_ANSWER = 4 << 20
"""Bytes."""


class Connection(httpx2.Client):
    """Calls a function before each attempt, and bounds the time and the size of a whole answer.

    httpx2 bounds the time between two parts of an answer only. Redirects are not followed.
    """

    def __init__(
        self,
        before_attempt: Callable[[httpx2.Request], None],
        *,
        seconds: float,
        timeout: httpx2.Timeout,
        limits: httpx2.Limits,
    ) -> None:
        super().__init__(timeout=timeout, limits=limits)
        self._before_attempt = before_attempt
        self._seconds = seconds

    def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:  # noqa: ANN401  (as httpx2)
        """Returns the response with its whole body.

        Raises:
            httpx2.RequestError: if there is none, or it is too slow or too large.
        """
        self._before_attempt(request)
        end = time.monotonic() + self._seconds
        response = super().send(request, **(options | {"stream": True}))
        parts = list[bytes]()
        size = 0
        with contextlib.closing(response):
            for part in response.iter_bytes():
                parts.append(part)
                size += len(part)
                if time.monotonic() > end:
                    raise httpx2.ReadTimeout("too slow", request=request)
                if size > LARGEST_ANSWER:
                    raise httpx2.RemoteProtocolError(f"more than {LARGEST_ANSWER:,} bytes", request=request)
        headers = [item for item in response.headers.multi_items() if item[0].lower() != "content-encoding"]
        return httpx2.Response(response.status_code, headers=headers, content=b"".join(parts), request=request)

"""Limits of a request, so that none takes all memory or all time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from matese.annotation import Segment

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# A code point takes at most 12 bytes of JSON ("\ud83d\ude00"); the keys of a segment take less than 1,000.
_BYTES_PER_CHARACTER, _BYTES_PER_SEGMENT = 12, 1000


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Limits of a request.

    Attributes:
        segments: most segments.
        characters: most characters of all texts together, in code points.
        seconds: most seconds to send the request, and again to wait for the answer.
    """

    segments: int = 128
    characters: int = 100_000
    seconds: int = 60

    @property
    def n_bytes(self) -> int:
        """The largest JSON within the other limits."""
        return _BYTES_PER_CHARACTER * self.characters + _BYTES_PER_SEGMENT * (self.segments + 1)

    def check(self, segments: Sequence[Segment]) -> None:
        """Raises an HTTPException if there are too many segments or characters."""
        texts = (
            text for segment in segments for text in (segment.hypothesis, segment.source or "", *segment.references)
        )
        n_characters = sum(map(len, texts))
        for count, limit, name in (
            (len(segments), self.segments, "segments"),
            (n_characters, self.characters, "characters"),
        ):
            if count > limit:
                raise HTTPException(413, f"{count:,} {name}: must be {limit:,} at most in one request")


class LimitedBody:
    """Middleware that refuses a request whose body is too large, or arrives too slowly."""

    def __init__(self, app: ASGIApp, limits: RequestLimits) -> None:
        self._app, self._limits = app, limits

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

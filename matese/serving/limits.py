"""What a request may ask for, so that none takes the memory or the time of the others."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastapi import HTTPException

from matese.annotation import Segment

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# A code point of a JSON text takes 12 bytes at most ("\ud83d\ude00"); the keys of a segment take less than these.
_BYTES_OF_A_CHARACTER, _BYTES_OF_A_SEGMENT = 12, 1000


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a request.

    Attributes:
        segments: how many at most.
        characters: of all its texts together, in code points, at most.
        seconds: to send it, and then to wait for the answer, at most.
    """

    segments: int = 128
    characters: int = 100_000
    seconds: int = 60

    @property
    def n_bytes(self) -> int:
        """What the JSON of a request within the other limits can take, at most."""
        return _BYTES_OF_A_CHARACTER * self.characters + _BYTES_OF_A_SEGMENT * (self.segments + 1)

    def check(self, segments: Sequence[Segment]) -> None:
        """Raises the HTTPException of a request that is too large."""
        n_characters = sum(
            len(text) for one in segments for text in (one.hypothesis, one.source or "", *one.references)
        )
        for count, most, name in (
            (len(segments), self.segments, "segments"),
            (n_characters, self.characters, "characters"),
        ):
            if count > most:
                raise HTTPException(413, f"{count:,} {name}: must be {most:,} at most in one request")


class LimitedBody:
    """Answers a request whose body is too large, or too slow to come."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app, self._limits = app, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Runs the application on a request whose body raises an HTTPException where it breaks a limit."""
        deadline = asyncio.get_running_loop().time() + self._limits.seconds
        n_bytes = 0

        async def limited() -> Message:
            nonlocal n_bytes
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
                    n_bytes += len(message.get("body", b""))
                    while n_bytes > self._limits.n_bytes and message.get("more_body", False):
                        # Read to the end and thrown away: who is still sending would not hear the answer.
                        message = await receive()
            except TimeoutError:
                raise HTTPException(
                    408, f"the request took too long to come: must be {self._limits.seconds} s at most"
                ) from None
            if n_bytes > self._limits.n_bytes:
                raise HTTPException(413, f"the request is too large: must be {self._limits.n_bytes:,} bytes at most")
            return message

        await self._app(scope, limited if scope["type"] == "http" else receive, send)

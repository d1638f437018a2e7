"""The limits of the server; `matese.tasks.serve` has the options that set some of them.

`Limits.problem` checks what a request asks for. `middleware` enforces the limits of a request as it arrives and of all
requests together, `app` those of an answer, and `server` those of connections.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matese.annotation import Segment

# A code point takes at most 12 bytes of JSON ("\ud83d\ude00"); the keys of a segment take less than 1,000.
_BYTES_PER_CHARACTER = 12
_BYTES_PER_SEGMENT = 1000


@dataclass(frozen=True)
class Limits:
    """Limits of requests.

    Attributes:
        segments: most segments of a request.
        characters: most characters of all its texts together, in code points.
        text_characters: most characters of one text, which a model reads window by window.
        seconds: most seconds to send a request, and again to wait for the answer.
        requests: most requests that run at the same time; further ones get 503 at once.
        connections: most open connections; further ones get 503 at once.
    """

    segments: int = 128
    characters: int = 100_000
    text_characters: int = 20_000
    seconds: int = 60
    requests: int = 128
    connections: int = 512

    @property
    def n_bytes(self) -> int:
        """The largest JSON within the other limits."""
        return _BYTES_PER_CHARACTER * self.characters + _BYTES_PER_SEGMENT * (self.segments + 1)

    def problem(self, segments: Sequence[Segment]) -> str | None:
        """Returns what is too large in a request for these segments; None if nothing is."""
        lengths = [
            len(text)
            for segment in segments
            for text in (segment.hypothesis, segment.source or "", *segment.references)
        ]
        for count, limit, name, where in (
            (len(segments), self.segments, "segments", "request"),
            (sum(lengths), self.characters, "characters", "request"),
            (max(lengths, default=0), self.text_characters, "characters", "text"),
        ):
            if count > limit:
                return f"{count:,} {name}: must be {limit:,} at most in one {where}"
        return None

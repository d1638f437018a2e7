"""The limits of the server, some of which are options of `matese.tasks.serve`.

`Limits.problem` checks what a request asks for. `middleware` enforces the limits of a request as it arrives and of all
requests together, `app` those of an answer, and `server` those of connections.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matese.annotation import Segment
from matese.validation.options import Count, Options, option

# A code point takes at most 12 bytes of JSON ("\ud83d\ude00"); the keys of a segment take less than 1,000.
_BYTES_PER_CHARACTER = 12
_BYTES_PER_SEGMENT = 1000


@dataclass(frozen=True)
class Limits(Options):
    """Limits of a request.

    Attributes:
        segments: segments (default: 128).
        characters: characters of all texts, in code points (default: 100,000).
        text_characters: characters of one text, which a model reads window by window (default: 20,000).
        seconds: seconds to send a request, and again to wait for the answer (default: 60).
        requests: most requests that run at the same time; further ones get 503 at once.
        connections: most open connections; further ones get 503 at once.
    """

    segments: Count = option(128, flags=["--max-segments"])
    characters: Count = option(100_000, flags=["--max-characters"])
    text_characters: Count = option(20_000, flags=["--max-text-characters"])
    seconds: Count = option(60, flags=["--timeout"])
    requests: Count = option(128, is_of_python=True)
    connections: Count = option(512, is_of_python=True)

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

"""What the tests of single formats share: a segment with a character beyond U+FFFF, and a rating of it."""

from __future__ import annotations

from pathlib import Path

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity

MINOR = Severity.MINOR
MAJOR = Severity.MAJOR
EMOJI = "Ein 😀 Haus."
KEY = SegmentKey("ted", "en-de", "A", "talk", 0)
GIVEN = Rating(Segment(EMOJI, "A 😀 tree.", key=KEY), "model", (ErrorSpan(6, 10, MAJOR, "Style"),))


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return path

"""Ratings of two raters, for the tests of a task and of its command."""

from __future__ import annotations

from pathlib import Path

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity
from matese.formats.tables import jsonl

SEGMENT = Segment("Ein 😀 Haus.", "A tree.", ("Ein Baum.",), SegmentKey("ted", "en-de", "A", "talk", 0))
RATINGS = [
    Rating(SEGMENT, "r1", (ErrorSpan(6, 10, Severity.MAJOR, "Style", 0.5),)),
    Rating(SEGMENT, "r2", ()),
]


def write_files(folder: Path) -> Path:
    path = folder / "spans.jsonl"
    path.write_text("".join(f"{jsonl.dumps(rating)}\n" for rating in RATINGS), encoding="utf-8")
    return path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {"mt.txt", "ref.txt"}

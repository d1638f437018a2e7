"""Ratings of three raters, for the tests of a task and of its command."""

from __future__ import annotations

from pathlib import Path

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey
from matese.formats.tables import jsonl
from tests.cli.conftest import write
from tests.evaluation.material import major, minor

TEXT = "Das Haus am See ist alt."


def rating(rater: str, *errors: ErrorSpan, text: str = TEXT, index: int = 0) -> Rating:
    return Rating(Segment(text, key=SegmentKey(system="A", index=index)), rater, errors)


RATINGS = [
    rating("anna", minor(4, 8), major(12, 15)),
    rating("ben", minor(4, 8)),
    rating("anna", index=1),
    rating("ben", major(0, 3), index=1),
    rating("cleo", major(0, 3), minor(20, 23), index=1),
    rating("cleo", index=2),
]


def write_files(folder: Path) -> None:
    write(folder / "ratings.jsonl", *map(jsonl.dumps, RATINGS))

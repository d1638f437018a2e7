"""A good system, a bad one and a worse one, for the tests of a task and of its command."""

from __future__ import annotations

from pathlib import Path

from matese.annotation import Rating, Segment, SegmentKey
from matese.formats.tables import jsonl
from tests.cli.conftest import write
from tests.evaluation.material import major, minor

# 10 segments of 4 words; one Minor error in two of them, two Major ones in one.
BAD = [
    ((minor(0, 3),) if index in (2, 5) else (major(0, 3), major(8, 11)) if index == 7 else ()) for index in range(10)
]


def write_files(folder: Path) -> None:
    for system, errors in (("good", [()] * 10), ("bad", BAD), ("worse", [(major(0, 3),)] * 10)):
        lines = [
            Rating(Segment("Das Haus ist alt.", key=SegmentKey(system=system, index=index)), "m", spans)
            for index, spans in enumerate(errors)
        ]
        write(folder / f"{system}.jsonl", *map(jsonl.dumps, lines))

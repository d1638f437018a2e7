"""Two systems, for the tests of a task and of its command."""

from __future__ import annotations

from pathlib import Path

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey
from matese.formats.tables import jsonl
from tests.cli.conftest import write
from tests.evaluation.material import major, minor

SOURCES = ("The house by the lake is old.", "It rains.", "He saw Anna in 2019.", "It rains.")
OLD = ("Das Haus am See ist alt.", "Es regnet.", "Er sah Hanna 1999.", "Es regnet.")
NEW = ("Das Haus beim See ist alt.", "Es regnet.", "Er sah Anna 1999.", "Regen.")
Errors = tuple[tuple[ErrorSpan, ...], ...]
OLD_ERRORS: Errors = ((minor(9, 11),), (), (major(7, 12), major(13, 17)), (minor(0, 2),))
NEW_ERRORS: Errors = ((), (), (major(12, 16),), (major(0, 5),))


def ratings(texts: tuple[str, ...], errors: Errors, system: str, sources: tuple[str, ...] = SOURCES) -> list[Rating]:
    return [
        Rating(Segment(text, source, (), SegmentKey(system=system, index=index)), "m", spans)
        for index, (text, source, spans) in enumerate(zip(texts, sources, errors, strict=True))
    ]


def save(path: Path, rows: list[Rating]) -> None:
    write(path, *map(jsonl.dumps, rows))


def write_files(folder: Path) -> None:
    save(folder / "old.jsonl", ratings(OLD, OLD_ERRORS, "old"))
    save(folder / "new.jsonl", ratings(NEW, NEW_ERRORS, "new"))
    write(folder / "terms.txt", "lake")
    write(folder / "bad.txt", "lake", "", "house")

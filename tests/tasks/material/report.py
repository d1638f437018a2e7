"""A system in three files, for the tests of a task and of its command."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from matese.annotation import Rating, Segment, SegmentKey
from matese.formats.tables import jsonl
from tests.cli.conftest import write
from tests.evaluation.material import major, minor

TEXTS = ("Das Haus am See", "", "Es regnet")


def ratings(system: str | None = None) -> list[Rating]:
    keys = [SegmentKey(system=system, index=index) for index in range(3)]
    errors = ((minor(0, 3), major(4, 8)), (), (minor(0, 2),))
    return [Rating(Segment(text, key=key), "m", spans) for text, key, spans in zip(TEXTS, keys, errors, strict=True)]


def data(page: str) -> Any:
    return json.loads(re.findall(r'id="data">(.*?)</script>', page, re.DOTALL)[0])


def write_files(folder: Path) -> None:
    write(folder / "a.jsonl", *map(jsonl.dumps, ratings("A")))
    write(folder / "b.jsonl", *map(jsonl.dumps, ratings()))
    write(folder / "same.jsonl", *map(jsonl.dumps, ratings("A")))

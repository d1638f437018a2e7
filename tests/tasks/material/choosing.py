"""Candidates, sources and references, for the tests of a task and of its command."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import write

NBEST = (
    "0 ||| Das ist gut. ||| f ||| -1",
    "0 ||| Das ist nicht gut. ||| f ||| -2",
    "0 ||| Das ist gut ||| f ||| -3",
    "1 ||| etwas ||| f ||| -1",
    "1 ||| irgendetwas ||| f ||| -4",
)


def write_files(folder: Path) -> None:
    write(folder / "nbest", *NBEST)
    write(folder / "src", "That is good.", "something")
    write(folder / "ref", "Das ist gut.", "irgendetwas")
    write(folder / "a", "Das ist gut.", "etwas")
    write(folder / "b", "Das ist schlecht.", "irgendetwas")


def lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]

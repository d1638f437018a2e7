from __future__ import annotations

from pathlib import Path

from matese.formats.tables import jsonl
from tests.cli.conftest import Run
from tests.tasks.material.info import RATINGS


def test_what_is_in_a_file(run: Run, folder: Path) -> None:
    path = folder / "spans.jsonl"
    path.write_text("".join(f"{jsonl.dumps(rating)}\n" for rating in RATINGS), encoding="utf-8")
    ran = run("info", "spans.jsonl")
    assert (ran.code, ran.err) == (0, "")
    assert [line.split("  ", 1)[1].strip() for line in ran.out.splitlines()] == [
        "jsonl (our JSONL)",
        *("4", "3", "1", "1", "0", "2", "50.0%", "1", "0", "1", "1"),
        "undecided 1, minor 2, major 1",
        "none 3, Style 1",
        *("ted 2", "en-de 2", "A 2", "r1 1, r2 1"),
    ]

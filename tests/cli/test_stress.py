from __future__ import annotations

import json
from pathlib import Path

import pytest

from matese.formats.tables import jsonl
from tests.cli.conftest import Run, write


@pytest.fixture
def texts(folder: Path) -> list[str]:
    write(folder / "a.txt", *(f"Der Zug fährt heute nicht vor {hour} Uhr ab." for hour in range(8, 13)))
    write(folder / "b.txt", *(f"Heute fährt der Zug nicht vor {hour} Uhr ab." for hour in range(8, 13)))
    return ["--hyp", "a.txt", "--ref", "b.txt", "--lang-pair", "en-de"]


def test_a_table_json_and_the_corrupted_texts_are_written(run: Run, texts: list[str], folder: Path) -> None:
    kinds = ("--kinds", "number", "negation", "untranslated")
    ran = run("stress", *texts, *kinds, "--json", "found.json", "--output", "bad.jsonl")
    assert ran.code == 0
    assert ran.out.splitlines()[0].split() == ["kind", "n", "recall", "elsewhere", "drop", "lower"]
    assert "untranslated: no place found" in ran.err
    found = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    assert [(one["kind"], one["n"]) for one in found["kinds"]] == [("number", 5), ("negation", 5)]
    assert all(0 <= one["lower"] <= 1 for one in found["kinds"])
    ratings = list(jsonl.read(folder / "bad.jsonl"))
    assert [one.segment.key.system for one in ratings if one.segment.key] == ["number"] * 5 + ["negation"] * 5


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--kinds", "numbr"), "unknown kind"),
        (("--limit", "0"), "must be a whole number"),
        (("--json", "a.jsonl", "--output", "a.jsonl"), "--json and --output are both a.jsonl"),
        (("--kinds", "untranslated"), "no kind of error finds a place"),
    ],
)
def test_bad_options_are_refused(run: Run, texts: list[str], options: tuple[str, ...], problem: str) -> None:
    assert problem in run("stress", *texts, *options).refused()


def test_what_is_read_in_windows_is_counted(run: Run, texts: list[str], folder: Path) -> None:
    write(folder / "long.txt", *(f"Der Zug fährt {hour} mal " + "immer wieder " * 60 for hour in range(1, 6)))
    ran = run("stress", "--hyp", "long.txt", "--ref", "b.txt", "--kinds", "number", "--model", "{tiny}")
    assert "10 of 10 segments are too long for the model" in ran.err

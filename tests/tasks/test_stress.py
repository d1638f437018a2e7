from __future__ import annotations

import json
from pathlib import Path

import pytest

from matese.formats.tables import jsonl
from matese.tasks import stress
from tests.tasks.conftest import do, write


@pytest.fixture
def texts(folder: Path) -> dict[str, object]:
    write(folder / "a.txt", *(f"Der Zug fährt heute nicht vor {hour} Uhr ab." for hour in range(8, 13)))
    write(folder / "b.txt", *(f"Heute fährt der Zug nicht vor {hour} Uhr ab." for hour in range(8, 13)))
    return {"hyp": ["a.txt"], "ref": ["b.txt"], "lang_pair": "en-de"}


def test_a_table_json_and_the_corrupted_texts_are_written(texts: dict[str, object], folder: Path) -> None:
    kinds = {"kinds": ["number", "negation", "untranslated"]}
    ran = do(stress, json="found.json", output="bad.jsonl", **texts, **kinds)
    assert ran.out.splitlines()[0].split() == ["kind", "n", "recall", "elsewhere", "drop", "lower"]
    assert "untranslated: no place found" in ran.told
    report = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    assert [(one["kind"], one["n"]) for one in report["kinds"]] == [("number", 5), ("negation", 5)]
    assert all(0 <= one["lower"] <= 1 for one in report["kinds"])
    ratings = list(jsonl.read(folder / "bad.jsonl"))
    assert [one.segment.key.system for one in ratings if one.segment.key] == ["number"] * 5 + ["negation"] * 5


def test_what_is_read_in_windows_is_counted(texts: dict[str, object], folder: Path) -> None:
    write(folder / "long.txt", *(f"Der Zug fährt {hour} mal " + "immer wieder " * 60 for hour in range(1, 6)))
    ran = do(stress, hyp=["long.txt"], ref=["b.txt"], kinds=["number"], model="{tiny}")
    assert "10 of 10 segments are too long for the model" in ran.told

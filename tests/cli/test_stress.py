from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run, write


@pytest.fixture
def texts(folder: Path) -> list[str]:
    write(folder / "a.txt", *(f"Der Zug fährt heute nicht vor {hour} Uhr ab." for hour in range(8, 13)))
    write(folder / "b.txt", *(f"Heute fährt der Zug nicht vor {hour} Uhr ab." for hour in range(8, 13)))
    return ["--hyp", "a.txt", "--ref", "b.txt", "--lang-pair", "en-de"]


def test_the_table_goes_to_standard_output(run: Run, texts: list[str]) -> None:
    ran = run("stress", *texts, "--kinds", "number", "--limit", "2")
    assert ran.code == 0
    header, row = (line.split() for line in ran.out.splitlines()[:2])
    assert header == ["kind", "n", "recall", "elsewhere", "drop", "lower"]
    assert row[:2] == ["number", "2"]


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

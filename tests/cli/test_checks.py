"""Every command that marks runs the rule-based checks alike: those that were chosen, or those for the file's format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run, write

SOURCE = "It costs 17 euros and no more."
WRONG = "Es kostet 15 Euro und nicht mehr."
PO = f'msgid ""\nmsgstr ""\n"Language: de\\n"\n\nmsgid "{SOURCE}"\nmsgstr "{WRONG}"\n'
CUE = "1\n00:00:01,000 --> 00:00:04,000\n{}\n"
XLIFF = f"""<?xml version="1.0"?>
<xliff xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2">
<file original="f" source-language="en" target-language="de" datatype="plaintext"><body>
<trans-unit id="1"><source>{SOURCE}</source><target>{WRONG}</target></trans-unit></body></file></xliff>
"""


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    for name, text in (
        ("a.po", PO),
        ("b.xlf", XLIFF),
        ("c.srt", CUE.format(WRONG)),
        ("c.en.srt", CUE.format(SOURCE)),
        # a wrong year that mini does not mark
        ("plain.txt", "Im Jahr 1962 zog die Familie nach Bremen.\n"),
        ("plain.src.txt", "In 1961 the family moved to Bremen.\n"),
    ):
        (folder / name).write_text(text, encoding="utf-8")
    table = {"hypothesis": WRONG, "source": SOURCE}
    write(folder / "table.jsonl", json.dumps(table))


def found(run: Run, folder: Path, *texts: str) -> list[bool]:
    """Returns for each marked segment whether the rule for numbers found something in it."""
    ran = run("tag", *texts, "--output", "out.jsonl")
    assert ran.code == 0, ran.err
    rows = [json.loads(line) for line in (folder / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    return ["numbers" in [error.get("rule") for error in row["errors"]] for row in rows]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("--input", "a.po"), [True]),
        (("--input", "a.po", "b.xlf", "--system", "s"), [True, True]),
        (("--input", "a.po", "table.jsonl", "--system", "s"), [True, False]),
        (("--hyp", "c.srt", "--src", "c.en.srt", "--lang-pair", "en-de"), [True]),
        (("--hyp", "plain.txt", "--src", "plain.src.txt"), [False]),
        (("--input", "a.po", "b.xlf", "--system", "s", "--checks", "none"), [False, False]),
        (("--input", "table.jsonl", "--checks", "numbers"), [True]),
    ],
)
def test_the_format_of_each_file_decides(run: Run, folder: Path, texts: tuple[str, ...], expected: list[bool]) -> None:
    assert found(run, folder, *texts) == expected


def test_gate_by_rules_alone(run: Run) -> None:
    command = ("gate", "--hyp", "plain.txt", "--src", "plain.src.txt", "--max-errors-per-1k", "1")
    ran = run(*command, "--checks", "only,numbers", "--json", "-")
    assert ran.code == 1
    assert "checks:numbers" in ran.out
    assert run(*command, "--checks", "only,blank").code == 0


def test_checks_are_for_translations(run: Run) -> None:
    write_ratings = run("tag", "--input", "a.po", "--output", "ratings.jsonl")
    assert write_ratings.code == 0
    assert "--checks" in run("report", "ratings.jsonl", "--output", "out.html", "--checks", "also").refused()


@pytest.mark.parametrize("pair", [(), ("--lang-pair", "en-de")])
def test_an_untranslated_release_is_no_release(run: Run, folder: Path, pair: tuple[str, ...]) -> None:
    sources = ("Please restart the router.", "The warranty covers repairs.", "OK")
    write(folder / "src.txt", *sources)
    write(folder / "ref.txt", "Bitte starten Sie den Router neu.", "Die Garantie deckt Reparaturen ab.", "OK")
    texts = ("--src", "src.txt", "--ref", "ref.txt", "--hyp", "src.txt", *pair)
    ran = run("gate", *texts, "--max-major-per-1k", "40", "--json", "-")
    (check,) = json.loads(ran.out)["checks"]
    assert (ran.code, check["n_blamed"]) == (1, 2)

from __future__ import annotations

from pathlib import Path

import pytest

from matese.formats.tables import jsonl
from tests.cli.conftest import Run, write
from tests.tasks.material.report import data, ratings, write_files


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    write_files(folder)


def test_page(run: Run, folder: Path) -> None:
    ran = run("report", "a.jsonl", "b.jsonl", "--output", "r.html", "--title", "Zwei & mehr")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "<title>Zwei &amp; mehr</title>" in page
    assert '<tr><th scope="row" dir="auto">A</th><td>3</td><td>1</td><td>2</td><td>2</td><td>1</td>' in page
    page_data = data(page)
    assert page_data["systems"] == ["A", "b"]
    # The translations of both systems stand together.
    assert [[text["score"] for text in row["translations"]] for row in page_data["rows"]] == [
        [-6, -6],
        [0, 0],
        [-1, -1],
    ]
    assert [[text["system"] for text in row["translations"]] for row in page_data["rows"]] == [[0, 1]] * 3


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "give either RATINGS"),
        (("--output", "r.html"), "give either RATINGS, translations (--hyp) or a table (--input)"),
        (("a.jsonl", "--hyp", "a.txt", "--output", "r.html"), "give either RATINGS"),
        (("a.jsonl", "--checks", "only", "--output", "r.html"), "--checks is for translations: give their files with"),
        (("a.jsonl",), "no page: give --output FILE"),
        (("a.jsonl", "a.jsonl", "--output", "r.html"), "a.jsonl is given 2 times"),
        (("no.jsonl", "--output", "r.html"), "no.jsonl: no such file or directory"),
        (("a.jsonl", "--output", "a.jsonl"), "--output a.jsonl is the input a.jsonl"),
        (("bad.jsonl", "--output", "r.html"), "bad.jsonl:2: "),
        (("empty.jsonl", "--output", "r.html"), "empty.jsonl: "),
        (("-", "-", "--output", "r.html"), "- is given 2 times"),
    ],
)
def test_bad_input(run: Run, folder: Path, arguments: tuple[str, ...], problem: str) -> None:
    write(folder / "bad.jsonl", jsonl.dumps(ratings()[0]), '{"hypothesis": 1}')
    write(folder / "empty.jsonl")
    assert run("report", *arguments).refused().startswith(problem)
    assert not (folder / "r.html").exists()
    assert list(folder.glob(".matese*")) == []

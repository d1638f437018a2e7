from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from matese.annotation import Estimate, Overall, Rating, Segment, SegmentKey
from matese.formats.tables import jsonl
from tests.cli.conftest import Run, write
from tests.evaluation.material import major, minor

TEXTS = ("Das Haus am See", "", "Es regnet")


def ratings(system: str | None = None) -> list[Rating]:
    keys = [SegmentKey(system=system, index=index) for index in range(3)]
    errors = ((minor(0, 3), major(4, 8)), (), (minor(0, 2),))
    return [Rating(Segment(text, key=key), "m", own) for text, key, own in zip(TEXTS, keys, errors, strict=True)]


def data(page: str) -> Any:
    return json.loads(re.findall(r'id="data">(.*?)</script>', page, re.DOTALL)[0])


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    write(folder / "a.jsonl", *map(jsonl.dumps, ratings("A")))
    write(folder / "b.jsonl", *map(jsonl.dumps, ratings()))
    write(folder / "same.jsonl", *map(jsonl.dumps, ratings("A")))


def test_page(run: Run, folder: Path) -> None:
    ran = run("report", "a.jsonl", "b.jsonl", "--output", "r.html", "--title", "Zwei & mehr")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "<title>Zwei &amp; mehr</title>" in page
    assert '<tr><th scope="row" dir="auto">A</th><td>3</td><td>1</td><td>2</td><td>2</td><td>1</td>' in page
    found = data(page)
    assert found["systems"] == ["A", "b"]
    # The translations of both systems stand together.
    assert [[text["score"] for text in row["translations"]] for row in found["rows"]] == [[-6, -6], [0, 0], [-1, -1]]
    assert [[text["system"] for text in row["translations"]] for row in found["rows"]] == [[0, 1]] * 3


def test_systems_of_one_name_are_told_apart(run: Run) -> None:
    found = data(run("report", "a.jsonl", "same.jsonl", "--output", "-").out)
    assert found["systems"] == ["a", "same"]


def test_ratings_without_spans_are_shown_and_counted(run: Run, folder: Path) -> None:
    score_only = Rating(Segment("Ja"), "da", None, overall=Overall(50, "da"))
    write(folder / "da.jsonl", jsonl.dumps(score_only), jsonl.dumps(Rating(Segment("Nein"), "da", ())))
    page = run("report", "da.jsonl", "--output", "-").out
    assert "1 rating has no spans and is not counted in any figure" in page
    assert data(page)["rows"][0]["translations"][0]["whole"] == {"value": 50, "scale": "da"}
    write(folder / "da.jsonl", jsonl.dumps(score_only))
    assert len(data(run("report", "da.jsonl", "--output", "-").out)["rows"]) == 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "the following arguments are required: --output"),
        (("--output", "r.html"), "give either RATINGS, translations (--hyp) or a table (--input)"),
        (("a.jsonl", "--hyp", "a.txt", "--output", "r.html"), "give either RATINGS"),
        (("a.jsonl",), "the following arguments are required: --output"),
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


def test_a_model_that_marks_nothing_has_a_table_of_its_scores(run: Run, folder: Path) -> None:
    for name, values in (("A", (0.5, 0.75)), ("B", (0.25, 0.5))):
        keys = [SegmentKey(system=name, index=index) for index in range(2)]
        scored = [
            Rating(Segment("Ja", key=key), "m", None, estimate=Estimate(value, "comet"))
            for key, value in zip(keys, values, strict=True)
        ]
        write(folder / f"{name}.jsonl", *map(jsonl.dumps, scored))
    page = run("report", "B.jsonl", "A.jsonl", "--output", "-").out
    assert "have no spans" not in page
    assert re.findall(r'<th scope="row" dir="auto">(\w)</th><td>2</td><td>([0-9.]+) ', page) == [
        ("A", "0.62"),
        ("B", "0.38"),
    ]
    assert "expected score: the model&#39;s own score; higher is better" in page


def test_summary_for_a_customer(run: Run, folder: Path) -> None:
    ran = run("report", "a.jsonl", "--summary", "--lang", "de", "--title", "Heft 2", "--output", "s.html")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    page = (folder / "s.html").read_text(encoding="utf-8")
    assert "1 von 3 Segmenten hat einen schweren oder kritischen Fehler." in page
    assert "<title>Übersetzungsqualität: Heft 2</title>" in page
    assert "--lang is for --summary only" in run("report", "a.jsonl", "--lang", "de", "--output", "-").refused()
    assert "2 systems (A, b)" in run("report", "a.jsonl", "b.jsonl", "--summary", "--output", "-").refused()


def test_translations_are_marked_first(run: Run, folder: Path) -> None:
    write(folder / "mt.txt", "Das Museum ist montags geöffnet.", "")
    write(folder / "ref.txt", "Das Museum ist montags geschlossen.", "Ein Satz.")
    page = run("report", "--hyp", "mt.txt", "--ref", "ref.txt", "--output", "-").out
    rows = data(page)["rows"]
    assert [bool(row["translations"][0]["errors"]) for row in rows] == [True, False]
    summary = run("report", "--hyp", "mt.txt", "--ref", "ref.txt", "--summary", "--lang", "de", "--output", "-").out
    assert '<html lang="de">' in summary
    assert "mini@" in summary

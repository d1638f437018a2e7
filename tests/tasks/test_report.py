from __future__ import annotations

import re
from pathlib import Path

import pytest

from matese.annotation import Estimate, Overall, Rating, Segment, SegmentKey
from matese.formats.tables import jsonl
from matese.tasks import report
from tests.tasks.conftest import do, refusal, write
from tests.tasks.material.report import data, write_files


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    write_files(folder)


def test_systems_of_one_name_are_told_apart() -> None:
    page_data = data(do(report, output="-", ratings=["a.jsonl", "same.jsonl"]).out)
    assert page_data["systems"] == ["a", "same"]


def test_ratings_without_spans_are_shown_and_counted(folder: Path) -> None:
    score_only = Rating(Segment("Ja"), "da", None, overall=Overall(50, "da"))
    write(folder / "da.jsonl", jsonl.dumps(score_only), jsonl.dumps(Rating(Segment("Nein"), "da", ())))
    page = do(report, output="-", ratings=["da.jsonl"]).out
    assert "1 rating has no spans and is not counted in any figure" in page
    assert data(page)["rows"][0]["translations"][0]["whole"] == {"value": 50, "scale": "da"}
    write(folder / "da.jsonl", jsonl.dumps(score_only))
    assert len(data(do(report, output="-", ratings=["da.jsonl"]).out)["rows"]) == 1


def test_a_model_that_marks_nothing_has_a_table_of_its_scores(folder: Path) -> None:
    for name, values in (("A", (0.5, 0.75)), ("B", (0.25, 0.5))):
        keys = [SegmentKey(system=name, index=index) for index in range(2)]
        scored = [
            Rating(Segment("Ja", key=key), "m", None, estimate=Estimate(value, "comet"))
            for key, value in zip(keys, values, strict=True)
        ]
        write(folder / f"{name}.jsonl", *map(jsonl.dumps, scored))
    page = do(report, output="-", ratings=["B.jsonl", "A.jsonl"]).out
    assert "have no spans" not in page
    assert re.findall(r'<th scope="row" dir="auto">(\w)</th><td>2</td><td>([0-9.]+) ', page) == [
        ("A", "0.62"),
        ("B", "0.38"),
    ]
    assert "expected score: the model&#39;s own score; higher is better" in page


def test_summary_for_a_customer(folder: Path) -> None:
    ran = do(report, summary=True, lang="de", title="Heft 2", output="s.html", ratings=["a.jsonl"])
    assert (ran.out, ran.told) == ("", "")
    page = (folder / "s.html").read_text(encoding="utf-8")
    assert "1 von 3 Segmenten hat einen schweren oder kritischen Fehler." in page
    assert "<title>Übersetzungsqualität: Heft 2</title>" in page
    assert "--lang is for --summary only" in refusal(report, lang="de", output="-", ratings=["a.jsonl"])
    assert '<h1 dir="auto">A, b</h1>' in do(report, summary=True, output="-", ratings=["a.jsonl", "b.jsonl"]).out


def test_translations_without_marks_are_told(folder: Path) -> None:
    write(folder / "mt.csv", "source,target", "A house,Ein Haus")
    write(folder / "rated.jsonl", '{"hypothesis": "Ein Haus", "errors": []}')
    told = "nothing is marked: RATINGS hold translations alone, which --input marks first"
    assert told in do(report, output="-", ratings=["mt.csv"]).told
    assert told not in do(report, output="-", ratings=["mt.csv", "rated.jsonl"]).told


def test_translations_are_marked_first(folder: Path) -> None:
    write(folder / "mt.txt", "Das Museum ist montags geöffnet.", "")
    write(folder / "ref.txt", "Das Museum ist montags geschlossen.", "Ein Satz.")
    page = do(report, hyp=["mt.txt"], ref=["ref.txt"], output="-").out
    rows = data(page)["rows"]
    assert [bool(row["translations"][0]["errors"]) for row in rows] == [True, False]
    summary = do(report, hyp=["mt.txt"], ref=["ref.txt"], summary=True, lang="de", output="-").out
    assert '<html lang="de">' in summary
    assert "mini@" in summary

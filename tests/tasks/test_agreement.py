from __future__ import annotations

import json
from pathlib import Path

import pytest

from matese.annotation import Rating, Segment
from matese.formats.tables import jsonl
from matese.tasks import agreement
from tests.tasks.conftest import do, refusal, write
from tests.tasks.material.agreement import TEXT, rating, write_files


@pytest.fixture(autouse=True)
def file(folder: Path) -> None:
    write_files(folder)


def test_tables() -> None:
    ran = do(agreement, all=True, ratings="ratings.jsonl")
    alone = "1 of 6 ratings are the only ones of their text: no one to agree with, so they count only in how"
    assert ran.told.startswith(f"{alone} each rater annotates\n")
    lines = ran.out.splitlines()
    assert lines[0] == "2 segments with two raters or more, 5 ratings of 3 raters; tags and alpha by word"
    assert any(line.split()[:1] == ["alpha.severity"] for line in lines)
    of_raters = [line.split()[:2] for line in lines if line.startswith(("anna  ", "ben  ", "cleo  "))]
    assert of_raters == [["anna", "2"], ["ben", "2"], ["cleo", "2"]] * 2  # the main table, and all figures
    pairs = [line.split()[:4] for line in lines if " and " in line and not line.startswith("2 ")]
    assert pairs == [["anna", "and", "ben", "2"], ["anna", "and", "cleo", "1"], ["ben", "and", "cleo", "1"]]


def test_json() -> None:
    report = json.loads(do(agreement, json="-", bootstrap=20, ratings="ratings.jsonl").out)
    assert set(report) == {"ratings", "settings", "segments", "ratings_alone", "pooled", "alpha", "raters", "pairs"}
    assert set(report["alpha"]) == {"severity", "severity_interval", "marked", "marked_interval"}
    assert (report["segments"], report["ratings_alone"]) == (2, 1)
    # In both directions: anna's 2 (one hit by ben), ben's 1 (hit) and twice 1 (hit by cleo), cleo's twice 2 (one hit).
    assert report["pooled"]["hsh"] == report["pooled"]["tsh"] == pytest.approx(4 / 9)
    low, high = report["pooled"]["mpp"]["micro"]["f1_interval"]
    assert low <= report["pooled"]["mpp"]["micro"]["f1"] <= high
    assert report["raters"]["cleo"]["errors_per_segment"] == 1.0
    assert report["raters"]["cleo"]["with_others"]["hsh"] == 0.25
    assert [pair["raters"] for pair in report["pairs"]] == [["anna", "ben"], ["anna", "cleo"], ["ben", "cleo"]]
    assert report["pairs"][0]["severity"]["agreement"] == 1.0


@pytest.mark.parametrize(
    ("ratings", "problem"),
    [
        ([rating("anna")], "no segment has two raters"),
        ([rating("anna"), rating("anna")], "anna has rated segment 1 of A"),
        ([Rating(Segment(TEXT), None, ())], "rating of line 1"),
        ([Rating(Segment(TEXT), "anna", None)], "rating of line 1"),
    ],
)
def test_bad_input(folder: Path, ratings: list[Rating], problem: str) -> None:
    write(folder / "ratings.jsonl", *map(jsonl.dumps, ratings))
    assert refusal(agreement, ratings="ratings.jsonl").startswith(problem)

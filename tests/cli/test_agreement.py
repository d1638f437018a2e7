from __future__ import annotations

from pathlib import Path

import pytest

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey
from matese.formats.tables import jsonl
from tests.cli.conftest import Run, write
from tests.evaluation.material import major, minor

TEXT = "Das Haus am See ist alt."


def rating(rater: str, *errors: ErrorSpan, text: str = TEXT, index: int = 0) -> Rating:
    return Rating(Segment(text, key=SegmentKey(system="A", index=index)), rater, errors)


RATINGS = [
    rating("anna", minor(4, 8), major(12, 15)),
    rating("ben", minor(4, 8)),
    rating("anna", index=1),
    rating("ben", major(0, 3), index=1),
    rating("cleo", major(0, 3), minor(20, 23), index=1),
    rating("cleo", index=2),
]


@pytest.fixture(autouse=True)
def file(folder: Path) -> None:
    write(folder / "ratings.jsonl", *map(jsonl.dumps, RATINGS))


def test_the_report_begins_with_sentences_and_fits_a_screen(run: Run) -> None:
    lines = run("agreement", "ratings.jsonl").out.splitlines()
    first = "Of the errors that one rater marks, another one marks 44 %, at least in part; "
    assert lines[1] == f"{first}100 % of these have the same severity."
    assert lines[2].startswith("Krippendorff's alpha of the severity of each word is ")
    assert lines[-1] == "More figures: --all; for programs: --json FILE"
    assert len(lines) < 20

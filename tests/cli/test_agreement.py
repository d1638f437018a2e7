from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.tasks.material.agreement import write_files


@pytest.fixture(autouse=True)
def file(folder: Path) -> None:
    write_files(folder)


def test_the_report_begins_with_sentences_and_fits_a_screen(run: Run) -> None:
    lines = run("agreement", "ratings.jsonl").out.splitlines()
    first = "Of the errors that one rater marks, another one marks 44 %, at least in part; "
    assert lines[1] == f"{first}100 % of these have the same severity."
    assert lines[2].startswith("Krippendorff's alpha of the severity of each word is ")
    assert lines[-1] == "More figures: --all; for programs: --json FILE"
    assert len(lines) < 20

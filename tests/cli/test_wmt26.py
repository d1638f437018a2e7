"""The test set of WMT 2026 as input of the commands, and a submission from end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from matese.formats.tables import jsonl
from tests.cli.conftest import Run
from tests.formats import wmt26_submissions


@pytest.fixture(autouse=True)
def test_set(folder: Path) -> Path:
    return wmt26_submissions.write_test_set(folder / "mteval-test26.jsonl")


def test_a_submission_from_end_to_end(run: Run, folder: Path) -> None:
    ran = run("tag", "--input", "mteval-test26.jsonl", "--format", "wmt26", "--output", "submission.jsonl")
    assert ran.code == 0
    submission = (folder / "submission.jsonl").read_text("utf-8")
    assert list(wmt26_submissions.problems(submission, tasks=(1, 2))) == []
    ran = run("convert", "submission.jsonl", "again.jsonl", "--texts", "mteval-test26.jsonl")
    assert ran.code == 0
    again = list(jsonl.read(folder / "again.jsonl"))
    assert len(again) == 5
    assert all(rating.errors is not None and rating.estimate is not None for rating in again)
    run("convert", "again.jsonl", "twice.jsonl", "--to", "wmt26")
    assert (folder / "twice.jsonl").read_text("utf-8") == submission


def test_marks_of_a_copy_are_submitted_too(run: Run, folder: Path) -> None:
    run("tag", "--input", "mteval-test26.jsonl", "--checks", "only", "--output", "ratings.jsonl")
    ran = run("convert", "ratings.jsonl", "submission.jsonl", "--to", "wmt26")
    assert ran.code == 0
    assert list(wmt26_submissions.problems((folder / "submission.jsonl").read_text("utf-8"), tasks=(1, 2))) == []


def test_a_submission_needs_the_test_set(run: Run) -> None:
    run("tag", "--input", "mteval-test26.jsonl", "--checks", "only", "--format", "wmt26", "--output", "made.jsonl")
    assert "--texts" in run("info", "made.jsonl").refused()


def test_error_free_labels_need_a_calibrated_model(run: Run, tiny_model_dir: Path) -> None:
    model = str(tiny_model_dir)
    problem = run("tag", "--input", "mteval-test26.jsonl", "--error-free", "--model", model).refused()
    assert "calibrate" in problem
    assert "--error-free" in run("tag", "--input", "mteval-test26.jsonl", "--error-free", "--checks", "only").refused()


def test_candidates_are_the_systems_of_each_segment(run: Run) -> None:
    ran = run("mbr", "--input", "mteval-test26.jsonl", "--format", "jsonl")
    lines = [json.loads(line) for line in ran.out.splitlines()]
    assert [[one["system"] for one in line["candidates"]] for line in lines] == [
        ["Big One", "tiny"],
        ["Big One"],
        ["Big One", "tiny"],
    ]
    ran = run("rerank", "--input", "mteval-test26.jsonl", "--lang-pair", "eng_Latn-deu_Latn")
    assert ran.out.splitlines() == ["Der Laden öffnet um sechs.", "12 Äpfel"]


def test_references_can_be_left_out(run: Run) -> None:
    ran = run(
        *("tag", "--input", "mteval-test26.jsonl", "--ignore-references", "--checks", "only", "--format", "jsonl")
    )
    assert all(json.loads(line)["references"] == [] for line in ran.out.splitlines())

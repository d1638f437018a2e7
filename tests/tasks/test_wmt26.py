"""The test set of WMT 2026 as input of the commands, and a submission from end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from matese.formats.tables import jsonl
from matese.tasks import convert, info, mbr, rerank, tag
from tests.formats import wmt26_submissions
from tests.tasks.conftest import do, refusal


@pytest.fixture(autouse=True)
def test_set(folder: Path) -> Path:
    return wmt26_submissions.write_test_set(folder / "mteval-test26.jsonl")


def test_a_submission_from_end_to_end(folder: Path) -> None:
    do(tag, input=["mteval-test26.jsonl"], format="wmt26", output="submission.jsonl")
    submission = (folder / "submission.jsonl").read_text("utf-8")
    assert list(wmt26_submissions.problems(submission, tasks=(1, 2))) == []
    do(convert, texts="mteval-test26.jsonl", input="submission.jsonl", output="again.jsonl")
    again = list(jsonl.read(folder / "again.jsonl"))
    assert len(again) == 5
    assert all(rating.errors is not None and rating.estimate is not None for rating in again)
    do(convert, to="wmt26", input="again.jsonl", output="twice.jsonl")
    assert (folder / "twice.jsonl").read_text("utf-8") == submission


def test_marks_of_a_copy_are_submitted_too(folder: Path) -> None:
    do(tag, input=["mteval-test26.jsonl"], checks="only", output="ratings.jsonl")
    do(convert, to="wmt26", input="ratings.jsonl", output="submission.jsonl")
    assert list(wmt26_submissions.problems((folder / "submission.jsonl").read_text("utf-8"), tasks=(1, 2))) == []


def test_a_submission_needs_the_test_set() -> None:
    do(tag, input=["mteval-test26.jsonl"], checks="only", format="wmt26", output="made.jsonl")
    assert "--texts" in refusal(info, input="made.jsonl")


def test_error_free_labels_need_a_calibrated_model(tiny_model_dir: Path) -> None:
    model = str(tiny_model_dir)
    problem = refusal(tag, input=["mteval-test26.jsonl"], error_free=True, model=model)
    assert "calibrate" in problem
    assert "--error-free" in refusal(tag, input=["mteval-test26.jsonl"], error_free=True, checks="only")


def test_candidates_are_the_systems_of_each_segment() -> None:
    ran = do(mbr, input=["mteval-test26.jsonl"], format="jsonl")
    lines = [json.loads(line) for line in ran.out.splitlines()]
    assert [[candidate["system"] for candidate in line["candidates"]] for line in lines] == [
        ["Big One", "tiny"],
        ["Big One"],
        ["Big One", "tiny"],
    ]
    ran = do(rerank, input=["mteval-test26.jsonl"], lang_pair="eng_Latn-deu_Latn")
    assert ran.out.splitlines() == ["Der Laden öffnet um sechs.", "12 Äpfel"]


def test_references_can_be_left_out() -> None:
    ran = do(tag, input=["mteval-test26.jsonl"], ignore_references=True, checks="only", format="jsonl")
    assert all(json.loads(line)["references"] == [] for line in ran.out.splitlines())

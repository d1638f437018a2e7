"""Several predictions on the command line: what is written, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from matese.tasks import evaluate, score, tag
from tests.tasks.conftest import do, refusal, write


@pytest.fixture
def texts(folder: Path) -> dict[str, object]:
    write(folder / "a.txt", "Er kommt nicht heute.", "Das ist gut.")
    write(folder / "b.txt", "Er kommt morgen.", "Das ist schlecht.")
    return {"hyp": ["a.txt"], "ref": ["b.txt"]}


def test_intervals_and_votes_are_written(texts: dict[str, object]) -> None:
    ran = do(tag, uncertainty="dropout:3", format="jsonl", precision="float32", **texts)
    assert "trained without dropout" in ran.told
    lines = [json.loads(line) for line in ran.out.splitlines()]
    for line in lines:
        # An error of meaning in every prediction may lower all scores to the same one.
        assert line["estimate"]["low"] <= line["expected_score"] <= line["estimate"]["high"]
        assert all(set(error["votes"]) == {"share", "other_severity"} for error in line["errors"])
    assert lines[0]["errors"]
    assert any(line["estimate"]["low"] < line["estimate"]["high"] for line in lines)


def test_the_interval_of_a_system_covers_those_of_its_segments(texts: dict[str, object]) -> None:
    plain, several = (
        json.loads(do(score, json="-", precision="float32", **texts, **options).out)["systems"][0]
        for options in ({}, {"uncertainty": "dropout:3", "interval_scale": 9})
    )
    low, high = plain["expected_score_interval"]
    wide_low, wide_high = several["expected_score_interval"]
    assert wide_high - wide_low > high - low
    assert wide_low < several["expected_score"] < wide_high <= 0


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ("dropuot:5", "dropuot:5"),
        ("models:mini,no-such", "no-such"),
        ("references", "2 references or more"),
    ],
)
def test_what_makes_no_spread_is_refused(texts: dict[str, object], how: str, problem: str) -> None:
    assert problem in refusal(tag, uncertainty=how, format="jsonl", **texts)


def test_a_scale_alone_is_refused(texts: dict[str, object]) -> None:
    assert "give it together with an uncertainty" in refusal(tag, interval_scale=2, **texts)
    do(tag, format="jsonl", output="spans.jsonl", **texts)
    refused = refusal(evaluate, interval_scale=2, gold="spans.jsonl", predicted="spans.jsonl")
    assert "interval scale 2: spans.jsonl: not all ratings have" in refused

"""Several predictions on the command line: what is written, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run, write


@pytest.fixture
def texts(folder: Path) -> list[str]:
    write(folder / "a.txt", "Er kommt nicht heute.", "Das ist gut.")
    write(folder / "b.txt", "Er kommt morgen.", "Das ist schlecht.")
    return ["--hyp", "a.txt", "--ref", "b.txt"]


def test_intervals_and_votes_are_written(run: Run, texts: list[str]) -> None:
    ran = run("tag", *texts, "--uncertainty", "dropout:3", "--format", "jsonl", "--precision", "float32")
    assert ran.code == 0
    assert "trained without dropout" in ran.err
    lines = [json.loads(line) for line in ran.out.splitlines()]
    for line in lines:
        # An error of meaning in every prediction may lower all scores to the same one.
        assert line["estimate"]["low"] <= line["expected_score"] <= line["estimate"]["high"]
        assert all(set(error["votes"]) == {"share", "other_severity"} for error in line["errors"])
    assert lines[0]["errors"]
    assert any(line["estimate"]["low"] < line["estimate"]["high"] for line in lines)


def test_the_interval_of_a_system_covers_those_of_its_segments(run: Run, texts: list[str]) -> None:
    plain, several = (
        json.loads(run("score", *texts, *options, "--json", "-", "--precision", "float32").out)["systems"][0]
        for options in ((), ("--uncertainty", "dropout:3", "--interval-scale", "9"))
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
def test_what_makes_no_spread_is_refused(run: Run, texts: list[str], how: str, problem: str) -> None:
    assert problem in run("tag", *texts, "--uncertainty", how, "--format", "jsonl").refused()


def test_uncertainty_needs_a_model(run: Run, texts: list[str], folder: Path) -> None:
    how = ("--uncertainty", "dropout:3")
    assert "leave out --checks only" in run("tag", *texts, *how, "--checks", "only").refused()
    run("tag", *texts, "--format", "jsonl", "--output", "spans.jsonl")
    assert "give texts instead of RATINGS" in run("score", "spans.jsonl", *how).refused()
    assert "--cluster ray: leave out" in run("tag", "--input", "x", "--output", "y", *how, "--cluster", "ray").refused()


def test_a_scale_alone_is_refused(run: Run, texts: list[str]) -> None:
    assert "give it together with an uncertainty" in run("tag", *texts, "--interval-scale", "2").refused()
    run("tag", *texts, "--format", "jsonl", "--output", "spans.jsonl")
    ran = run("evaluate", "spans.jsonl", "spans.jsonl", "--interval-scale", "2")
    assert "interval scale 2: spans.jsonl: not all ratings have" in ran.refused()

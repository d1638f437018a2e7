"""Several predictions on the command line: what is written, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run, write


@pytest.fixture
def texts(folder: Path) -> list[str]:
    write(folder / "a.txt", "Er kommt nicht heute.", "Das ist gut.")
    write(folder / "b.txt", "Er kommt morgen.", "Das ist schlecht.")
    return ["--hyp", "a.txt", "--ref", "b.txt"]


def test_uncertainty_needs_a_model(run: Run, texts: list[str], folder: Path) -> None:
    how = ("--uncertainty", "dropout:3")
    assert "leave out --checks only" in run("tag", *texts, *how, "--checks", "only").refused()
    run("tag", *texts, "--format", "jsonl", "--output", "spans.jsonl")
    assert "give texts instead of RATINGS" in run("score", "spans.jsonl", *how).refused()
    assert "--cluster ray: leave out" in run("tag", "--input", "x", "--output", "y", *how, "--cluster", "ray").refused()

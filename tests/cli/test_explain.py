"""Explanations on the command line: what is written, and what is refused."""

from __future__ import annotations

import json
import re
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, write


@pytest.fixture
def texts(folder: Path) -> list[str]:
    write(folder / "a.txt", "Er kommt nicht heute.", "")
    write(folder / "b.txt", "Er kommt heute.", "Das ist gut.")
    return ["--hyp", "a.txt", "--ref", "b.txt"]


def test_the_words_that_lower_the_score_are_listed(run: Run, texts: list[str]) -> None:
    ran = run("explain", *texts)
    assert ran.code == 0
    assert "leave-one-out" in ran.out
    assert "hyp" in ran.out
    assert re.search(r"^ +nicht \d", ran.out, re.MULTILINE)  # the first is what lowers it most


def test_a_fit_skips_long_segments_and_keeps_what_is_done(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from matese.explanation import fitting

    errors = [{"start": 9, "end": 14, "severity": "major"}]
    line = {"hypothesis": "Er kommt nicht heute.", "references": ["Er kommt heute."], "errors": errors}
    long = {**line, "hypothesis": "Er kommt nicht heute. " * 200}
    write(folder / "gold.jsonl", *map(json.dumps, (line, long, line)))
    write(folder / "gold2.jsonl", json.dumps(line))
    ran = run("explain", "--fit", "gold.jsonl", "--by", "embed-align")
    assert (ran.code, "embed-align:" in ran.out) == (0, True)
    assert "matese: skipped: 1 segment longer than the model reads at once\n" in ran.err
    assert "matese: segments that have both words in errors and others: 2\n" in ran.err
    words_of = fitting.words_of

    def interrupted(*arguments: Any) -> Any:
        yield from islice(words_of(*arguments), 2)
        raise KeyboardInterrupt

    again = ("explain", "--fit", "gold.jsonl", "--by", "embed-align", "lime", "--output", "fit.jsonl")
    with monkeypatch.context() as patch:
        patch.setattr(fitting, "words_of", interrupted)
        stopped = run(*again)
    assert (stopped.code, "stopped: the figures are of the first 2 of 3 segments" in stopped.err) == (0, True)
    with (folder / "fit.jsonl").open("a") as file:
        file.write('{"run": {"mod')
    resumed = run(*again)
    whole = run(*again[:-2])
    assert (resumed.code, resumed.out) == (0, whole.out)
    assert len((folder / "fit.jsonl").read_text().splitlines()) == 3
    assert "fit.jsonl:1: is of other segments" in run(*again[:5], "--output", "fit.jsonl").refused()
    assert "is of other segments or methods" in run(*again[:-1], "gold2.jsonl").refused()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--by", "atention"), "unknown method"),
        (("--by", "attention:99"), "at most 12"),
        (("--by", "lime", "tags"), "give one method"),
        (("--min-weight", "1"), "for --format jsonl only"),
        (("--min-weight", "nan", "--format", "jsonl"), "must be a number"),
        (("--fit", "b.txt"), "leave out --hyp"),
        (("--limit", "0"), "must be a whole number"),
    ],
)
def test_bad_options_are_refused(run: Run, texts: list[str], options: tuple[str, ...], problem: str) -> None:
    assert problem in run("explain", *texts, *options).refused()

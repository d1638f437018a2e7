from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.formats import score_files


@pytest.fixture
def wmt(folder: Path) -> str:
    score_files.make(folder / "wmt")
    return "wmt"


def test_a_table_with_clusters(run: Run, wmt: str) -> None:
    ran = run("correlate", wmt)
    assert ran.code == 0
    title, said, header, *rows = (line.split() for line in ran.out.splitlines()[:6])
    assert said[:5] == ["Kiwi", "agrees", "best", "with", "people:"]
    assert title == ["en-de:", "4", "systems,", "refA"]
    assert header[:3] == ["metric", "cluster", "system.pearson"]
    assert [row[0] for row in rows] == ["Kiwi", "BLEU", "chrF"]
    assert rows[2][2].startswith("-1.0")  # the sign is kept


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ([], "TESTSET, or --gold"),
        (["nowhere"], "nowhere: "),
        (["wmt", "--metric", "x"], "--metric"),
        (["--gold", "g", "--metric", "m", "--first-segment", "x=1"], "--first-segment x=1: "),
        (["wmt", "--first-segment", "1"], "--first-segment"),
        (["wmt", "--first-segment", "m=2"], "--first-segment: 'm=2'"),
        (["--gold", "g", "--metric", "m", "--ref", "refA"], "--ref"),
        (["wmt", "--lang-pairs", "en-dd"], "'en-dd', did you mean 'en-de'?"),
        (["wmt", "--metrics", "BLUE"], "'BLUE' of en-de: must be BLEU, Kiwi or chrF"),
        (["wmt", "--ref", "refC"], "'refC' of en-de, did you mean 'refB'?"),
        (["wmt", "--without", "Z"], "--without Z: "),
        (["wmt", "--rank-by", "system.spa", "--significance", "williams"], "system.spa"),
        (
            ["wmt", "--rank-by", "system.pearsn"],
            "--rank-by: unknown figure 'system.pearsn', did you mean 'system.pearson'?",
        ),
        (["wmt", "--rank-by", "darr"], "did you mean 'segment.darr'?"),
        (["wmt", "--baseline", "chrf:betta=3"], "chrf"),
        (["wmt", "--baseline", "wer:lc"], "wer"),
    ],
)
def test_what_cannot_be_done(run: Run, wmt: str, arguments: list[str], place: str) -> None:
    ran = run("correlate", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert place in ran.err.splitlines()[-1]

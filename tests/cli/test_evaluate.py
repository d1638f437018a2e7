from __future__ import annotations

import json
from pathlib import Path

import pytest

from matese.annotation import Rating, TokenScores
from tests.cli.conftest import Run, write
from tests.tasks.material.evaluation import FIGURES, PREDICTED, SENTENCES, put, ratings, write_files

KEYS = FIGURES | {"gold", "predicted", "raters", "settings", "segments", "spans"}


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    write_files(folder)


def test_table_and_file(run: Run, folder: Path) -> None:
    ran = run("evaluate", "gold.jsonl", "pred.jsonl", "--all", "--json", "figures.json")
    assert ran.code == 0
    report = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    assert set(report) == KEYS | {"calibration"}
    lines = {line.split()[0]: line.split()[1:] for line in ran.out.splitlines() if line.strip()}
    assert lines["mpp.micro"] == [f"{report['mpp']['micro'][rate]:.4f}" for rate in ("precision", "recall", "f1")]
    assert lines["hsh"] == [f"{report['hsh']:.4f}"]
    assert ran.out.startswith("4 segments, 4 gold spans in gold.jsonl, 3 predicted in pred.jsonl; tags by word\n")
    assert report["tags"]["confusion"]["tags"] == ["O", "B-Minor", "I-Minor", "B-Major", "I-Major"]
    assert sum(map(sum, report["tags"]["confusion"]["gold_by_predicted"])) == 6 + 7 + 0 + 6 + 1
    assert [a_bin["n"] for a_bin in report["calibration"]["bins"]] == [0, 0, 0, 1, 0, 1, 0, 0, 1, 0]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("gold.jsonl",), "the following arguments are required: PRED"),
        (("gold.jsonl", "none.jsonl"), "none.jsonl: no such file or directory"),
        (("-", "-"), "- is given 2 times"),
        (("gold.jsonl", "mt.txt"), "mt.txt: a text file"),
        (("gold.jsonl", "empty"), "empty: file is empty"),
        (("gold.jsonl", "pred.jsonl", "--by", "sevrity"), "--by: unknown group 'sevrity', did you mean 'severity'"),
        (("gold.jsonl", "pred.jsonl", "--unit", "tokens"), "unit 'tokens'"),
        (("gold.jsonl", "pred.jsonl", "--bootstrap", "-1"), "--bootstrap: '-1'"),
        (("gold.jsonl", "pred.jsonl", "--json", "pred.jsonl"), "--json pred.jsonl is the input pred.jsonl"),
        (("gold.jsonl", "pred.jsonl", "--json", "no/f"), "--json no/f"),
        (("gold.jsonl", "short.jsonl"), "gold.jsonl has 4 ratings and short.jsonl 3"),
        (("gold.jsonl", "other.jsonl"), "rating 2 is of different segments: hypothesis from character 9 is ', und wir"),
        (("gold.jsonl", "scores.jsonl"), "scores.jsonl: rating of segment 1 of t en-de S0"),
        (("gold.jsonl", "tokens.jsonl"), "tokens.jsonl:1: tokens[0]: start 0 and end 99"),
    ],
)
def test_bad_input(run: Run, folder: Path, arguments: tuple[str, ...], problem: str) -> None:
    write(folder / "empty")
    put(folder / "short.jsonl", ratings(PREDICTED)[:3])
    put(folder / "other.jsonl", ratings(([], [], [], []), texts=(SENTENCES[0], "Es regnete", "x", "y")))
    put(folder / "scores.jsonl", [Rating(rating.segment, "m", None) for rating in ratings(PREDICTED)])
    tokens = [TokenScores(((0, 99),), ((1.0, 0.0, 0.0, 0.0, 0.0),))] * 4
    put(folder / "tokens.jsonl", ratings(PREDICTED), tokens)
    assert run("evaluate", *arguments).refused().startswith(problem)
    assert not (folder / "no").exists()

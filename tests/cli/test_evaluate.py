from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, TokenScores
from matese.formats.tables import jsonl
from tests.cli.conftest import Run, write
from tests.evaluation.material import major, minor

FIGURES = {"em", "mp", "mpp", "char_wmt23", "char_wmt25", "soft", "hsh", "tsh", "exact", "tags", "score"}
KEYS = FIGURES | {"gold", "predicted", "raters", "settings", "segments", "spans"}
SENTENCES = ("Das Haus am See ist alt.", "Es regnet, und wir gehen.", "", "Der Hund schläft 你好!")
GOLD: tuple[list[ErrorSpan], ...] = (
    [major(4, 8), minor(12, 15)],
    [minor(0, 2)],
    [],
    [major(9, 16, "Accuracy/Mistranslation")],
)
PREDICTED: tuple[list[ErrorSpan], ...] = (
    [minor(4, 8, None, 0.9)],
    [],
    [],
    [major(9, 13, None, 0.6), minor(17, 18, None, 0.4)],
)


def ratings(marks: Any, rater: str = "r", texts: tuple[str, ...] = SENTENCES) -> list[Rating]:
    return [
        Rating(
            Segment(text, key=SegmentKey("t", "en-de" if i < 2 else "en-zh", f"S{i % 2}", None, i)),
            rater,
            tuple(errors),
        )
        for i, (text, errors) in enumerate(zip(texts, marks, strict=True))
    ]


def put(path: Path, given: list[Rating], tokens: list[TokenScores] | None = None) -> None:
    lines = [jsonl.dumps(one, tokens=None if tokens is None else tokens[i]) for i, one in enumerate(given)]
    write(path, *lines)


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    put(folder / "gold.jsonl", ratings(GOLD))
    put(folder / "pred.jsonl", ratings(PREDICTED, "m"))


def test_table_and_file(run: Run, folder: Path) -> None:
    ran = run("evaluate", "gold.jsonl", "pred.jsonl", "--all", "--json", "figures.json")
    assert ran.code == 0
    found = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    assert set(found) == KEYS | {"calibration"}
    lines = {line.split()[0]: line.split()[1:] for line in ran.out.splitlines() if line.strip()}
    assert lines["mpp.micro"] == [f"{found['mpp']['micro'][rate]:.4f}" for rate in ("precision", "recall", "f1")]
    assert lines["hsh"] == [f"{found['hsh']:.4f}"]
    assert ran.out.startswith("4 segments, 4 gold spans in gold.jsonl, 3 predicted in pred.jsonl; tags by word\n")
    assert found["tags"]["confusion"]["tags"] == ["O", "B-Minor", "I-Minor", "B-Major", "I-Major"]
    assert sum(map(sum, found["tags"]["confusion"]["gold_by_predicted"])) == 6 + 7 + 0 + 6 + 1
    assert [one["n"] for one in found["calibration"]["bins"]] == [0, 0, 0, 1, 0, 1, 0, 0, 1, 0]


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
    put(folder / "scores.jsonl", [Rating(one.segment, "m", None) for one in ratings(PREDICTED)])
    tokens = [TokenScores(((0, 99),), ((1.0, 0.0, 0.0, 0.0, 0.0),))] * 4
    put(folder / "tokens.jsonl", ratings(PREDICTED), tokens)
    assert run("evaluate", *arguments).refused().startswith(problem)
    assert not (folder / "no").exists()

"""docs/research/evaluation.md lists the keys of `matese evaluate` and `matese agreement`, no more and no fewer."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from matese.annotation import ErrorSpan, Estimate, Omission, Rating, Segment, SegmentKey, Severity, TokenScores
from matese.cli import main
from matese.formats.tables import jsonl
from tests.evaluation.material import major, minor
from tests.tasks.material.evaluation import FIGURES

DOCS = (Path(__file__).resolve().parents[2] / "docs" / "research" / "evaluation.md").read_text(encoding="utf-8")
TEXTS = ("Das Haus am See ist alt.", "Es regnet, und wir gehen.", "Der Hund schläft.")


def section(title: str) -> str:
    return DOCS.split(f"## {title}\n")[1].split("\n## ")[0]


def documented(title: str) -> set[str]:
    """Returns the keys in the first column of the section's table, with braces expanded."""
    cells = re.findall(r"^\| (`.*?) \|", section(title), re.MULTILINE)
    return {key for cell in cells for name in re.findall(r"`([^`]+)`", cell) for key in expand(name)}


def expand(name: str) -> Iterator[str]:
    parts = [part[1:-1].split(",") if part.startswith("{") else [part] for part in re.split(r"({[^}]*})", name)]
    return map("".join, itertools.product(*parts))


def leaves(tree: Any, name: str = "") -> Iterator[str]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{name}{key}.")
        else:
            yield f"{name}{key}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    segments = [Segment(text, "The source.", key=SegmentKey(system="A", index=i)) for i, text in enumerate(TEXTS)]
    marks: tuple[list[ErrorSpan], ...] = ([minor(4, 8, "Style/Awkward")], [major(0, 2)], [])
    predicted: tuple[list[ErrorSpan], ...] = ([minor(4, 6, "Style", 0.7)], [], [minor(0, 3, None, 0.2)])
    tokens = TokenScores(((0, 3), (4, 8)), ((1.0, 0.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0, 0.0)))
    golds = [Rating(segment, "anna", tuple(errors)) for segment, errors in zip(segments, marks, strict=True)]
    golds[0] = replace(golds[0], omissions=(Omission("source", None, 0, 3, Severity.MAJOR),))
    others = [
        Rating(segment, "ben", tuple(errors), estimate=Estimate(-float(i), "mqm", low=-i - 1.0, high=0.0))
        for i, (segment, errors) in enumerate(zip(segments, predicted, strict=True))
    ]
    (tmp_path / "gold.jsonl").write_text("".join(f"{jsonl.dumps(one)}\n" for one in golds), encoding="utf-8")
    (tmp_path / "pred.jsonl").write_text(
        "".join(f"{jsonl.dumps(one, tokens=tokens)}\n" for one in others), encoding="utf-8"
    )
    (tmp_path / "both.jsonl").write_text(
        "".join(f"{jsonl.dumps(one)}\n" for pair in zip(golds, others, strict=True) for one in pair), encoding="utf-8"
    )
    return tmp_path


def test_keys_of_evaluate(folder: Path) -> None:
    assert main(["evaluate", "gold.jsonl", "pred.jsonl", "--json", "out.json"]) == 0
    found = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    keys = documented("Keys of `matese evaluate --json`")
    # These need --good, --sentinels, or decisions that segments are free of errors: tests/cli/test_evaluate.py.
    assert set(leaves(found)) == {key for key in keys if not key.startswith(("error_free.", "pass.", "sentinels."))}


def test_keys_of_agreement(folder: Path) -> None:
    assert main(["agreement", "both.jsonl", "--json", "out.json"]) == 0
    found = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    others = {"tags.confusion.tags", "tags.confusion.gold_by_predicted"}
    whole = documented("Keys of `matese evaluate --json`")
    groups = FIGURES | {"omissions", "category"}
    figures = {key for key in whole if key.split(".")[0] in groups} - others
    keys = documented("Keys of `matese agreement --json`")
    pooled = figures | {key.removeprefix("pooled.") for key in keys if key.startswith("pooled.")}
    assert set(leaves(found["pooled"])) == pooled
    (pair,) = found["pairs"]
    assert set(leaves(pair)) == pooled | {"raters", "segments"}
    anna = found["raters"]["anna"]
    assert set(leaves(anna.pop("with_others"))) == pooled
    assert {f"raters.NAME.{name}" for name in anna} == {
        key for key in keys if key.startswith("raters.") and not key.endswith("with_others")
    }
    rest = {key for key in keys if key.partition(".")[0] not in ("pooled", "raters", "pairs")}
    assert (
        set(leaves({name: value for name, value in found.items() if name not in ("pooled", "raters", "pairs")})) == rest
    )

"""docs/compare.md lists the keys that `matese compare --json` writes, no more and no fewer."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from matese.annotation import Estimate, Rating, Segment, SegmentKey
from matese.cli import main
from matese.formats.tables import jsonl
from tests.docs.test_evaluation import expand, leaves
from tests.evaluation.material import major, minor

ROOT = Path(__file__).resolve().parents[2]
COMPARE = (ROOT / "docs" / "compare.md").read_text(encoding="utf-8")


def documented() -> set[str]:
    cells = re.findall(r"^\| (`.*?) \|", COMPARE.split("## Keys of")[1].split("\n## ")[0], re.MULTILINE)
    return {key for cell in cells for name in re.findall(r"`([^`]+)`", cell) for key in expand(name)}


def test_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for system, errors in (("A", (minor(0, 3),)), ("B", (major(4, 8),))):
        ratings = [
            Rating(
                Segment("Das Haus", references=("Das Haus",), key=SegmentKey(system=system, index=i)),
                "m",
                errors,
                estimate=Estimate(-1.0, "mqm"),
            )
            for i in range(3)
        ]
        Path(f"{system}.jsonl").write_text("".join(f"{jsonl.dumps(one)}\n" for one in ratings), encoding="utf-8")
    options = ["--bootstrap", "10", "--metrics", "chrf", "--json", "f.json"]
    assert main(["compare", "A.jsonl", "B.jsonl", *options]) == 0
    found: dict[str, Any] = json.loads(Path("f.json").read_text(encoding="utf-8"))
    found["systems"] = {"NAME": found["systems"]["B"]}
    found["versus"] = {"FIRST": {"NAME": found["versus"]["A"]["B"]}}
    chrf = found["metrics"]["chrF"]
    found["metrics"] = {
        "METRIC": {
            **chrf,
            "systems": {"NAME": chrf["systems"]["B"]},
            "versus": {"FIRST": {"NAME": chrf["versus"]["A"]["B"]}},
        }
    }
    assert {key for key in leaves(found) if not key.endswith("_interval")} == documented()
    described = next(line for line in COMPARE.splitlines() if line.startswith("| `differences` |"))
    assert set(found["differences"][0]) == set(re.findall(r"`(\w+)`", described)) - {"differences"}

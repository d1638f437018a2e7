"""docs/correct.md runs; what people do in between is done here as their tools write it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from matese.cli import main
from matese.formats.tables import jsonl

ROOT = Path(__file__).resolve().parents[2]


def annotate_in_label_studio() -> None:
    """Two people: one takes the model's spans as they are, the other removes the first of each task."""
    tasks = json.loads(Path("tasks/tasks.json").read_text(encoding="utf-8"))
    for task in tasks:
        (given,) = task.pop("predictions")
        regions = given["result"]
        task["annotations"] = [
            {"completed_by": {"email": "ann@example.org"}, "was_cancelled": False, "result": regions},
            {"completed_by": {"email": "bob@example.org"}, "was_cancelled": False, "result": regions[1:]},
        ]
    Path("export.json").write_text(json.dumps(tasks), encoding="utf-8")


def annotate_in_pearmut() -> None:
    """One person keeps everything, and gives a score."""
    campaign = json.loads(Path("campaign.json").read_text(encoding="utf-8"))
    log: list[dict[str, Any]] = []
    for task in campaign["data"]:
        for number, item in enumerate(task):
            judged = [
                {s: {"score": 70, "error_spans": spans} for s, spans in one["error_spans"].items()} for one in item
            ]
            log.append({"user_id": "cleo", "item_i": number, "item": item, "annotation": judged})
    Path("annotations.json").write_text(json.dumps({campaign["campaign_id"]: log}), encoding="utf-8")


def annotate_in_doccano() -> None:
    """One person removes the first label of each segment."""
    lines = [json.loads(line) for line in Path("all.jsonl").read_text(encoding="utf-8").splitlines()]
    exported = [{"id": i, **one, "label": one["label"][1:], "Comments": []} for i, one in enumerate(lines)]
    Path("ann.jsonl").write_text("".join(json.dumps(one) + "\n" for one in exported), encoding="utf-8")


def test_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_model_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    text = (ROOT / "docs" / "correct.md").read_text(encoding="utf-8")
    lines = [line for block in re.findall(r"```bash\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    reported: dict[str, str] = {}
    for line in lines:
        words = shlex.split(line)[1:]
        if "export.json" in words:
            annotate_in_label_studio()
        if "annotations.json" in words:
            annotate_in_pearmut()
        if "ann.jsonl" in words:
            annotate_in_doccano()
        capsys.readouterr()
        assert main([*words, *(["--model", str(tiny_model_dir)] if words[0] == "tag" else [])]) == 0, line
        reported[words[1]] = capsys.readouterr().err
    given = list(jsonl.read("given.jsonl"))
    n_spans = sum(len(rating.errors or ()) for rating in given)
    n_marked = sum(bool(rating.errors) for rating in given)
    assert n_marked > 2
    assert f"of {2 * n_spans:,} marks: {2 * n_spans - n_marked:,} kept, 0 changed" in reported["export.json"]
    assert f"of {n_spans:,} marks: {n_spans:,} kept, 0 changed" in reported["annotations.json"]
    assert f"of {n_spans:,} marks: {n_spans - n_marked:,} kept, 0 changed" in reported["ann.jsonl"]
    assert {rating.rater for rating in jsonl.read("corrected-doccano.jsonl")} == {"ann"}
    assert {rating.rater for rating in jsonl.read("corrected.jsonl")} == {"ann@example.org", "bob@example.org"}

"""docs/compare.md keeps its word: its keys are those that are written, its options exist, its examples run."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from matese.annotation import Rating, Segment, SegmentKey
from matese.cli import main
from matese.formats import jsonl
from tests.evaluation.material import major, minor
from tests.test_evaluation_docs import expand, leaves

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
COMPARE = (DOCS / "compare.md").read_text(encoding="utf-8")


def documented() -> set[str]:
    cells = re.findall(r"^\| (`.*?) \|", COMPARE.split("## Keys of")[1].split("\n## ")[0], re.MULTILINE)
    return {key for cell in cells for name in re.findall(r"`([^`]+)`", cell) for key in expand(name)}


def test_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for system, errors in (("A", (minor(0, 3),)), ("B", (major(4, 8),))):
        ratings = [Rating(Segment("Das Haus", key=SegmentKey(system=system, index=i)), "m", errors) for i in range(3)]
        Path(f"{system}.jsonl").write_text("".join(f"{jsonl.dumps(one)}\n" for one in ratings), encoding="utf-8")
    assert main(["compare", "A.jsonl", "B.jsonl", "--bootstrap", "10", "--json", "f.json"]) == 0
    found: dict[str, Any] = json.loads(Path("f.json").read_text(encoding="utf-8"))
    found["systems"] = {"NAME": found["systems"]["B"]}
    found["versus"] = {"NAME": found["versus"]["B"]}
    assert {key for key in leaves(found) if not key.endswith("_interval")} == documented()
    described = next(line for line in COMPARE.splitlines() if line.startswith("| `differences` |"))
    assert set(found["differences"][0]) == set(re.findall(r"`(\w+)`", described)) - {"differences"}


@pytest.mark.parametrize(
    "page", ["compare", "serve", "tutorial-engineer", "tutorial-researcher", "tutorial-annotation", "checks", "tools"]
)
def test_options_and_links_exist(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    helps = ""
    for command in (
        "tag",
        "report",
        "compare",
        "gate",
        "evaluate",
        "agreement",
        "correlate",
        "train",
        "convert",
        "serve",
    ):
        assert main([command, "--help"]) == 0
        helps += capsys.readouterr().out
    assert [option for option in set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", text)) if option not in helps] == []
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)", text)
    assert [link for link in links if not (DOCS / link).exists()] == []


def test_tutorial_of_the_engineer_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_model_dir: Path) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    text = (DOCS / "tutorial-engineer.md").read_text(encoding="utf-8")
    lines = [line for block in re.findall(r"```bash\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    assert len(lines) == 7
    for line in lines:
        words = shlex.split(line)[1:]
        model = ["--model", str(tiny_model_dir)] if words[0] == "tag" else []
        # The model of the tests has random weights, so that the gate may say no.
        assert main([*words, *model]) in ((0, 1) if words[0] == "gate" else (0,)), line
    assert {"compare.html", "report.html"} <= {path.name for path in tmp_path.iterdir()}


def test_navigation_names_every_page() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    navigation = yaml.safe_load(text)["nav"]

    def pages(entry: Any) -> list[str]:
        if isinstance(entry, str):
            return [entry]
        return [page for one in (entry.values() if isinstance(entry, dict) else entry) for page in pages(one)]

    assert sorted(pages(navigation)) == sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


def test_workflow_gives_options_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    workflow = yaml.safe_load((ROOT / "examples" / "gate.yml").read_text(encoding="utf-8"))
    script = "\n".join(step.get("run", "") for step in workflow["jobs"]["gate"]["steps"])
    commands = re.findall(r"matese (tag|compare|gate) ", script)
    assert commands == ["tag", "compare", "gate"]
    helps = ""
    for command in commands:
        main([command, "--help"])
        helps += capsys.readouterr().out
    matese_lines = script[script.index("for system") :]
    assert set(re.findall(r"--[a-z][a-z0-9-]+", matese_lines)) <= set(re.findall(r"--[a-z][a-z0-9-]+", helps))

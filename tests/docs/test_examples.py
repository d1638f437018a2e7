"""The examples: aligned texts in which there is something to see, and a script that runs."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import pytest

import matese
from matese.files import read_lines

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TEXTS = ("src.txt", "ref.txt", "mt.txt", "mt-edited.txt")


@pytest.mark.parametrize("name", TEXTS)
def test_texts_are_clean_lines(name: str) -> None:
    data = (EXAMPLES / name).read_bytes()
    assert data[-1:] == b"\n"
    assert b"\r" not in data
    lines = list(read_lines(EXAMPLES / name))
    assert len(lines) == 20
    assert all(line and line == line.strip() for line in lines)


def test_translations_have_errors_to_find_and_fewer_after_the_edit() -> None:
    reference, raw, edited = (list(read_lines(EXAMPLES / name)) for name in TEXTS[1:])
    n_raw, n_edited = (
        sum(ours != theirs for ours, theirs in zip(lines, reference, strict=True)) for lines in (raw, edited)
    )
    assert n_edited < n_raw < len(reference), "some lines are right"
    assert sum(ours != theirs for ours, theirs in zip(raw, edited, strict=True)) > 10


def test_python_script_shows_the_worst_segments(
    tiny_model_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["python_api.py", str(tiny_model_dir)])
    runpy.run_path(str(EXAMPLES / "python_api.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    hypotheses, references = (list(read_lines(EXAMPLES / name)) for name in ("mt.txt", "ref.txt"))
    ratings = matese.load(tiny_model_dir).annotate(hypotheses, references=references)
    worst = sorted(ratings, key=matese.score)[:5]
    shown = [line.split(maxsplit=1) for line in lines[:-1] if not line.startswith(" " * 7)]
    assert shown == [[f"{matese.score(rating):g}", rating.segment.hypothesis] for rating in worst]
    assert any(line.strip().startswith(("minor: '", "major: '")) for line in lines)
    assert lines[-1].endswith("  the mean of all 20 segments")


def test_notebook_runs_and_was_executed_with_the_embedded_model(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook = json.loads((EXAMPLES / "compare.ipynb").read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    streams = {(one["output_type"], one["name"]) for cell in cells for one in cell["outputs"]}
    assert streams == {("stream", "stdout"), ("stream", "stderr")}, "notices of what the model hardly finds"
    monkeypatch.chdir(EXAMPLES)
    names: dict[str, object] = {}
    printed = []
    for cell in cells:
        exec("".join(cell["source"]), names)
        printed.append(capsys.readouterr().out)
    # The signature: figures may differ in their last digits from machine to machine.
    assert "".join(cells[0]["outputs"][0]["text"]) == printed[0], (
        "make docs-figures runs it with the model that is there"
    )
    assert all(printed)

"""`matese export`: what it refuses, and a model that goes from it to `matese tag`."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.cli.conftest import Run

FILES = ("--hyp", "mt.txt", "--ref", "ref.txt", "--format", "jsonl")


def test_what_it_refuses(run: Run, folder: Path, tiny_model_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (
        run("export", "maxi", "--output", "out")
        .refused()
        .startswith("no model maxi: no such directory; use an embedded model")
    )
    assert (
        run("export", "{tiny}", "--onnx", "--output", "mt.txt")
        .refused()
        .endswith("give a new or empty directory, or one of a model")
    )
    assert run("export", "{tiny}", "--output", "out").refused().endswith("give --onnx to write it for ONNX Runtime")
    assert run("export", "{tiny}", "--output", "{tiny}").refused().endswith("choose another directory")

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert (
        "matese export --onnx needs onnx; install it" in run("export", "{tiny}", "--onnx", "--output", "out").refused()
    )
    assert not (folder / "out").exists()


def test_an_exported_model_tags(run: Run) -> None:
    pytest.importorskip("onnxruntime", reason="pip install 'matese[onnx]'")
    ran = run("export", "{tiny}", "--onnx", "--output", "out")
    assert (ran.code, ran.out) == (0, "model\tout\n")
    ran = run("tag", "--model", "out", *FILES)
    assert ran.code == 0
    assert ran.out.count("\n") == 3
    assert "|model:out@" in ran.out

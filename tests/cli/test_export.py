"""What `matese export` refuses."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run


def test_what_it_refuses(run: Run, folder: Path) -> None:
    assert run("export", "maxi", "--output", "out").refused().startswith("no model maxi: no such directory")
    assert "mt.txt" in run("export", "{tiny}", "--output", "mt.txt").refused()
    assert "is a model of matese already" in run("export", "{tiny}", "--output", "out").refused()
    assert run("export", "{tiny}", "--output", "{tiny}").refused().endswith("choose another directory")
    assert not (folder / "out").exists()

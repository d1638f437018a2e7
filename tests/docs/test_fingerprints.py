"""Figures of the embedded model are of the weights in the package, and say so."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from benchmarks import card
from tests.markdown import ROOT

CARD = ROOT / "matese" / "models" / "mini" / "README.md"
README = ROOT / "README.md"
PAGES = sorted((ROOT / "docs").rglob("*.md"))
EARLIER = {"mini@c3611808", "mini@0f8912f3", "mini@54164eed"}
"""Weights that pages compare with; these pages say so."""
RESULTS = sorted(card.RESULTS.glob("*-mini.json"))
AGAIN = "measure again, then: python -m benchmarks.card"


def fingerprints(path: Path) -> set[str]:
    return set(re.findall(r"mini@[0-9a-f]{8}", path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", [CARD, README], ids=lambda path: path.name)
def test_a_page_with_figures_names_the_weights(page: Path) -> None:
    assert fingerprints(page) - EARLIER == {card.embedded()}, AGAIN


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_no_page_names_other_weights(page: Path) -> None:
    named = fingerprints(page)
    assert named <= {card.embedded(), *EARLIER}, AGAIN
    assert not named & EARLIER or "(earlier weights)" in page.read_text(encoding="utf-8"), AGAIN


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.name)
def test_results_are_of_these_weights(path: Path) -> None:
    assert json.loads(path.read_text(encoding="utf-8"))["model"] == card.embedded(), AGAIN


def test_tables_are_those_of_the_results(tmp_path: Path) -> None:
    model_card = tmp_path / "card.md"
    readme = tmp_path / "readme.md"
    shutil.copy(CARD, model_card)
    shutil.copy(README, readme)
    shutil.copy(CARD.with_name("recall.json"), tmp_path / "recall.json")
    card.write(model_card, readme)
    assert [copy.read_text(encoding="utf-8") for copy in (model_card, readme)] == [
        path.read_text(encoding="utf-8") for path in (CARD, README)
    ], AGAIN


def test_figures_of_other_weights_are_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in card.NAMES:
        (tmp_path / f"{name}-mini.json").write_text('{"model": "mini@00000000"}', encoding="utf-8")
    monkeypatch.setattr(card, "RESULTS", tmp_path)
    with pytest.raises(ValueError, match="of quality, contrast, sanity, demetr, held-out are not of"):
        card.write(CARD, README)

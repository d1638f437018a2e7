"""Every part of every signature is explained."""

from __future__ import annotations

from pathlib import Path

import pytest

import matese
from matese.annotation import Segment
from matese.checks import checker
from tests.markdown import ROOT

TEXT = Segment("Das Haus.", "The house.", ("Das Haus.",))


def parts(tmp_path: Path) -> dict[str, str]:
    annotator = matese.load("mini", n_segments=1)
    language_model = matese.LanguageModel("tiny", prompt="esa", judgements=3, cache_directory=tmp_path)
    checked = checker.check(TEXT)
    return {
        "docs/mark.md": "|".join((annotator.signature("reference"), str(checked.rater))),
        "docs/models.md": language_model.signature(TEXT),
    }


@pytest.mark.parametrize("page", ["docs/mark.md", "docs/models.md"])
def test_parts_are_explained(page: str, tmp_path: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    names = {part.partition(":")[0] for part in parts(tmp_path)[page].split("|")} - {"matese"}
    assert len(names) > 6
    assert {name for name in names if f"`{name}:" not in text and f"`{name}`" not in text} == set()

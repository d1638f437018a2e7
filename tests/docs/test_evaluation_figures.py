"""The figures of docs/research/evaluation.md are those that its commands print. Needs the raw ratings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import matese
from tests.markdown import ROOT

PAGE = ROOT / "docs" / "research" / "evaluation.md"
DATA = Path(os.environ.get("MATESE_DATA", "")) / "mqm"


@pytest.mark.skipif("MATESE_DATA" not in os.environ, reason="needs the raw files")
@pytest.mark.parametrize(("column", "name"), [(1, "mqm_newstest2020_ende.tsv.gz"), (2, "mqm_newstest2020_zhen.tsv.gz")])
def test_agreement_of_raters(column: int, name: str) -> None:
    lines = PAGE.read_text(encoding="utf-8").partition("| Pooled figure |")[2].splitlines()[2:9]
    cells = [line.strip("|").split("|")[column].strip() for line in lines]
    found = matese.agreement(DATA / name)
    pairs = [figures["mpp.micro.f1"].value for figures in found.pairs.values()]
    pooled = {key: f"{figure.value:.3f}" for key, figure in found.pooled.items()}
    assert cells == [
        f"{pooled['mpp.micro.f1']} ({min(pairs):.3f} to {max(pairs):.3f})",
        pooled["em.micro.f1"],
        pooled["char_wmt25.f1"],
        pooled["hsh"],
        pooled["severity.agreement"],
        f"{pooled['score.pearson']}, {pooled['score.kendall']}",
        f"{found.alpha['alpha.severity'].value:.3f}",
    ]

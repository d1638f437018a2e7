from __future__ import annotations

import collections
import io
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from data_prep import check_wmt19
from data_prep.store import Store
from matese.errors import FormatError

ROWS = "LP SYSTEM HUMAN LP ESIM\nde-en A 1 3 1\nde-en B 2 2 2\nde-en C 3 1 3.5\nde-en D 4 0 4\n"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    folder = tmp_path / check_wmt19.FOLDER / "data" / "wmt19_sys_scores"
    folder.mkdir(parents=True)
    (folder / "DA-newstest2019-deen-sys-nohy-scores.csv").write_text(ROWS)
    return Store(tmp_path)


def shown(store: Store, cells: str) -> tuple[bool, str]:
    path = store.root / "cells.tsv"
    path.write_text(cells)
    console = Console(file=io.StringIO(), width=120)
    is_right = check_wmt19.check(store, console, path)
    assert isinstance(console.file, io.StringIO)
    return is_right, console.file.getvalue()


def test_equal_cells_and_negative_correlations_are_counted(store: Store) -> None:
    is_right, text = shown(store, "Table 3\tde-en\nLP\t1.000\nTable 4\tde-en\nESIM\t0.984\n")
    assert not is_right  # LP beats ESIM, in one language pair and not 16
    rows = [
        [cell.strip() for cell in line.split("│")[1:-1]] for line in text.splitlines() if line.startswith("│ Table")
    ]
    assert rows == [["Table 3", "1", "1", "1"], ["Table 4", "1", "1", "0"]]
    assert "in 0 of 1 language pairs; published: 11 of 16." in text


def test_different_cells_are_listed(store: Store) -> None:
    is_right, text = shown(store, "Table 3\tde-en\nLP\t0.999\nBLEU\t0.5\n")
    assert not is_right
    assert "Table 3 LP de-en: -1.000, published 0.999" in text
    assert "Table 3 BLEU de-en: nan, published 0.5" in text


@pytest.mark.parametrize("row", ["de-en E 5 1", "de-en E 5 x 1"])
def test_scores_that_cannot_be_read(store: Store, row: str) -> None:
    path = next(store.root.rglob("*.csv"))
    path.write_text(f"{ROWS}{row}\n")
    with pytest.raises(FormatError, match=r"scores.csv:6: row must be a language pair, a system and 3 scores"):
        check_wmt19.read_scores(store, ["de-en"])


def test_unbeaten_whatever_the_direction() -> None:
    human = np.arange(12.0)
    turns = (-1.0) ** np.arange(12)
    scores = {check_wmt19.HUMAN: human, "good": -human + 0.1 * turns, "noisy": human + 3 * turns}
    assert check_wmt19.is_unbeaten(scores, "good")
    assert not check_wmt19.is_unbeaten(scores, "noisy")


def test_the_committed_cells() -> None:
    cells = check_wmt19.read_cells(check_wmt19.CELLS)
    assert len(cells) == 404
    assert collections.Counter(table for table, _, _ in cells) == {"Table 3": 182, "Table 4": 161, "Table 5": 61}

from __future__ import annotations

import collections
import io
from pathlib import Path

import pytest
from rich.console import Console

from data_prep import check_wmt19
from data_prep.check_wmt19 import SystemScores
from data_prep.store import Store
from matese.formats import FormatError

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


def test_signs_are_shown_and_own_output_is_called_so(store: Store) -> None:
    is_right, text = shown(store, "Table 3 recalled\tde-en\nLP\t1.000\nTable 4 computed\tde-en\nESIM\t0.984\n")
    assert not is_right  # ESIM is beaten by LP, turned, and has one language pair and not 16
    rows = [
        [cell.strip() for cell in line.split("│")[1:-1]] for line in text.splitlines() if line.startswith("│ Table")
    ]
    assert rows == [
        ["Table 3", "values from memory", "1", "1", "1"],
        ["Table 4", "our own earlier output", "1", "1", "0"],
    ]
    assert "Cells compared with our own earlier output are no check against the paper." in text
    assert "in 0 of 1 language pairs; published: 11 of 16." in text


def test_another_digit_is_told(store: Store) -> None:
    is_right, text = shown(store, "Table 3 printed\tde-en\nLP\t0.999\nBLEU\t0.5\n")
    assert not is_right
    assert "Table 3 LP de-en: -1.000, printed 0.999" in text
    assert "Table 3 BLEU de-en: nan, printed 0.5" in text
    assert "earlier output" not in text


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("Table 3 guessed\tde-en\n", "cells.tsv:1: origin 'guessed': must be one of printed, recalled, computed"),
        ("Table 3 printed\tde-en\nBLEU\t0.1\t0.2\n", "cells.tsv:2: 2 cells: must be 1, one a language pair"),
    ],
)
def test_cells_that_cannot_be_read(store: Store, cells: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        shown(store, cells)


@pytest.mark.parametrize("row", ["de-en E 5 1", "de-en E 5 x 1"])
def test_scores_that_cannot_be_read(store: Store, row: str) -> None:
    path = next(store.root.rglob("*.csv"))
    path.write_text(f"{ROWS}{row}\n")
    with pytest.raises(FormatError, match=r"scores.csv:6: must be a language pair, a system and 3 scores"):
        check_wmt19.read_scores(store, ["de-en"])


def test_unbeaten_whatever_the_direction() -> None:
    human = tuple(float(n) for n in range(12))
    noisy = tuple(n + 3 * (-1) ** int(n) for n in human)
    scores = SystemScores(human, {"good": tuple(-n + 0.1 * (-1) ** int(n) for n in human), "noisy": noisy})
    assert check_wmt19.is_unbeaten(scores, "good")
    assert not check_wmt19.is_unbeaten(scores, "noisy")


def test_the_committed_cells() -> None:
    cells = check_wmt19.read_cells(check_wmt19.CELLS)
    assert len(cells) == 404
    # Whoever has compared the last 34 with the page changes this.
    assert collections.Counter((cell.table, cell.origin) for cell in cells) == {
        ("Table 3", "recalled"): 182,
        ("Table 4", "recalled"): 155,
        ("Table 4", "computed"): 6,
        ("Table 5", "recalled"): 33,
        ("Table 5", "computed"): 28,
    }

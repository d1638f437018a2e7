from __future__ import annotations

import io
import shutil
from pathlib import Path

import pytest
from rich.console import Console

from data_prep import splits
from data_prep.check import check, keep_first_texts
from data_prep.prepare import Options, prepare
from data_prep.store import Store
from tests.data_prep.raw_files import RAW

SCORES = "mqm/mqm_newstest2020_ende.avg_seg_scores.tsv"


@pytest.fixture
def copy(raw: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(raw, tmp_path / "raw"))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> splits.HeldOut:
    output = tmp_path_factory.mktemp("drawn")
    prepare(Options(data=RAW, output=output, n_splits=1), lambda _: None)
    return splits.read_held_out(output / "split-1" / "held_out_sources.txt")


def run(raw: Path, held_out: splits.HeldOut) -> tuple[bool, str]:
    console = Console(file=io.StringIO(), width=120)
    is_right = check(Store(raw), held_out, console, lambda _: None)
    assert isinstance(console.file, io.StringIO)
    return is_right, console.file.getvalue()


def test_all_agrees(raw: Path, drawn: splits.HeldOut) -> None:
    is_right, shown = run(raw, drawn)
    assert is_right
    assert [line.split() for line in shown.splitlines() if "ted2021 en-de" in line] == [
        ["│", "ted2021", "en-de", "│", "4", "│", "0", "│", "0", "│", "0", "│"]
    ]
    # The repetition is the first text of its segment, so that the rows of its other raters are left out.
    rows = {
        tuple(line.split()[1:4:2]): line.split()[5::2]
        for line in shown.splitlines()
        if line.startswith(("│ en-de", "│ en-ru"))
    }
    assert rows["en-de", "Major"] == ["8,516", "8", "-99.9%", "8", "-99.9%"]
    assert rows["en-de", "Minor"] == ["32,667", "5", "-100.0%", "6", "-100.0%"]
    # With the 3 taken off its end the one Minor span is empty.
    assert rows["en-ru", "Minor"] == ["614", "1", "-99.8%", "0", "-100.0%"]
    assert "raters edited the text they marked" in shown
    assert f"The committed list of {len(drawn.hashes)} held-out texts equals the default draw." in shown


def test_another_list_fails(raw: Path, drawn: splits.HeldOut) -> None:
    is_right, shown = run(raw, splits.HeldOut(frozenset(sorted(drawn.hashes)[1:])))
    assert not is_right
    assert "held-out texts DIFFERS FROM the default draw" in shown


def test_a_score_that_differs_in_a_digit_fails(copy: Path, drawn: splits.HeldOut) -> None:
    path = copy / SCORES
    path.write_text(path.read_text().replace("-1.666667", "-1.666666"))
    is_right, shown = run(copy, drawn)
    assert not is_right
    assert "newstest2020 en-de Alpha.1 1: -1.666667, official score -1.666666" in shown


def test_segments_that_one_side_lacks_are_counted(copy: Path, drawn: splits.HeldOut) -> None:
    path = copy / SCORES
    lines = [line for line in path.read_text().splitlines() if not line.endswith(" 3")]
    path.write_text("\n".join([*lines, "Beta.2\t-1.000000 1", "Beta.2\tNone 2"]) + "\n")
    is_right, shown = run(copy, drawn)
    assert is_right
    (row,) = [line.split("│")[2:-1] for line in shown.splitlines() if line.startswith("│ newstest2020 en-de")]
    assert [cell.strip() for cell in row] == ["27", "0", "3", "1"]


def test_rows_of_another_text_are_left_out() -> None:
    def row(system: str, segment: str, target: str) -> str:
        return "\t".join((system, "d", "1", segment, "r", "s", target, "Other", "Minor"))

    rows = [
        row("A", "1", "a <v>b</v>"),
        row("A", "1", "<v>a</v> b"),
        row("A", "1", "a <v>c</v> b"),
        row("B", "1", "a c b"),
    ]
    assert list(keep_first_texts(rows)) == [rows[0], rows[1], rows[3]]

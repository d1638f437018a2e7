from __future__ import annotations

from pathlib import Path

import pytest

from matese.errors import FormatError
from matese.formats.corpora import relative_ranks
from matese.formats.corpora.relative_ranks import RankedPair
from tests.formats.one_rating import put


@pytest.mark.parametrize(
    ("lines", "pair"),
    [
        (("LP DATA SID BETTER WORSE", "de-en newstest2019 3 A.1 B.2"), RankedPair(None, 2, "A.1", "B.2")),
        (("LP SID BETTER WORSE", "de-en 3 A.1 B.2"), RankedPair(None, 2, "A.1", "B.2")),
        (("LP SID BETTER WORSE", "de-en newstest2018 3 A.1 B.2"), RankedPair(None, 2, "A.1", "B.2")),
        (("LP DATA SID BETTER WORSE", "de-en newstest2020 news.1::3 A B 25.1"), RankedPair("news.1", 2, "A", "B")),
    ],
)
def test_every_year_has_its_fields(tmp_path: Path, lines: tuple[str, ...], pair: RankedPair) -> None:
    path = put(tmp_path / "RR-seglevel.csv", "\n".join(lines) + "\n")
    assert relative_ranks.holds_ranks(path)
    (ranks,) = relative_ranks.read(path, least_difference=25)
    assert (ranks.lang_pair, ranks.pairs, ranks.n_close) == ("de-en", (pair,), 0)


def test_close_pairs_are_counted(tmp_path: Path) -> None:
    rows = "de-en t d::1 A B 25\nde-en t d::1 C B 30\nzh-en t d::2 A B 40\n"
    path = put(tmp_path / "DArr-seglevel.csv", f"LP DATA SID BETTER WORSE\n{rows}")
    by_pair = relative_ranks.read(path, least_difference=25)
    assert [(ranks.lang_pair, len(ranks.pairs), ranks.n_close) for ranks in by_pair] == [
        ("de-en", 1, 1),
        ("zh-en", 1, 0),
    ]


def test_verdicts_of_metrics(tmp_path: Path) -> None:
    path = put(tmp_path / "agree.csv", "SID BETTER WORSE BEER chrF\n1 A B 1 0\n2 B A 0 0\n")
    assert relative_ranks.holds_verdicts(path)
    (ranks,) = relative_ranks.read(path, least_difference=25)
    assert ranks.verdicts == {"BEER": (True, False), "chrF": (False, False)}


@pytest.mark.parametrize(
    ("header", "row", "line"),
    [
        ("LP SID BETTER WORSE", "de-en 0 A B", 2),
        ("LP SID BETTER WORSE", "de-en x A B", 2),
        ("LP SID BETTER WORSE", "de-en 1 A A", 2),
        ("LP SID BETTER WORSE", "1 A B", 2),
        ("LP SID BETTER WORSE", "de-en 1 A B\nde-en 1 A B", 3),
        ("LP DATA SID BETTER WORSE", "de-en t 1 A B far", 2),
        ("LP DATA SID BETTER WORSE", "de-en t 1 A B 30 40", 2),
        ("SID BETTER WORSE BEER", "1 A B 0.5", 2),
        ("SID BETTER WORSE BEER", "1 A B", 2),
        ("SID BETTER WORSE BEER BEER", "1 A B 1 1", 1),
    ],
)
def test_bad_lines(tmp_path: Path, header: str, row: str, line: int) -> None:
    path = put(tmp_path / "ranks.csv", f"{header}\n{row}\n")
    with pytest.raises(FormatError, match=rf"ranks.csv:{line}: "):
        relative_ranks.read(path, least_difference=25)


def test_other_files_hold_no_ranks(tmp_path: Path) -> None:
    for text in ("", "A 1\n", "system,score\nA,1\n", "BETTER WORSE\n"):
        assert not relative_ranks.holds_ranks(put(tmp_path / "other", text))
    assert not relative_ranks.holds_ranks(tmp_path / "none")

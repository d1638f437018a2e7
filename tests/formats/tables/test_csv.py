"""A CSV that comes back is written as the one that came in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from matese import ErrorSpan, Severity
from matese.cli import main
from matese.formats import detection, writing
from matese.formats.format import WriteOptions
from matese.formats.tables import csv_table
from tests.formats import reading
from tests.formats.one_rating import put


@pytest.mark.parametrize(
    ("text", "header"),
    [
        (
            "\ufeffid;Source Text;MT;Ref\n1;The cat;Die Katze;Eine Katze\n",
            '\ufeff"index";"system";"MT";"Source Text";"Ref"',
        ),
        ("note,mt\nx,Die Katze\n", '"index","system","mt","source","references"'),
        ("mt;ref1;ref2\nDie Katze;a;b\n", '"index";"system";"mt";"source";"references"'),
        ("source\thypothesis\nThe cat\tDie Katze\n", '"index"\t"system"\t"hypothesis"\t"source"\t"references"'),
    ],
)
def test_separator_mark_and_headings_are_kept(tmp_path: Path, text: str, header: str) -> None:
    (tmp_path / "in.csv").write_text(text, encoding="utf-8")
    (rating,) = detection.read(tmp_path / "in.csv")
    rated = replace(rating, rater="m", errors=(ErrorSpan(4, 9, Severity.MINOR),))
    options = WriteOptions(table=csv_table.style_of(tmp_path / "in.csv", {}))
    writing.write([rated], tmp_path / "out.csv", "csv", options)
    assert (tmp_path / "out.csv").read_text(encoding="utf-8").startswith(header)
    assert list(detection.read(tmp_path / "out.csv")) == [rated]


def test_the_command_keeps_them(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("\ufeffsrc;mt;who\nThe cat;Die Katze;anna\n", encoding="utf-8")
    assert main(["tag", "--input", str(tmp_path / "in.csv"), "--output", str(tmp_path / "out.csv")]) in (0, None)
    assert (tmp_path / "out.csv").read_text(encoding="utf-8").startswith('\ufeff"index";"system";"mt";"src";')


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "parquet"])
def test_a_comment_that_the_first_text_lacks(tmp_path: Path, ending: str) -> None:
    note = '# [matese] "ann"\n'
    first = f'{note}msgid "One"\nmsgstr "Eins"\n'
    second = f'{note}# Minor error: »Zwo«\n# Comment: Zwei?\nmsgid "Two"\nmsgstr "Zwo"\n'
    (tmp_path / "in.po").write_text(f"{first}\n{second}", encoding="utf-8")
    path = tmp_path / f"out.{ending}"
    assert main(["convert", str(tmp_path / "in.po"), str(path)]) in (0, None)
    back = list(detection.read(path))
    assert [(rating.segment.extra or {}).get("comment") or None for rating in back] == [None, "Zwei?"]


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("src;mt\r\n;\r\nA;Ein\r\n\r\n;\r\nB;Zwei\r\n;\r\n;\r\n", [2, 4, 5]),
        ("src\tmt\nA\tEin\n\nB\tZwei\n\t\n", [3]),
        ("src,mt\nA,Ein\nB,Zwei\n,\n", []),
    ],
)
def test_empty_rows_as_spreadsheets_write_them(tmp_path: Path, text: str, notes: list[int]) -> None:
    ratings, issues = reading.read(put(tmp_path / "in.csv", text))
    assert [rating.segment.hypothesis for rating in ratings] == ["Ein", "Zwei"]
    assert issues == [f"{line}: skipped, empty row" for line in notes]


def test_a_score_of_another_program_is_kept(tmp_path: Path) -> None:
    path = put(tmp_path / "in.csv", "mt,score,expected_score,errors\na,87,,[]\nb,-5.0,0.5,[]\nc,good,,[]\n")
    extra = [rating.segment.extra for rating in detection.read(path)]
    assert extra == [{"score": 87.0}, {"expected_score": 0.5}, {"score": "good"}]

"""What the options of `prepare` choose; what it makes of all raw files is in `golden.txt`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from data_prep import __main__ as cli
from data_prep.prepare import Options, prepare
from matese.annotation import Rating
from matese.formats.tables import jsonl

NEWS = ("--test-sets", "newstest2020", "--lang-pairs", "en-de")


def run(raw: Path, output: Path, *arguments: str) -> int:
    return cli.main(["prepare", "--data", str(raw), "--output", str(output), *arguments])


def read(folder: Path, *names: str) -> list[Rating]:
    return [rating for name in names or ("train", "dev") for rating in jsonl.read(folder / f"{name}.jsonl")]


def marks(rating: Rating) -> list[tuple[str, str]]:
    return [
        (rating.segment.hypothesis[error.start : error.end], error.severity.value if error.severity else "")
        for error in rating.errors or ()
    ]


def test_a_part_of_the_data_and_its_report(raw: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(raw, tmp_path / "part", "--test-sets", "newstest2020", "ted2021", "--lang-pairs", "zh-en") == 0
    assert sorted(os.listdir(tmp_path / "part")) == ["dev.jsonl", "held_out_sources.txt", "report.json", "train.jsonl"]
    keys = {rating.segment.key for rating in read(tmp_path / "part", "train")}
    assert {(key.test_set, key.lang_pair) for key in keys if key} == {("newstest2020", "zh-en"), ("ted2021", "zh-en")}
    capsys.readouterr()
    assert run(raw, tmp_path / "new" / "out", "--test-sets", "wmt22-dev") == 0
    shown = [[cell.strip() for cell in line.split("│")[1:-1]] for line in capsys.readouterr().out.splitlines()]
    assert ["wmt22-dev.jsonl", "3", "0", "1", "0"] in shown
    assert ["wmt22-dev en-de", "2", "0", "1", "0"] in shown
    assert ["wmt22-dev en-de", "skipped", "10 fields instead of 9", "1"] in shown


def test_several_splits_hold_out_alike_whatever_is_written(raw: Path, tmp_path: Path) -> None:
    assert run(raw, tmp_path / "all", "--splits", "3", "--seed", "4") == 0
    assert run(raw, tmp_path / "part", "--splits", "3", "--seed", "4", "--lang-pairs", "en-de") == 0
    lists = [(tmp_path / "all" / f"split-{i}" / "held_out_sources.txt").read_text() for i in (1, 2, 3)]
    assert len(set(lists)) > 1
    for i, text in enumerate(lists, start=1):
        folder = tmp_path / "part" / f"split-{i}"
        assert (folder / "held_out_sources.txt").read_text() == text
        # One of the ten sources of newstest2020 en-de, with its machine and its two human translations.
        assert len(read(folder, "dev")) == 3
    assert sorted(os.listdir(tmp_path / "all"))[-2:] == ["wmt22-dev.jsonl", "wmt22-test.jsonl"]


RATERS = {
    "rater1": [("Katze schlafen", "minor")],
    "rater2": [("schlafen", "major"), ("auf", "minor")],
    "rater3": [("Dach", "major")],
}


@pytest.mark.parametrize(
    ("merge", "expected", "n"),
    [("majority", {"rater1+rater2+rater3": [("schlafen", "major")]}, 30), ("none", RATERS, 30 * 3)],
)
def test_merging(raw: Path, tmp_path: Path, merge: str, expected: object, n: int) -> None:
    assert run(raw, tmp_path / "out", *NEWS, "--merge", merge) == 0
    ratings = read(tmp_path / "out")
    keys = [rating.segment.key for rating in ratings]
    first = [
        rating for rating, key in zip(ratings, keys, strict=True) if key and (key.system, key.index) == ("Alpha.1", 0)
    ]
    assert {rating.rater: marks(rating) for rating in first} == expected
    assert len(ratings) == n


def test_the_seed_of_one_segment_does_not_depend_on_the_others(raw: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut"
    lines = (raw / "mqm" / "mqm_newstest2020_ende.tsv").read_text().splitlines(keepends=True)
    (cut / "mqm").mkdir(parents=True)
    (cut / "mqm" / "mqm_newstest2020_ende.tsv").write_text("".join([lines[0], *lines[1:5][::-1], *lines[8:]]))
    assert run(raw, tmp_path / "all", *NEWS) == 0
    assert run(cut, tmp_path / "some", *NEWS) == 0
    whole, some = (
        {rating.segment.key: rating.errors for rating in read(tmp_path / folder)} for folder in ("all", "some")
    )
    assert len(some) < len(whole)
    assert some.items() <= whole.items()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--lang-pairs", "en-fr"], "en-fr"),
        (["--test-sets", "wmt23"], "wmt23"),
        (["--test-sets", "wmt22-dev", "--lang-pairs", "zh-en"], "select no data set"),
        (["--splits", "0"], "--splits 0"),
        (["--data", "nowhere"], "nowhere"),
        (["--held-out", "nowhere.txt"], "nowhere.txt"),
        (["--output", __file__], "File exists"),
    ],
)
def test_what_cannot_be_prepared(
    raw: Path, tmp_path: Path, arguments: Sequence[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(raw, tmp_path / "out", *arguments) == 2
    said = capsys.readouterr()
    assert said.err.startswith("data_prep prepare: ")
    assert told in said.err
    assert (said.err.count("\n"), said.out) == (1, "")
    assert not list(tmp_path.glob("out/*"))


def test_the_folder_of_the_raw_files(
    raw: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["prepare", "--output", str(tmp_path / "out"), "--test-sets", "wmt22-test"]
    monkeypatch.delenv("MATESE_DATA", raising=False)
    for command in (arguments, ["check"]):
        assert cli.main(command) == 2
        assert "MATESE_DATA is not set" in capsys.readouterr().err
    monkeypatch.setenv("MATESE_DATA", str(raw))
    assert cli.main(arguments) == 0
    assert sorted(os.listdir(tmp_path / "out")) == ["held_out_sources.txt", "report.json", "wmt22-test.jsonl"]


@pytest.mark.parametrize("arguments", [[], ["fetch"], ["prepare"], ["prepare", "--output", "x", "--merge", "most"]])
def test_bad_arguments_are_told_in_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    assert stop.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_failure_leaves_what_was_there(raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wmt22-test.jsonl").write_text("before")

    def fail(_: Rating) -> str:
        raise OSError(28, "No space left on device", "wmt22-test.jsonl")

    monkeypatch.setattr(jsonl, "dumps", fail)
    with pytest.raises(OSError, match="No space left on device"):
        prepare(Options(data=raw, output=tmp_path, test_sets=("wmt22-test",)), lambda _: None)
    assert os.listdir(tmp_path) == ["wmt22-test.jsonl"]
    assert (tmp_path / "wmt22-test.jsonl").read_text() == "before"

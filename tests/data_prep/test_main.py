from __future__ import annotations

import os
from pathlib import Path

import pytest

from data_prep import __main__ as cli
from data_prep.prepare import Options, prepare
from matese.annotation import Rating
from matese.formats.tables import jsonl


def run(raw: Path, output: Path, *arguments: str) -> int:
    return cli.main(["prepare", "--data", str(raw), "--output", str(output), *arguments])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--lang-pairs", "en-fr"], "--lang-pairs en-fr: must be en-de, zh-en or en-ru"),
        (["--test-sets", "wmt23"], "--test-sets wmt23: must be newstest2020, newstest2021, ted2021, wmt22-dev"),
        (["--test-sets", "wmt22-dev", "--lang-pairs", "zh-en"], "select no data set; the data sets are newstest2020"),
        (["--splits", "0"], "--splits 0: must be 1 or more"),
        (["--data", "nowhere"], "folder nowhere does not exist; give the folder of the raw files"),
        (["--held-out", "nowhere.txt"], "nowhere.txt: No such file or directory"),
    ],
)
def test_what_cannot_be_prepared(
    raw: Path, tmp_path: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(raw, tmp_path / "out", *arguments) == 2
    said = capsys.readouterr()
    assert said.err.startswith("data_prep prepare: ")
    assert message in said.err
    assert (said.err.count("\n"), said.out) == (1, "")
    assert not list(tmp_path.glob("out/*"))


def test_an_output_without_a_parent_and_a_file_in_its_place(
    raw: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(raw, tmp_path / "data" / "prepared", "--test-sets", "wmt22-test") == 0
    assert (tmp_path / "data" / "prepared" / "wmt22-test.jsonl").exists()
    capsys.readouterr()
    (tmp_path / "file").touch()
    assert run(raw, tmp_path / "file") == 2
    assert "File exists" in capsys.readouterr().err


def test_without_the_data_it_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MATESE_DATA", raising=False)
    for command in (["prepare", "--output", str(tmp_path)], ["check"]):
        assert cli.main(command) == 2
        assert "MATESE_DATA is not set; set it to the folder of the raw files" in capsys.readouterr().err


def test_the_data_are_where_the_variable_says(raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATESE_DATA", str(raw))
    assert cli.main(["prepare", "--output", str(tmp_path / "out"), "--test-sets", "wmt22-test"]) == 0
    assert sorted(os.listdir(tmp_path / "out")) == ["held_out_sources.txt", "report.json", "wmt22-test.jsonl"]


@pytest.mark.parametrize("arguments", [[], ["fetch"], ["prepare"], ["prepare", "--output", "x", "--merge", "most"]])
def test_bad_arguments_are_told_in_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    assert stop.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_failure_leaves_what_was_there(raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = Options(data=raw, output=tmp_path, test_sets=("wmt22-test",))
    (tmp_path / "wmt22-test.jsonl").write_text("before")

    def fail(_: Rating) -> str:
        raise OSError(28, "No space left on device", "wmt22-test.jsonl")

    monkeypatch.setattr(jsonl, "dumps", fail)
    with pytest.raises(OSError, match="No space left on device"):
        prepare(options, lambda _: None)
    assert os.listdir(tmp_path) == ["wmt22-test.jsonl"]
    assert (tmp_path / "wmt22-test.jsonl").read_text() == "before"

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.tasks.material.convert import names, write_files

LOST = "references: 2; names of test sets: 2; language pairs: 2; confidences: 1"


@pytest.fixture(name="spans")
def _spans(folder: Path) -> Path:
    return write_files(folder)


def test_losses_are_told_and_the_file_is_written(run: Run, spans: Path, folder: Path) -> None:
    ran = run("convert", "spans.jsonl", "ted.tsv", "--to", "mqm-tsv")
    assert (ran.code, ran.out, ran.err) == (0, "", f"matese: mqm-tsv: left out or changed: {LOST}\n")
    assert (folder / "ted.tsv").read_text(encoding="utf-8").splitlines()[1:] == [
        "A\ttalk\t1\t1\tr1\tA tree.\tEin 😀 <v>Haus</v>.\tStyle\tMajor",
        "A\ttalk\t1\t1\tr2\tA tree.\tEin 😀 Haus.\tNo-error\tNo-error",
    ]
    printed = run("convert", "spans.jsonl", "-", "--to", "mqm-tsv").out
    assert printed == (folder / "ted.tsv").read_text(encoding="utf-8")
    named = (
        "convert",
        "ted.tsv",
        "-",
        "--to",
        "jsonl",
        "--lang-pair",
        "en-de",
        "--test-set",
        "ted",
        "--as-rater",
        "me",
    )
    back = run(*named, "--rater", "r1")
    assert [json.loads(line)["rater"] for line in back.out.splitlines()] == ["me"]
    # The ratings of two people would be two of one.
    refused = run(*named).refused()
    assert refused.startswith("--as-rater me: ")
    assert "choose one with --rater NAME, or merge them with --merge union" in refused
    first = json.loads(back.out.splitlines()[0])
    assert (first["errors"][0]["text"], first["index"]) == ("Haus", 0)
    counted = run("convert", "ted.tsv", "-", "--to", "jsonl", "--first-segment", "0").out
    assert json.loads(counted.splitlines()[0])["index"] == 1


@pytest.mark.parametrize("place", ["out.tsv", "-"])
def test_strict_makes_a_loss_an_error_and_writes_nothing(run: Run, spans: Path, folder: Path, place: str) -> None:
    problem = run("convert", "spans.jsonl", place, "--to", "mqm-tsv", "--strict").refused()
    assert problem == f"mqm-tsv would leave out or change: {LOST}; --strict allows no loss"
    assert names(folder) == {"spans.jsonl"}
    assert run("convert", "spans.jsonl", "same.csv", "--to", "csv", "--strict").code == 0


def test_what_people_have_made_of_it(run: Run, spans: Path, folder: Path) -> None:
    run("convert", "spans.jsonl", "all.jsonl", "--to", "doccano")
    (folder / "all.jsonl").write_text(
        (folder / "all.jsonl").read_text(encoding="utf-8").replace("7, 11", "4, 11"), encoding="utf-8"
    )
    ran = run("convert", "all.jsonl", "back.jsonl", "--to", "jsonl", "--before", "spans.jsonl")
    assert ran.err == (
        "matese: of 2 marks: 0 kept, 1 changed (1 moved, 0 relabelled), 1 removed; 0 added; 0 of 2 ratings untouched\n"
    )


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["no.jsonl", "out", "--to", "csv"], "no.jsonl: no such file or directory"),
        (["mt.txt", "out", "--to", "csv"], "mt.txt: a text file"),
        (["mt.txt", "out", "--to", "cvs"], "--to: unknown format 'cvs', did you mean 'csv'"),
        (["spans.jsonl", "out", "--to", "csv", "--from", "seg-rating"], "--from: unknown format 'seg-rating'"),
        (["spans.jsonl", "spans.jsonl", "--to", "csv"], "--output spans.jsonl is the input spans.jsonl"),
        (["spans.jsonl", "-", "--to", "word-tags"], "word-tags is a folder"),
        (["spans.jsonl", ".", "--to", "word-tags"], "output . exists: word-tags writes a folder"),
        (["spans.jsonl", "tasks.json", "--to", "label-studio"], "tasks.json: label-studio writes a folder"),
        (["spans.jsonl", ".", "--to", "csv"], "output .: is a directory"),
        (["spans.jsonl", "no/out", "--to", "csv"], "output no/out"),
        (["spans.jsonl", "out.csv", "--as-rater", ""], "--as-rater: ''"),
        (["spans.jsonl", "out.csv", "--as-rater", " "], "--as-rater: ' '"),
        (["spans.jsonl", "out.json", "--template", "app.po"], "out.json is written as json, no copy of a file: leave"),
        (["spans.jsonl", "out.csv", "--corrections-only"], "out.csv is written as csv, no copy of a file: leave"),
        (["spans.jsonl", "out", "--to", "seg-rating"], "segment 1 of system A has two ratings"),
    ],
)
def test_bad_input(run: Run, spans: Path, folder: Path, arguments: list[str], problem: str) -> None:
    assert run("convert", *arguments).refused().startswith(problem)
    assert names(folder) == {"spans.jsonl"}

"""Bad input to `matese calibrate`, and what it prints."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import matese
from matese.annotation import SegmentKey
from tests.cli.conftest import Run
from tests.training.material import RATINGS, write_ratings


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    write_ratings(folder / "dev.jsonl")
    (folder / "empty.jsonl").touch()
    (folder / "bad.jsonl").write_text((folder / "dev.jsonl").read_text(encoding="utf-8") + '{"hypothesis": 3}\n')
    (folder / "full").mkdir()
    (folder / "full" / "file").touch()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nosuch", "dev.jsonl", "--output", "out"), "no model nosuch: no such directory"),
        (("MODEL", "none.jsonl", "--output", "out"), "none.jsonl: no such file or directory"),
        (("MODEL", "bad.jsonl", "--output", "out"), "bad.jsonl:17: "),
        (("MODEL", "dev.jsonl", "--error-free", "bad.jsonl", "--output", "out"), "bad.jsonl:17: "),
        (("MODEL", "empty.jsonl", "--output", "out"), "empty.jsonl: file is empty"),
        (("MODEL", "dev.jsonl", "--output", "full"), "--output full"),
        (("MODEL", "dev.jsonl", "--output", "dev.jsonl"), "--output dev.jsonl"),
        (("MODEL", "dev.jsonl"), "the following arguments are required: --output"),
    ],
)
def test_bad_input_is_told_in_one_line(
    run: Run, tiny_model_dir: Path, folder: Path, arguments: tuple[str, ...], told: str
) -> None:
    resolved = [str(tiny_model_dir) if argument == "MODEL" else argument for argument in arguments]
    before = sorted(path.name for path in folder.rglob("*"))
    result = run("calibrate", *resolved)
    assert result.code == 2
    assert told in result.err
    assert result.err.count("\n") == 1
    assert sorted(path.name for path in folder.rglob("*")) == before


def test_faulty_rows_are_counted(run: Run, tiny_model_dir: Path, folder: Path) -> None:
    matese.write(matese.read("dev.jsonl"), "dev.tsv", format="mqm-tsv")
    lines = (folder / "dev.tsv").read_text(encoding="utf-8").splitlines()
    (folder / "dev.tsv").write_text("\n".join([*lines, re.sub("Minor|Major", "Bad", lines[-1])]), encoding="utf-8")
    result = run("calibrate", str(tiny_model_dir), "dev.jsonl", "dev.tsv", "--output", "out")
    assert "dev.tsv: 1 row skipped: unknown severity" in result.err
    assert (
        "too few ratings to fit marks by reference, source, source+reference: out has no thresholds for them"
        in result.err
    )
    assert (result.code, result.out.splitlines()[-1]) == (0, "model\tout")


def test_what_was_fitted_is_printed(run: Run, tiny_model_dir: Path, folder: Path) -> None:
    keyed = (
        replace(rating, segment=replace(rating.segment, key=SegmentKey(lang_pair="en-de"))) for rating in RATINGS * 20
    )
    write_ratings(folder / "mqm.jsonl", tuple(keyed))
    write_ratings(folder / "esa.jsonl", RATINGS * 20)
    result = run("calibrate", str(tiny_model_dir), "mqm.jsonl", "--error-free", "esa.jsonl", "--output", "out")
    assert result.code == 0, result.err
    rows = [line.split("\t") for line in result.out.splitlines()]
    tables = ("marks", "min_confidence", "pieces", "meaning", "error_free", "model")
    assert [row[0] for row in rows if row[0] in tables] == list(tables)
    assert rows[-1] == ["model", "out"]
    assert rows[-2][:2] == ["source", str(len(RATINGS) * 20)]
    assert (folder / "out" / "model.safetensors").is_file()

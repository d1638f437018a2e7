"""Sizes that no ordinary input has; most would take hours if anything looked at all pairs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from matese.errors import InputError
from matese.files import short_names
from matese.formats import segments
from tests.cli.conftest import Run, folder, run  # noqa: F401

N_NAMES = 100_000


@pytest.mark.parametrize("last", ["", "dir-0/system-0.txt"], ids=["different", "two equal"])
def test_names_of_100_000_systems(last: str) -> None:
    paths = [f"dir/system-{number}.txt" for number in range(N_NAMES)] + [last] * bool(last)
    names = short_names(paths)
    assert names[7] == "system-7"
    assert len(set(names)) == len(paths)


def test_a_system_that_is_given_twice_among_100_000() -> None:
    paths = [f"{number:06}.txt" for number in range(N_NAMES)]
    with pytest.raises(InputError, match=r"099999.txt is given 2 times"):
        segments.from_texts([*paths, paths[-1]])


def test_a_folder_of_many_systems(folder: Path, run: Run) -> None:  # noqa: F811
    (folder / "many").mkdir()
    for number in range(1000):
        (folder / "many" / f"{number:04}.txt").write_text("Das ist gut.\n", encoding="utf-8")
    ran = run("tag", "--hyp", "many", "--checks", "only", "--format", "jsonl")
    assert [json.loads(line)["system"] for line in ran.out.splitlines()] == [f"{number:04}" for number in range(1000)]


def test_a_line_of_10_megabytes(folder: Path, run: Run) -> None:  # noqa: F811
    line = f"Das ist {'ä' * 5_000_000}."
    (folder / "long.txt").write_text(f"{line}\n", encoding="utf-8")
    ran = run("tag", "--hyp", "long.txt", "--checks", "only", "--format", "jsonl")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["hypothesis"] == line

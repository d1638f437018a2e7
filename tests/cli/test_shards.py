"""Parts of a command's segments, and what is made of a part that a killed run has left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import matese
from matese import shards
from matese.errors import FormatError
from matese.formats.segments import of_texts
from tests.cli.conftest import HYPOTHESES, Run, write

TAG = ("tag", "--model", "{tiny}", "--precision", "float32", "--format", "jsonl", "--ref", "ref.txt")
SYSTEMS = ("--hyp", "mt.txt", "b.txt")
SHARD = (*TAG, *SYSTEMS, "--shard", "1/2", "--output", "spans.jsonl")


@pytest.fixture
def lines(run: Run, folder: Path) -> list[str]:
    """What the whole command writes: six lines, of which each of two shards has three."""
    write(folder / "b.txt", *reversed(HYPOTHESES))
    return run(*TAG, *SYSTEMS).out.splitlines(keepends=True)


@pytest.mark.parametrize("count", [1, 2, 4, 7])
def test_shards_are_together_what_the_whole_command_writes(
    run: Run, folder: Path, lines: list[str], count: int
) -> None:
    for number in range(1, count + 1):
        ran = run(*TAG, *SYSTEMS, "--shard", f"{number}/{count}", "--output", f"{number}.jsonl")
        assert (ran.code, ran.out) == (0, "")
    written = [(folder / f"{number}.jsonl").read_text(encoding="utf-8") for number in range(1, count + 1)]
    assert "".join(written) == "".join(lines)
    assert not list(folder.glob("*.part"))


@pytest.mark.parametrize("left", [0, 1, 3])
@pytest.mark.parametrize("rest", ["", '{"index": 2, "hypothesis": "der T'])
def test_what_a_killed_run_left_is_gone_on_with(run: Run, folder: Path, lines: list[str], left: int, rest: str) -> None:
    part = folder / "spans.jsonl.part"
    part.write_text("".join(lines[:left]) + rest, encoding="utf-8")
    ran = run(*SHARD)
    assert ran.code == 0
    assert f"matese: resuming after {left} of 3 segments\n" in ran.err
    assert (folder / "spans.jsonl").read_text(encoding="utf-8") == "".join(lines[:3])
    assert not part.exists()


def test_what_is_there_is_not_tagged_again(run: Run, folder: Path, lines: list[str]) -> None:
    # A line that is of this start in all but the expected score stays as it is.
    kept = lines[0].replace('"estimate": {"value": -', '"estimate": {"value": -1')
    assert kept != lines[0]
    (folder / "spans.jsonl.part").write_text(kept, encoding="utf-8")
    assert run(*SHARD).code == 0
    assert (folder / "spans.jsonl").read_text(encoding="utf-8") == "".join([kept, *lines[1:3]])


def test_complete_output_is_left_alone(run: Run, folder: Path, lines: list[str]) -> None:
    assert run(*SHARD).code == 0
    before = (folder / "spans.jsonl").stat().st_mtime_ns
    ran = run(*SHARD)
    assert (ran.code, ran.err) == (0, "matese: spans.jsonl is complete: nothing to do\n")
    assert (folder / "spans.jsonl").stat().st_mtime_ns == before
    assert run(*SHARD[:-3], "1/1", *SHARD[-2:]).refused() == (
        "spans.jsonl: holds 3 of the 6 segments of the shard; remove it to start again"
    )


@pytest.mark.parametrize(
    "changed", [("--min-confidence", "0.9"), ("--weights", "google"), ("--tokens",), ("--shard", "2/2"), ("text",)]
)
def test_state_of_another_start_is_refused(run: Run, folder: Path, lines: list[str], changed: tuple[str, ...]) -> None:
    part = folder / "spans.jsonl.part"
    part.write_text(lines[0], encoding="utf-8")
    if changed == ("text",):
        changed = ()
        write(folder / "ref.txt", "Das ist gut.", "etwas", "ein Text")
    assert run(*SHARD, *changed).refused() == (
        "spans.jsonl.part:1: has other texts, or another model or options; resume with the same ones, or remove "
        "the file"
    )
    assert part.read_text(encoding="utf-8") == lines[0]


def test_more_than_the_shard_is_refused(run: Run, folder: Path, lines: list[str]) -> None:
    (folder / "spans.jsonl.part").write_text("".join(lines[:4]), encoding="utf-8")
    assert run(*SHARD).refused().startswith("spans.jsonl.part:4: has other texts")


def test_of_two_commands_that_write_a_shard_the_first_completes_it(tmp_path: Path, tiny_model_dir: Path) -> None:
    annotator = matese.load(tiny_model_dir, precision="float32")
    segments = of_texts(HYPOTHESES, HYPOTHESES)
    target = tmp_path / "spans.jsonl"
    first, other = (shards.annotate(iter(segments), len(segments), target, annotator) for _ in range(2))
    assert [next(first), next(first), next(other), next(first)] == [0, 1, 1, 2]
    with pytest.raises(FormatError, match=r"spans.jsonl.part: another command writes to it; run this one again if"):
        next(other)
    assert list(first) == [3]
    assert [json.loads(line)["hypothesis"] for line in target.read_text("utf-8").splitlines()] == list(HYPOTHESES)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--shard", "0/2"), "--shard: '0/2' must be I/N, whole numbers, I from 1 to N (see matese tag --help)"),
        (("--shard", "3/2"), "--shard: '3/2' must be I/N, whole numbers, I from 1 to N (see matese tag --help)"),
        (("--shard", "1/2", "--limit", "1"), "--shard writes all of its segments: leave out --only-errors and --limit"),
        (("--shard", "1/2", "--output", "-"), "--shard needs --output FILE.jsonl"),
        (("--shard", "1/2", "--output", "mt.txt"), "--output mt.txt is the input mt.txt; choose another file"),
        (("--shard", "1/2", "--output", "no/a"), "no/a.part: no such file or directory: check the path"),
    ],
)
def test_usage(run: Run, options: tuple[str, ...], problem: str) -> None:
    write(Path("b.txt"), *HYPOTHESES)
    assert run(*TAG, *SYSTEMS, "--output", "spans.jsonl", *options).refused().startswith(problem)

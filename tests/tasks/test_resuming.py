"""A `tag` that ended too early, and the same request again; parts of a request's segments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from matese.errors import FormatError, InputError
from matese.formats.tables import jsonl
from matese.tasks import journal, tag
from tests.cli.conftest import HYPOTHESES
from tests.tasks.conftest import broken_off, do, refusal, write

TAG = {"model": "{tiny}", "precision": "float32", "threads": 1}
TEXTS = {"ref": ["ref.txt"], "hyp": ["mt.txt", "b.txt"]}
PO = """msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\n"

msgid "The text is good"
msgstr "Das ist %s."

msgid "A text"
msgstr "Der Text der"

msgid "Good"
msgstr "der Rest"

msgid "Bad"
msgstr "Das ist"
"""
COMMANDS: dict[str, dict[str, object]] = {
    "jsonl": {**TEXTS, "output": "out.jsonl"},
    "tokens": {**TEXTS, "tokens": True, "output": "out.jsonl"},
    "html": {**TEXTS, "checks": "also", "output": "out.html"},
    "text": {**TEXTS, "output": "out.txt"},
    "worst": {**TEXTS, "sort": "worst", "output": "out.jsonl.gz"},
    "two with errors": {**TEXTS, "only_errors": True, "limit": 2, "output": "out.csv"},
    "folder": {**TEXTS, "format": "label-studio", "output": "out"},
    "csv with its own columns": {"input": ["in.csv"], "output": "out.csv"},
    "po": {"input": ["in.po"], "output": "out.po"},
    "checks alone": {**TEXTS, "checks": "only", "output": "out.parquet"},
}


@pytest.fixture
def texts(folder: Path) -> Path:
    write(folder / "b.txt", *reversed(HYPOTHESES))
    write(folder / "in.csv", "id,quelle,hypothesis,who", *(f"{i},A text {i},der Text {i},me" for i in range(4)))
    (folder / "in.csv").write_text((folder / "in.csv").read_text().replace("quelle", "source"))
    (folder / "in.po").write_text(PO)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Of all outputs; what a killed run leaves besides is hidden."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.relative_to(folder).parts[0].startswith("out")
    }


class StopError(Exception):
    """Stands for whatever ends a process."""


@pytest.mark.parametrize(("name", "n_kept"), [(name, 1 + 2 * (number % 2)) for number, name in enumerate(COMMANDS)])
def test_the_same_command_goes_on(texts: Path, monkeypatch: pytest.MonkeyPatch, name: str, n_kept: int) -> None:
    command = {**TAG, **COMMANDS[name]}
    whole = do(tag, **command)
    expected = contents(texts)
    for path in expected:
        (texts / path).unlink()
    keep = journal.Journal._keep
    n_made = 0

    def stop_after_some(self: journal.Journal, *args: object) -> None:
        if self.n_kept == n_kept:
            raise StopError
        keep(self, *args)  # type: ignore[arg-type]

    def count(self: journal.Journal, *args: object) -> None:
        nonlocal n_made
        n_made += 1
        keep(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(journal.Journal, "_keep", stop_after_some)
    assert "the same command resumes" in broken_off(tag, StopError, **command)
    (left,) = contents(texts)
    assert left.endswith(".part")
    with open(left, "a") as part:
        part.write('{"rating": {"index": 2, "hypothesis": "der T')  # what was not completed
    monkeypatch.setattr(journal.Journal, "_keep", count)
    resumed = do(tag, **command)
    assert f"resuming after {n_kept} of " in resumed.told
    assert contents(texts) == expected
    n_segments = {"csv with its own columns": 4, "po": 4}.get(name, 6)
    if name != "two with errors":  # which looks at some more in one go
        assert n_made == n_segments - n_kept
        assert [line for line in whole.told.splitlines() if line not in resumed.told] == []


def test_another_command_is_refused(texts: Path) -> None:
    command = {**TAG, **COMMANDS["jsonl"]}
    do(tag, **command)
    made = (texts / "out.jsonl").read_bytes()
    do(tag, limit=1, **command)
    part = texts / "out.jsonl.part"
    origin = {"texts": "0", "options": "0", "signature": "0"}
    part.write_text(json.dumps(origin) + "\n")
    assert refusal(tag, **command).startswith("out.jsonl.part:1: is of an interrupted run with other texts and other")
    part.write_text("what somebody else wrote")
    assert refusal(tag, **command).startswith("out.jsonl.part: ")
    assert part.read_text() == "what somebody else wrote"
    part.write_text("")  # killed before the first line
    do(tag, **command)
    assert (texts / "out.jsonl").read_bytes() == made
    assert not part.exists()


@pytest.mark.parametrize("changed", [{"min_confidence": 0.9}, {"weights": "google"}, {"tokens": True}, {}])
def test_other_texts_options_or_models_are_refused(
    texts: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, object]
) -> None:
    command = {**TAG, **COMMANDS["jsonl"]}
    keep = journal.Journal._keep

    def stop_after_one(self: journal.Journal, *args: object) -> None:
        if self.n_kept == 1:
            raise StopError
        keep(self, *args)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(journal.Journal, "_keep", stop_after_one)
        broken_off(tag, StopError, **command)
    before = (texts / "out.jsonl.part").read_bytes()
    if not changed:
        write(texts / "ref.txt", "Das ist gut.", "etwas", "ein Text")
    assert refusal(tag, **command, **changed).startswith("out.jsonl.part:1: is of an interrupted run")
    assert (texts / "out.jsonl.part").read_bytes() == before


def test_of_two_commands_with_one_output_the_first_completes_it(texts: Path) -> None:
    origin = journal.Origin("texts", "options", "signature")
    first, other = (journal.Journal(texts / "out.part", origin) for _ in range(2))
    do(tag, output="out.jsonl", **TAG, **TEXTS)
    ratings = list(jsonl.read(texts / "out.jsonl"))
    one = first.annotate([rating.segment for rating in ratings], lambda segments: ((r, None) for r in ratings))
    two = other.annotate([rating.segment for rating in ratings], lambda segments: ((r, None) for r in ratings))
    assert next(one) == (ratings[0], None)
    with pytest.raises(FormatError, match="another command writes to it"):
        next(two)
    assert [rating for rating, _ in one] == ratings[1:]


@pytest.mark.parametrize(
    ("inputs", "count"), [(TEXTS, 1), (TEXTS, 4), ({"input": ["systems.csv"]}, 2), ({"input": ["systems.csv"]}, 7)]
)
def test_parts_are_together_what_the_whole_command_writes(texts: Path, count: int, inputs: dict[str, object]) -> None:
    rows = (f"A text {i},der Text {i},{system}" for i in range(3) for system in "xy")
    write(texts / "systems.csv", "source,hypothesis,system", *rows)
    whole = do(tag, format="jsonl", **TAG, **inputs).out
    written = []
    for number in range(1, count + 1):
        ran = do(tag, shard=f"{number}/{count}", output=f"{number}.jsonl", **TAG, **inputs)
        assert ran.out == ""
        written.append((texts / f"{number}.jsonl").read_text(encoding="utf-8"))
    assert "".join(written) == whole
    assert not list(texts.glob("*.part"))


def test_a_part_is_written_in_any_format(texts: Path) -> None:
    ran = do(tag, shard="2/2", output="out.html", **TAG, **TEXTS)
    assert "b.txt" not in ran.told
    do(tag, shard="2/2", sort="worst", limit=1, **TAG, **TEXTS)
    assert refusal(tag, shard="1/7", **TAG, **TEXTS) == "--shard: the part has no segment"


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "a/b"])
def test_parts_that_do_not_exist(texts: Path, shard: str) -> None:
    assert refusal(tag, shard=shard, **TAG, **TEXTS).startswith(f"shard: {shard!r} must be")


def test_output_beside_which_nothing_can_be_kept(texts: Path) -> None:
    (texts / "mt.txt.part").write_text("kept")
    assert refusal(tag, ref=["ref.txt"], hyp=["mt.txt.part"], output="mt.txt", **TAG).startswith("--output")
    assert (texts / "mt.txt.part").read_text() == "kept"
    assert refusal(tag, output="no/a.jsonl", **TAG, **TEXTS).startswith("--output no/a.jsonl: ")


def test_an_error_that_would_come_again_is_no_interruption(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep = journal.Journal._keep

    def refuse_the_second(self: journal.Journal, *args: object) -> None:
        if self.n_kept == 1:
            raise InputError("this segment cannot be rated")
        keep(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(journal.Journal, "_keep", refuse_the_second)
    write(folder / "two.txt", "Das Haus", "Der Baum")
    files = {"hyp": ["two.txt"], "ref": ["two.txt"], "output": "out.jsonl"}
    told = broken_off(tag, InputError, **files, model="{tiny}")
    assert "1 of 2 segments is kept in out.jsonl.part\n" in told
    assert "resumes" not in told

"""A `tag` that ended too early, and the same request again; parts of a request's segments."""

from __future__ import annotations

from pathlib import Path

import pytest

from matese.errors import InputError
from matese.finished_work import FinishedWork
from matese.tasks import tag
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
    "binary": {**TEXTS, "output": "out.parquet"},
}


@pytest.fixture
def texts(folder: Path) -> Path:
    write(folder / "b.txt", *(f"{text}!" for text in reversed(HYPOTHESES)))
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


keep = FinishedWork.put


@pytest.mark.parametrize(("name", "n_kept"), [(name, 1 + 2 * (number % 2)) for number, name in enumerate(COMMANDS)])
def test_the_same_command_goes_on(texts: Path, monkeypatch: pytest.MonkeyPatch, name: str, n_kept: int) -> None:
    command = {**TAG, **COMMANDS[name]}
    whole = do(tag, **command)
    expected = contents(texts)
    for path in expected:
        (texts / path).unlink()
    made = stopping(monkeypatch, n_kept)
    assert "the same command resumes" in broken_off(tag, StopError, **command)
    (left,) = contents(texts)
    assert left.endswith(".part")
    made = stopping(monkeypatch)
    resumed = do(tag, **command)
    assert f"resuming after {n_kept} segment" in resumed.told
    assert contents(texts) == expected
    n_segments = {"csv with its own columns": 4, "po": 4}.get(name, 6)
    if name != "two with errors":  # which looks at some more in one go
        assert len(made) == n_segments - n_kept
        assert [line for line in whole.told.splitlines() if line not in resumed.told] == []


def stopping(monkeypatch: pytest.MonkeyPatch, n_kept: int | None = None, failure: Exception | None = None) -> list[str]:
    """Lets a run end when it has kept so many results; returns those that are kept from now on."""
    kept: list[str] = []

    def put(self: FinishedWork, result: str, *dependencies: object) -> None:
        if len(kept) == n_kept:
            raise failure or StopError
        kept.append(result)
        keep(self, result, *dependencies)

    monkeypatch.setattr(FinishedWork, "put", put)
    return kept


def test_what_others_left_is_refused(texts: Path) -> None:
    command = {**TAG, **COMMANDS["jsonl"]}
    do(tag, **command)
    made = (texts / "out.jsonl").read_bytes()
    do(tag, limit=1, **command)
    part = texts / "out.jsonl.part"
    for content in ("what somebody else wrote", "SQLite format 3\0" + 100 * "x"):
        part.write_text(content)
        assert refusal(tag, **command).startswith("out.jsonl.part: is not what an interrupted run leaves")
        assert part.read_text() == content
    part.write_text("")  # killed before the first result
    do(tag, **command)
    assert (texts / "out.jsonl").read_bytes() == made
    assert not part.exists()


@pytest.mark.parametrize(
    ("changed", "n_found"),
    [
        ({"min_confidence": 0.9}, 0),
        ({"weights": "google"}, 0),
        ({"tokens": True}, 0),
        ({"lang_pair": "en-de"}, 0),
        ({"checks": "also"}, 3),  # which are added to what a model says
        ({"batch_tokens": 64}, 3),
    ],
)
def test_only_what_depends_on_the_same_is_found(
    texts: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, object], n_found: int
) -> None:
    command = {**TAG, **COMMANDS["jsonl"]}
    stopping(monkeypatch, 3)
    broken_off(tag, StopError, **command)
    made = stopping(monkeypatch)
    do(tag, **command, **changed)
    assert len(made) == 6 - n_found
    expected = (texts / "out.jsonl").read_bytes()
    do(tag, **command, **changed)
    assert (texts / "out.jsonl").read_bytes() == expected


def test_finished_work_is_found_where_lines_were_added(texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = {**TAG, "hyp": ["mt.txt"], "ref": ["ref.txt"], "output": "out.jsonl"}
    stopping(monkeypatch, 2)
    broken_off(tag, StopError, **command)
    for name in ("mt.txt", "ref.txt"):
        lines = (texts / name).read_text(encoding="utf-8").splitlines()
        write(texts / name, "etwas Neues", *lines, "Das Ende")
    made = stopping(monkeypatch)
    do(tag, **command)
    assert len(made) == 3
    resumed = (texts / "out.jsonl").read_bytes()
    do(tag, **command)
    assert (texts / "out.jsonl").read_bytes() == resumed


def test_a_folder_keeps_finished_work(texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = {**TAG, **COMMANDS["tokens"], "cache": "kept"}
    do(tag, **command)
    first = (texts / "out.jsonl").read_bytes()
    made = stopping(monkeypatch)
    do(tag, **command, checks="none")
    assert (made, (texts / "out.jsonl").read_bytes()) == ([], first)
    assert [path.name for path in (texts / "kept").iterdir()] == ["finished.sqlite"]
    assert not (texts / "out.jsonl.part").exists()


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
    stopping(monkeypatch, 1, InputError("this segment cannot be rated"))
    write(folder / "two.txt", "Das Haus", "Der Baum")
    files = {"hyp": ["two.txt"], "ref": ["two.txt"], "output": "out.jsonl"}
    told = broken_off(tag, InputError, **files, model="{tiny}")
    assert "1 segment is kept in out.jsonl.part\n" in told
    assert "resumes" not in told

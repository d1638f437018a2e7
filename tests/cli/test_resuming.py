"""A `tag` that ended too early, and the same command again; parts of a command's segments."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
from pathlib import Path

import pytest

from matese.errors import FormatError, InputError
from matese.formats.tables import jsonl
from matese.tasks import journal
from tests.cli.conftest import HYPOTHESES, Run, write
from tests.cli.test_process import MATESE, ROOT, wait_until

TAG = ("tag", "--model", "{tiny}", "--precision", "float32", "--threads", "1")
TEXTS = ("--ref", "ref.txt", "--hyp", "mt.txt", "b.txt")
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
COMMANDS = {
    "jsonl": (*TEXTS, "--output", "out.jsonl"),
    "tokens": (*TEXTS, "--tokens", "--output", "out.jsonl"),
    "html": (*TEXTS, "--checks", "also", "--output", "out.html"),
    "text": (*TEXTS, "--output", "out.txt"),
    "worst": (*TEXTS, "--sort", "worst", "--output", "out.jsonl.gz"),
    "two with errors": (*TEXTS, "--only-errors", "--limit", "2", "--output", "out.csv"),
    "folder": (*TEXTS, "--format", "label-studio", "--output", "out"),
    "csv with its own columns": ("--input", "in.csv", "--output", "out.csv"),
    "po": ("--input", "in.po", "--output", "out.po"),
    "checks alone": (*TEXTS, "--checks", "only", "--output", "out.parquet"),
}


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


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
def test_the_same_command_goes_on(
    run: Run, texts: Path, monkeypatch: pytest.MonkeyPatch, name: str, n_kept: int
) -> None:
    command = (*TAG, *COMMANDS[name])
    whole = run(*command)
    assert whole.code == 0, whole.err
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
    stopped = run(*command)
    assert stopped.code == 70
    assert "the same command resumes" in stopped.err
    (left,) = contents(texts)
    assert left.endswith(".part")
    with open(left, "a") as part:
        part.write('{"rating": {"index": 2, "hypothesis": "der T')  # what was not completed
    monkeypatch.setattr(journal.Journal, "_keep", count)
    resumed = run(*command)
    assert (resumed.code, f"resuming after {n_kept} of " in resumed.err) == (0, True), resumed.err
    assert contents(texts) == expected
    n_segments = {"csv with its own columns": 4, "po": 4}.get(name, 6)
    if name != "two with errors":  # which looks at some more in one go
        assert n_made == n_segments - n_kept
        assert [line for line in whole.err.splitlines() if line not in resumed.err] == []


def test_another_command_is_refused(run: Run, texts: Path) -> None:
    command = (*TAG, *COMMANDS["jsonl"])
    assert run(*command).code == 0
    made = (texts / "out.jsonl").read_bytes()
    assert run(*command, "--limit", "1").code == 0
    part = texts / "out.jsonl.part"
    origin = {"texts": "0", "options": "0", "signature": "0"}
    part.write_text(json.dumps(origin) + "\n")
    assert run(*command).refused().startswith("out.jsonl.part:1: is of an interrupted run with other texts and other")
    part.write_text("what somebody else wrote")
    assert run(*command).refused().startswith("out.jsonl.part: ")
    assert part.read_text() == "what somebody else wrote"
    part.write_text("")  # killed before the first line
    assert run(*command).code == 0
    assert (texts / "out.jsonl").read_bytes() == made
    assert not part.exists()


@pytest.mark.parametrize("changed", [("--min-confidence", "0.9"), ("--weights", "google"), ("--tokens",), ("text",)])
def test_other_texts_options_or_models_are_refused(
    run: Run, texts: Path, monkeypatch: pytest.MonkeyPatch, changed: tuple[str, ...]
) -> None:
    command = (*TAG, *COMMANDS["jsonl"])
    keep = journal.Journal._keep

    def stop_after_one(self: journal.Journal, *args: object) -> None:
        if self.n_kept == 1:
            raise StopError
        keep(self, *args)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(journal.Journal, "_keep", stop_after_one)
        assert run(*command).code == 70
    before = (texts / "out.jsonl.part").read_bytes()
    if changed == ("text",):
        changed = ()
        write(texts / "ref.txt", "Das ist gut.", "etwas", "ein Text")
    assert run(*command, *changed).refused().startswith("out.jsonl.part:1: is of an interrupted run")
    assert (texts / "out.jsonl.part").read_bytes() == before


def test_of_two_commands_with_one_output_the_first_completes_it(run: Run, texts: Path) -> None:
    origin = journal.Origin("texts", "options", "signature")
    first, other = (journal.Journal(texts / "out.part", origin) for _ in range(2))
    assert run(*TAG, *TEXTS, "--output", "out.jsonl").code == 0
    ratings = list(jsonl.read(texts / "out.jsonl"))
    one = first.annotate([rating.segment for rating in ratings], lambda segments: ((r, None) for r in ratings))
    two = other.annotate([rating.segment for rating in ratings], lambda segments: ((r, None) for r in ratings))
    assert next(one) == (ratings[0], None)
    with pytest.raises(FormatError, match="another command writes to it"):
        next(two)
    assert [rating for rating, _ in one] == ratings[1:]


@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGKILL])
def test_a_process_that_is_ended_goes_on(
    run: Run, folder: Path, tiny_model_dir: Path, ended_by: signal.Signals
) -> None:
    lines = [f"das ist ein guter Text und noch einer {number} " * 8 for number in range(300)]
    write(folder / "long.txt", *lines)
    command = ["tag", "--hyp", "long.txt", "--ref", "long.txt", "--model", str(tiny_model_dir)]
    command += ["--precision", "float32", "--threads", "1", "--checks", "repetition", "--output", "out.jsonl"]
    part = folder / "out.jsonl.part"
    with subprocess.Popen([*MATESE, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: part.exists() and part.read_bytes().count(b"\n") > 20)
        process.send_signal(ended_by)
        _, said = process.communicate()
    if ended_by == signal.SIGINT:
        assert process.returncode == 130
        assert said.count("\n") == 1
        assert "of 300 segments are kept in out.jsonl.part; the same command resumes" in said
    kept = part.read_bytes().count(b"\n") - 1
    assert not (folder / "out.jsonl").exists()
    resumed = run(*command)
    assert f"matese: resuming after {kept} of 300 segments\n" in resumed.err
    assert not part.exists()
    made = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert [line["hypothesis"] for line in made] == lines
    assert run(*command[:-1], "whole.jsonl").code == 0
    assert (folder / "whole.jsonl").read_bytes() == (folder / "out.jsonl").read_bytes()


def test_a_full_disk_is_reported_and_what_was_made_is_kept(run: Run, folder: Path, tiny_model_dir: Path) -> None:
    write(folder / "long.txt", *["das ist ein guter Text und noch einer " * 5] * 40)
    command = ["tag", "--hyp", "long.txt", "--ref", "long.txt", "--model", str(tiny_model_dir)]
    command += ["--threads", "1", "--output", "out.jsonl"]

    def fill() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    full = subprocess.run([*MATESE, *command], capture_output=True, text=True, preexec_fn=fill)
    assert full.returncode == 2
    assert "the same command resumes" in full.stderr
    assert not (folder / "out.jsonl").exists()
    assert "resuming after " in run(*command).err
    assert len((folder / "out.jsonl").read_text().splitlines()) == 40


@pytest.mark.parametrize(
    ("inputs", "count"), [(TEXTS, 1), (TEXTS, 4), (("--input", "systems.csv"), 2), (("--input", "systems.csv"), 7)]
)
def test_parts_are_together_what_the_whole_command_writes(
    run: Run, texts: Path, count: int, inputs: tuple[str, ...]
) -> None:
    rows = (f"A text {i},der Text {i},{system}" for i in range(3) for system in "xy")
    write(texts / "systems.csv", "source,hypothesis,system", *rows)
    whole = run(*TAG, *inputs, "--format", "jsonl").out
    written = []
    for number in range(1, count + 1):
        ran = run(*TAG, *inputs, "--shard", f"{number}/{count}", "--output", f"{number}.jsonl")
        assert (ran.code, ran.out) == (0, ""), ran.err
        written.append((texts / f"{number}.jsonl").read_text(encoding="utf-8"))
    assert "".join(written) == whole
    assert not list(texts.glob("*.part"))


def test_a_part_is_written_in_any_format(run: Run, texts: Path) -> None:
    ran = run(*TAG, *TEXTS, "--shard", "2/2", "--output", "out.html")
    assert ran.code == 0
    assert "b.txt" not in ran.err
    assert run(*TAG, *TEXTS, "--shard", "2/2", "--sort", "worst", "--limit", "1").code == 0
    assert run(*TAG, *TEXTS, "--shard", "1/7").refused() == "--shard: the part has no segment"


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "a/b"])
def test_parts_that_do_not_exist(run: Run, texts: Path, shard: str) -> None:
    assert run(*TAG, *TEXTS, "--shard", shard).refused().startswith(f"--shard: {shard!r} must be")


def test_output_beside_which_nothing_can_be_kept(run: Run, texts: Path) -> None:
    (texts / "mt.txt.part").write_text("kept")
    assert run(*TAG, "--ref", "ref.txt", "--hyp", "mt.txt.part", "--output", "mt.txt").refused().startswith("--output")
    assert (texts / "mt.txt.part").read_text() == "kept"
    assert run(*TAG, *TEXTS, "--output", "no/a.jsonl").refused().startswith("--output no/a.jsonl: ")


def test_an_error_that_would_come_again_is_no_interruption(
    run: Run, folder: Path, tiny_model_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = journal.Journal._keep

    def refuse_the_second(self: journal.Journal, *args: object) -> None:
        if self.n_kept == 1:
            raise InputError("this segment cannot be rated")
        keep(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(journal.Journal, "_keep", refuse_the_second)
    write(folder / "two.txt", "Das Haus", "Der Baum")
    files = ("--hyp", "two.txt", "--ref", "two.txt", "--output", "out.jsonl")
    stopped = run(*TAG[:1], *files, "--model", str(tiny_model_dir))
    assert stopped.code == 2
    assert "1 of 2 segments is kept in out.jsonl.part\n" in stopped.err
    assert "resumes" not in stopped.err

import gc
import re
import sys
from pathlib import Path

import pytest

from matese.annotation import ErrorSpan, Rating, Segment, Severity
from matese.formats.tables import jsonl
from tests.cli.conftest import Run, Terminal, write

SCORE = ("score", "--model", "{tiny}", "--precision", "float32", "--hyp", "mt.txt", "b.txt", "--ref", "ref.txt")


@pytest.fixture(autouse=True)
def second_system(folder: Path) -> None:
    write(folder / "b.txt", "x", "y\tz", "das ist gut")


def test_table_on_a_terminal(run: Run, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", terminal.stream)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    assert run(*SCORE, "--segments").code == 0
    lines = terminal.came().replace("\x1b[1m", "").replace("\x1b[0m", "").split("\r\n")[1:]
    names = [[name, "", f"line {line}"] for name in ("mt", "b") for line in "123"]
    assert [line.split("\t")[:3] for line in lines[:6]] == names
    assert lines[6] == ""
    columns = ["system", "segments", "blank", "with errors", "Minor", "Major", "score", "expected score"]
    assert re.split(r"  +", lines[7]) == [*columns, "p (against mt)"]
    # The better system comes first.
    assert [line.split()[:2] for line in lines[8:10]] == [["b", "3"], ["mt", "3"]]
    assert [re.split(r"  +", line)[-1][:1] for line in lines[8:10]] == [".", re.split(r"  +", lines[9])[-1][:1]]
    assert lines[12].startswith("matese|model:tiny@")
    assert lines[13:] == [""]
    monkeypatch.setenv("COLUMNS", "60")  # further columns follow below; the terminal would break words
    assert run(*SCORE).code == 0
    lines = terminal.came().replace("\x1b[1m", "").replace("\x1b[0m", "").split("\r\n")
    assert [len(line) <= 60 for line in lines[:7]] == [True] * 7


def test_many_ratings_start_few_garbage_collections(run: Run, folder: Path) -> None:
    rating = Rating(Segment("Das, was"), "anna", (ErrorSpan(3, 4, Severity.MINOR),))
    write(folder / "many.jsonl", *[jsonl.dumps(rating)] * 5000)
    usual = gc.get_threshold()
    started: list[str] = []

    def note(phase: str, _: dict[str, int]) -> None:
        started.append(phase)

    run("score", "many.jsonl")  # which imports what it needs
    gc.callbacks.append(note)
    try:
        assert run("score", "many.jsonl").code == 0
    finally:
        gc.callbacks.remove(note)
    assert started.count("start") < 20
    assert gc.get_threshold() == usual


def test_ratings_are_scored_without_a_model(run: Run, folder: Path) -> None:
    comma = ErrorSpan(3, 4, Severity.MINOR, "Fluency/Punctuation")
    word = ErrorSpan(0, 3, Severity.MAJOR)
    lines = [Rating(Segment("Das, was"), "anna", spans) for spans in ((comma,), (word, comma))]
    write(folder / "spans.jsonl", *map(jsonl.dumps, lines))
    assert run("score", "spans.jsonl").out.partition("\n")[2] == "spans\t-3.5\t\t2\t2\t2\t1\t0\tanna\n"
    ran = run("score", "spans.jsonl", "--weights", "google", "--segments", "--model", "there is none")
    assert [line.split("\t")[3] for line in ran.out.splitlines()[1:]] == ["-0.1", "-5.1"]
    made = "matese|model:m@1|weights:{}|version:1"
    write(folder / "model.jsonl", jsonl.dumps(Rating(Segment("Das"), made.format("matese"), (word,))))
    for more in ([], ["--segments"]):
        assert made.format("google") in run("score", "model.jsonl", "--weights", "google", *more).out
    texts = ("--hyp", "mt.txt", "--ref", "ref.txt")
    write(folder / "da.jsonl", jsonl.dumps(Rating(Segment("Das"), "anna", None)))
    for arguments, place in (
        (("spans.jsonl", *texts), "RATINGS "),
        ((), "no translations"),
        (("da.jsonl",), "da.jsonl "),
    ):
        assert run("score", *arguments).refused().startswith(place)

"""Runs commands in this process, in a directory of their own with three segments."""

from __future__ import annotations

import contextlib
import os
import pty
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import pytest

from matese.cli import main

HYPOTHESES = ("Das ist gut.", "", "der Text [a] 你好 \x1b[31m!")
REFERENCES = ("Das ist schlecht.", "etwas", "ein Text")


@dataclass(frozen=True)
class Ran:
    """What came of a command."""

    code: int
    out: str
    err: str

    def refused(self) -> str:
        """The one line that told of bad input, without `matese: `; nothing else was written."""
        assert (self.code, self.out) == (2, "")
        assert self.err.startswith("matese: ")
        assert self.err.endswith("\n")
        assert self.err.count("\n") == 1, self.err
        return self.err.removeprefix("matese: ").removesuffix("\n")


Run = Callable[..., Ran]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, which holds mt.txt and ref.txt."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "mt.txt", *HYPOTHESES)
    write(tmp_path / "ref.txt", *REFERENCES)
    return tmp_path


@pytest.fixture
def run(folder: Path, request: pytest.FixtureRequest, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs a command; `{tiny}` in an argument is the directory of a model that takes every input."""

    def resolve(argument: str) -> str:
        # The model is made where a test asks for one: it takes torch, which takes seconds.
        return (
            argument.replace("{tiny}", str(request.getfixturevalue("tiny_model_dir")))
            if "{tiny}" in argument
            else argument
        )

    def run(*arguments: str) -> Ran:
        known = [resolve(argument) for argument in arguments]
        capfd.readouterr()
        code = main(known)
        captured = capfd.readouterr()
        return Ran(code, captured.out, captured.err)

    return run


@dataclass(frozen=True)
class Terminal:
    """A terminal: the stream that programs write to, and what came there."""

    stream: TextIO
    descriptor: int

    def came(self) -> str:
        """What was written since the last call."""
        mark = "|end|"
        text = ""
        self.stream.write(mark)
        self.stream.flush()
        # The other side gets it in pieces, and later.
        while not text.endswith(mark):
            text += os.read(self.descriptor, 65536).decode()
        return text.removesuffix(mark)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """A terminal with colours, which tests put in place of a standard stream."""
    ours, theirs = pty.openpty()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with os.fdopen(theirs, "w") as stream:
        yield Terminal(stream, ours)
    os.close(ours)


@contextlib.contextmanager
def as_nobody() -> Iterator[None]:
    """Runs the body without the rights of root, who may read and write everything."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="")
    return path

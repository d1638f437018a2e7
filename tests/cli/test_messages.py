import json
import os
import sys

import pytest

from matese.cli import interrupts, messages
from matese.errors import FormatError, InputError


def caught(act: str, **names: object) -> Exception:
    """Returns what a piece of code raises, as if it stood in a module of that name."""
    try:
        exec(act, {"__name__": "matese.somewhere", **names})
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize(
    ("act", "line"),
    [
        ("raise InputError('a.txt: bad')", "a.txt: bad"),
        ("raise FormatError('a.txt', 3, 'bad')", "a.txt:3: bad"),
        ("open('missing')", "missing: no such file or directory: check the path"),
        ("open(b'missing')", "missing: no such file or directory: check the path"),
        ("open('.')", ".: is a directory: give a file"),
        ("raise OSError(28, 'No space')", "no space left on the disk: free some space, or write to another disk"),
        ("raise OSError(5, 'Input/output error', 'a')", "a: input/output error: check that it can be read or"),
        ("raise OSError('We could not connect')", "we could not connect: check that it can be read or"),
        ("raise TimeoutError", "timeouterror: check that it"),
        ("raise OSError(9, 'Bad file descriptor', 7)", "7: bad file descriptor: check"),
        ("raise OSError(40, 'Too many levels of symbolic links')", "too many levels of symbolic links"),
        ("raise type('OutOfMemoryError', (RuntimeError,), {})('CUDA')", "out of memory on the device"),
        # Everything else is a fault of ours, even a ValueError of this package, and needs its traceback.
        ("json.loads('{')", None),
        ("raise ValueError('a')", None),
        ("list(zip([1], [], strict=True))", None),
        ("one, two = [1]", None),
        ("max([])", None),
        ("raise KeyError('a')", None),
        ("raise TypeError('a')", None),
        ("1 / 0", None),
    ],
)
def test_what_is_told(act: str, line: str | None) -> None:
    told = messages.describe(caught(act, json=json, FormatError=FormatError, InputError=InputError))
    assert told == line if line is None else (told or "").startswith(line)


def test_interrupt_behind_another_error() -> None:
    act = """
try:
    raise KeyboardInterrupt
except KeyboardInterrupt:
    raise RuntimeError("a module did not load")
"""
    assert interrupts.is_caused_by_ctrl_c(caught(act))
    assert not interrupts.is_caused_by_ctrl_c(caught("raise RuntimeError"))


@pytest.mark.parametrize(
    ("text", "line"),
    [("a", "a"), ("a\n  b\n", "a b"), ("a\x1b[2J\rb", "a␛[2J␍b"), ("\u202ea", "<U+202E>a"), ("\udcff", "<U+DCFF>")],
)
def test_messages_are_one_line(capsys: pytest.CaptureFixture[str], text: str, line: str) -> None:
    messages.error(text)
    assert capsys.readouterr().err == f"matese: {line}\n"


def test_nobody_left_to_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    messages.info("a")
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        monkeypatch.setattr(sys, "stderr", closed)
        messages.info("a")
        os.dup2(os.open(os.devnull, os.O_WRONLY), writer)

"""Runs tasks as Python users do, in a directory of their own with three segments; nothing is printed."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from matese.cli import messages
from matese.tasks import notices
from matese.validation.options import make
from tests.cli import conftest
from tests.cli.conftest import write as write

folder = conftest.folder
TINY = "{tiny}"
"""Stands for the directory of a model that takes every input."""
_current: list[pytest.FixtureRequest] = []


@pytest.fixture(autouse=True)
def _known(request: pytest.FixtureRequest, folder: Path) -> Iterator[None]:
    """Tests are in the folder; `do` makes the model where a test asks for one: it takes torch, which takes seconds."""
    _current.append(request)
    yield
    _current.pop()


def _resolved(value: object) -> object:
    if isinstance(value, str) and TINY in value:
        return value.replace(TINY, str(_current[-1].getfixturevalue("tiny_model_dir")))
    return [_resolved(item) for item in value] if isinstance(value, list) else value


def _request(task: ModuleType, fields: Mapping[str, object]) -> object:
    return make(task.Request, {name: _resolved(value) for name, value in fields.items()})


@dataclass(frozen=True)
class Done:
    """What came of a task.

    Attributes:
        result: what its function returned.
        out: what was written to the stream that it was given.
        told: its notices, each a line.
    """

    result: Any
    out: str
    told: str


class Listener(notices._Logger):
    """Keeps what is told."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def info(self, *texts: str) -> None:
        self.heard += texts


def do(task: ModuleType, **fields: object) -> Done:
    """Runs a task with a request of these fields, and a stream to write to."""
    stream = io.StringIO()
    listener = Listener()
    with notices.heard_by(listener):
        result = task.run(_request(task, fields), stream)
    return Done(result, stream.getvalue(), "".join(f"{text}\n" for text in listener.heard))


def broken_off(task: ModuleType, failure: type[Exception], **fields: object) -> str:
    """Runs a task that a failure ends; returns the notices, each a line."""
    listener = Listener()
    with pytest.raises(failure), notices.heard_by(listener):
        task.run(_request(task, fields), io.StringIO())
    return "".join(f"{text}\n" for text in listener.heard)


def refusal(task: ModuleType, **fields: object) -> str:
    """Returns what is wrong with a request that a user can mend; nothing was written."""
    stream = io.StringIO()
    with pytest.raises((ValueError, OSError)) as raised, notices.heard_by(Listener()):
        task.run(_request(task, fields), stream)
    problem = messages.describe(raised.value)
    assert problem is not None, raised.value
    assert stream.getvalue() == ""
    return problem

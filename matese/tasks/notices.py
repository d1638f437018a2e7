"""What a task tells while it works: notices of what was left out, repaired or decided, and its progress.

The command line shows both on standard error. From Python, notices are warnings of the logger "matese", and progress is
shown on terminals and in notebooks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, Protocol, TextIO, TypeVar

from matese import streams

if TYPE_CHECKING:
    from tqdm import tqdm

T = TypeVar("T")


class Progress(Protocol):
    """The progress of some work."""

    def advance(self) -> None:
        """Counts another unit."""

    def make_way(self) -> None:
        """Hides the bar until the work takes long again."""


class Listener(Protocol):
    """Who is told."""

    def info(self, *texts: str) -> None:
        """Shows notices, each a sentence."""

    def bar(self, total: int, unit: str = "segments", *, n_earlier: int = 0) -> AbstractContextManager[Progress]:
        """Shows the progress of the body."""

    def quiet(self) -> AbstractContextManager[None]:
        """Keeps other libraries from writing notices of their own in the body."""

    def undisturbed(self) -> AbstractContextManager[None]:
        """Lets the body end before Ctrl-C does anything: a library is being loaded."""

    def status(self) -> AbstractContextManager[Callable[[str], None]]:
        """Yields what shows the step that the body is at."""


class _NoBar:
    def advance(self) -> None: ...

    def make_way(self) -> None: ...


@dataclass(frozen=True)
class _Bar:
    shown: tqdm[NoReturn]

    def advance(self) -> None:
        self.shown.update()

    def make_way(self) -> None:
        self.shown.clear()


class _Logger:
    """Writes notices to the logger "matese", shows progress as tqdm does, and lets other libraries do as they like."""

    def info(self, *texts: str) -> None:
        import logging

        for text in texts:
            logging.getLogger("matese").warning(_wording.get()(text))

    @contextlib.contextmanager
    def bar(self, total: int, unit: str = "segments", *, n_earlier: int = 0) -> Iterator[Progress]:
        if not streams.is_watched():
            yield _NoBar()
            return
        from tqdm.auto import tqdm

        with tqdm(total=total, initial=n_earlier, unit=f" {unit}", delay=streams.PATIENCE, leave=False) as shown:
            yield _Bar(shown)

    def quiet(self) -> AbstractContextManager[None]:
        return contextlib.nullcontext()

    def undisturbed(self) -> AbstractContextManager[None]:
        return contextlib.nullcontext()

    def status(self) -> AbstractContextManager[Callable[[str], None]]:
        return contextlib.nullcontext(lambda step: None)


_wording: ContextVar[Callable[[str], str]] = ContextVar("wording", default=str)
_listener: ContextVar[Listener] = ContextVar("listener", default=_Logger())  # noqa: B039  (it has no state)


@contextlib.contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Tells a listener what the tasks in the body say."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextlib.contextmanager
def worded(wording: Callable[[str], str]) -> Iterator[None]:
    """Rewords the notices of the body for Python users."""
    token = _wording.set(wording)
    try:
        yield
    finally:
        _wording.reset(token)


def info(*texts: str) -> None:
    """Tells notices, each a sentence."""
    _listener.get().info(*texts)


def bar(total: int, unit: str = "segments", *, n_earlier: int = 0) -> AbstractContextManager[Progress]:
    """Shows the progress of the body; the first `n_earlier` units were done by an earlier run."""
    return _listener.get().bar(total, unit, n_earlier=n_earlier)


def quiet() -> AbstractContextManager[None]:
    """Keeps other libraries from writing notices of their own in the body, if there is a command line to keep clear."""
    return _listener.get().quiet()


def undisturbed() -> AbstractContextManager[None]:
    """Lets the body end before Ctrl-C does anything: a signal while torch loads its libraries aborts the process."""
    return _listener.get().undisturbed()


def status() -> AbstractContextManager[Callable[[str], None]]:
    """Yields what shows the step that the body is at."""
    return _listener.get().status()


def progress(items: Iterable[T], total: int, unit: str = "segments", *, results: TextIO | None = None) -> Iterator[T]:
    """Yields the items and shows how many are done.

    Args:
        items: results of the work.
        total: their number.
        unit: what they are.
        results: where the caller writes them; if that is a terminal, the bar makes way.
    """
    with bar(total, unit) as shown:
        for item in items:
            if results is not None and results.isatty():
                shown.make_way()
            yield item
            shown.advance()

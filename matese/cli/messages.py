"""Write to standard error: notices and errors in one line each, and a progress bar."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

from matese.cli.interrupts import deferring_ctrl_c
from matese.errors import InputError
from matese.files import reason, remedy
from matese.render.labels import show

if TYPE_CHECKING:
    from rich.progress import Progress

_PATIENCE = 1.0
"""Seconds of work without a result on the terminal before the bar appears."""
_WATCHING = 2.0
"""Seconds between looks at a unit at work."""
_REPORTING = 30.0
"""Seconds between lines of progress where there is no terminal."""
_RED = "\x1b[31m"
_PLAIN = "\x1b[0m"


_is_muted: ContextVar[bool] = ContextVar("is_muted", default=False)
_bars: list[ProgressBar] = []
T = TypeVar("T")


@contextlib.contextmanager
def muted(is_muted: bool) -> Iterator[None]:
    """Suppresses notices and progress in the body if `is_muted`."""
    token = _is_muted.set(is_muted)
    try:
        yield
    finally:
        _is_muted.reset(token)


def info(*texts: str) -> None:
    """Writes notices, each one line on standard error, unless they are muted."""
    for text in () if _is_muted.get() else texts:
        _write(text, "")


def error(text: str) -> None:
    """Writes an error: one line on standard error, in red on a terminal with colours."""
    _write(text, _RED)


def describe(failure: Exception) -> str | None:
    """Returns the line that describes an error the user can fix; None for a fault of the program.

    >>> describe(InputError("a.txt: bad")), describe(ValueError("a fault"))
    ('a.txt: bad', None)
    """
    if isinstance(failure, InputError):
        return str(failure)
    if isinstance(failure, OSError):
        allowed = remedy(failure)
        name = failure.filename  # a str, bytes, a path, or the number of a descriptor
        place = "" if name is None else f"{name if isinstance(name, int) else os.fsdecode(name) or repr(name)}: "
        return f"{place}{reason(failure)}: {allowed}"
    if type(failure).__name__ == "OutOfMemoryError":  # torch's, which is not imported for this
        return "out of memory on the device; use --device cpu, or a smaller --batch-tokens with tag and score"
    return None


def _write(text: str, colour: str) -> None:
    if sys.stderr is None:
        return
    for shown in _bars:
        shown.make_way()
    one_line = re.sub(r"\s*\n\s*", " ", text.strip())  # other libraries write messages of several lines
    line = f"matese: {show(one_line)}"
    if colour and sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb":
        line = f"{colour}{line}{_PLAIN}"
    try:
        # One call and no wrapping, so that file names can be searched in a log.
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
    except OSError:
        return  # nobody is left to read it


class ProgressBar:
    """A progress bar that appears on a terminal once the work takes long; see `bar`.

    Without a terminal, it is a line now and then, for the log of a job.
    """

    def __init__(self, total: int, unit: str, n_earlier: int = 0) -> None:
        self._total = total
        self._unit = unit
        self._n_earlier = n_earlier
        self._done = 0
        self._silent_since = time.monotonic()
        self._started = self._silent_since
        self._reported = self._silent_since
        self._is_logged = sys.stderr is not None and not sys.stderr.isatty() and not _is_muted.get()
        self._progress: Progress | None = None
        self._lock = threading.Lock()
        self._ended = threading.Event()
        if sys.stderr is not None and sys.stderr.isatty() and not _is_muted.get():
            threading.Thread(target=self._watch, daemon=True).start()
        else:
            self._ended.set()

    def advance(self) -> None:
        """Counts another unit."""
        self._done += 1
        if not self._ended.is_set():
            self._show_if_due()
        if self._is_logged and time.monotonic() - self._reported >= _REPORTING:
            self._reported = time.monotonic()
            info(self._line(self._reported - self._started))

    def _line(self, seconds: float) -> str:
        """Returns how much is done after so many seconds, at what rate, and how much time is left."""
        from datetime import timedelta

        rate = self._rate(seconds)
        left = timedelta(seconds=round((self._total - self._done) / rate)) if rate else "unknown"
        return f"{self._done:,} of {self._total:,} {self._unit}, {rate:.1f} per second, time left {left}"

    def _rate(self, seconds: float) -> float:
        return max(self._done - self._n_earlier, 0) / seconds if seconds > 0 else 0.0

    def make_way(self) -> None:
        """Hides the bar until the work takes long again."""
        with self._lock:
            self._silent_since = time.monotonic()
            if self._progress is not None:
                self._progress.stop()
                self._progress = None

    def close(self) -> None:
        """Hides the bar for good."""
        self._ended.set()
        self.make_way()

    def _watch(self) -> None:
        """Shows the bar while a single unit takes long."""
        while not self._ended.wait(_WATCHING):
            self._show_if_due()

    def _show_if_due(self) -> None:
        with self._lock:
            if self._ended.is_set() or time.monotonic() - self._silent_since <= _PATIENCE:
                return
            self._progress = self._progress or _start(self._total, self._unit)
            rate = self._rate(time.monotonic() - self._started)
            shown = f"{rate:.1f}/s" if rate else ""
            self._progress.update(self._progress.task_ids[0], completed=self._done, rate=shown)


@contextlib.contextmanager
def bar(total: int, unit: str = "segments", *, n_earlier: int = 0) -> Iterator[ProgressBar]:
    """Shows the progress of the body on a terminal; notices and errors hide it.

    The first `n_earlier` units were done by an earlier run and do not count in the rate.
    """
    shown = ProgressBar(total, unit, n_earlier)
    _bars.append(shown)
    try:
        yield shown
    finally:
        shown.close()
        _bars.remove(shown)


def _start(total: int, unit: str) -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        *(TextColumn(unit), BarColumn(), MofNCompleteColumn()),
        *(TextColumn("{task.fields[rate]}"), TextColumn("elapsed"), TimeElapsedColumn()),
        *(TextColumn("left"), TimeRemainingColumn()),
    )
    # Nobody else prints while the bar is visible, so the standard streams need not be redirected.
    bar = Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False)
    bar.add_task("", total=total, rate="")
    bar.start()
    return bar


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keeps notices of other libraries off standard error while the body runs."""
    if "huggingface_hub" in sys.modules:  # the model is from the hub, and was downloaded with a progress bar
        from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

        disable_progress_bars()
    import logging  # which takes longer to import than --help may

    disabled = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)


@contextlib.contextmanager
def status() -> Iterator[Callable[[str], None]]:
    """Yields what shows on a terminal the step that the body is at."""
    from rich.console import Console

    with Console(stderr=True).status("") as shown:
        yield shown.update


undisturbed = deferring_ctrl_c

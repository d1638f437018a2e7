"""How far long work is, on standard error and only where that is a terminal."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

    from matese.cli.output import Output

_PATIENCE = 1.0
"""Seconds of work without a result on the terminal after which a bar appears."""


class Bar:
    """A bar that appears when the work turns out to be long; `shown` makes one."""

    def __init__(self, total: int, what: str) -> None:
        self._total, self._what, self._done = total, what, 0
        self._is_visible = sys.stderr is not None and sys.stderr.isatty()
        self._silent_since = time.monotonic()
        self._progress: Progress | None = None

    def advance(self) -> None:
        """Counts one more."""
        self._done += 1
        if self._is_visible and self._progress is None and time.monotonic() - self._silent_since > _PATIENCE:
            self._progress = _start(self._total, self._what)
        if self._progress is not None:
            self._progress.update(self._progress.task_ids[0], completed=self._done)

    def give_way(self, results: Output) -> None:
        """Takes the bar away for a while where results are about to come to a terminal, which show how far it is."""
        if self._is_visible and results.stream.isatty():
            self.close()
            self._silent_since = time.monotonic()

    def close(self) -> None:
        """Takes the bar away, if there is one."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None


@contextlib.contextmanager
def shown(total: int, what: str = "segments") -> Iterator[Bar]:
    """Shows the progress of the work in the body; `total` is the number of segments, or of what else is counted."""
    bar = Bar(total, what)
    try:
        yield bar
    finally:
        bar.close()


def _start(total: int, what: str) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # Nothing is printed by others while the bar stands, so that the standard streams stay as they are.
    progress = Progress(
        *columns, console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False
    )
    progress.add_task("", total=total)
    progress.start()
    return progress

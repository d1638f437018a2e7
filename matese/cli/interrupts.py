"""Ctrl-C: an exception of ours, delayed where a library must not be interrupted. Imports the standard library alone."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from threading import current_thread, main_thread
from typing import NoReturn


class CtrlC(KeyboardInterrupt):
    """The user pressed Ctrl-C.

    If a plain KeyboardInterrupt passes through `exec`, which every import uses, the interpreter later ends with the
    signal instead of our exit code, even if the exception was caught.
    """


@contextlib.contextmanager
def raising_ctrl_c() -> Iterator[None]:
    """Lets Ctrl-C raise `CtrlC` in the body, unless the process ignores it or has another handler."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler or current_thread() is not main_thread():
        yield
        return
    signal.signal(signal.SIGINT, _raise_ctrl_c)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextlib.contextmanager
def deferring_ctrl_c() -> Iterator[None]:
    """Delays Ctrl-C until the body ends: a signal while torch loads its C++ libraries aborts the process."""
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or current_thread() is not main_thread():
        yield
        return
    pending: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: pending.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if pending:
        handler(pending[0], None)


def is_caused_by_ctrl_c(error: BaseException | None) -> bool:
    """Whether Ctrl-C caused an error: an interrupt while a library is loading may turn into another exception."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _raise_ctrl_c(number: int, frame: object) -> NoReturn:
    raise CtrlC

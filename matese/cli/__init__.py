"""The command line: exit codes, Ctrl-C, and standard output in UTF-8.

Exit codes: 0 success; 1 a check failed; 2 an error that the user can fix (one line on stderr); 70 a bug in this package
(with its traceback); 130 Ctrl-C; 141 the reader of the output closed its pipe (128 + SIGPIPE, as shells report it).

Only the standard library is imported before Ctrl-C is handled, and nothing heavy before a command needs it:
`matese --help` answers at once.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from typing import NoReturn

BAD_INPUT = 2
FAULT = 70
INTERRUPTED = 130
CLOSED_PIPE = 141


class CtrlC(KeyboardInterrupt):
    """The user pressed Ctrl-C.

    If a plain KeyboardInterrupt passes through `exec`, which every import uses, the interpreter later ends with the
    signal instead of our exit code, even if the exception was caught.
    """


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code; `argv` has no program name; None for the arguments of the process."""
    try:
        with raising_ctrl_c():
            return _run(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(argv: Sequence[str]) -> int:
    from matese.cli import messages

    use_utf8()
    try:
        return _command(argv)
    except BrokenPipeError:
        return CLOSED_PIPE
    except Exception as error:
        if is_caused_by_ctrl_c(error):
            return INTERRUPTED
        problem = messages.describe(error)
        if problem is None:
            traceback.print_exc()
            return FAULT
        messages.error(problem)
        return BAD_INPUT
    finally:
        discard_unwritten_output()


def _command(argv: Sequence[str]) -> int:
    from matese.cli import messages, options
    from matese.files import naming

    try:
        args = options.parse(argv)
    except SystemExit as end:  # --help
        code = int(end.code or 0)
    else:
        if args.version:
            _print_version()
            code = 0
        else:
            with messages.muted(args.quiet):
                code = options.command(args.command).run(args) or 0
    if sys.stdout is not None:
        with naming("standard output"):  # report a full disk or a closed pipe here, not when the interpreter ends
            sys.stdout.flush()
    return code


def _print_version() -> None:
    from matese.model.storage import checkpoint
    from matese.version import __version__

    model = f"mini@{checkpoint.fingerprint(checkpoint.resolve('mini'))}"
    print(f"matese {__version__}\nmatese|model:{model}|version:{__version__}")


@contextlib.contextmanager
def raising_ctrl_c() -> Iterator[None]:
    """Lets Ctrl-C raise `CtrlC` in the body, unless the process ignores it or has another handler."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler or not _is_main_thread():
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
    if not callable(handler) or not _is_main_thread():
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


def use_utf8() -> None:
    r"""Makes standard output UTF-8 with "\n" as line end; characters without a UTF-8 form are escaped."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def discard_unwritten_output() -> None:
    """Drops output that cannot be written, so that the interpreter does not try again when it ends."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, sys.stdout.fileno())
        os.close(devnull)


def _raise_ctrl_c(number: int, frame: object) -> NoReturn:
    raise CtrlC


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()

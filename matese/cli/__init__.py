"""The command line: exit codes, Ctrl-C, and standard output in UTF-8.

Exit codes: 0 success; 1 a check failed; 2 an error that the user can fix (one line on stderr); 70 a bug in this package
(with its traceback); 130 Ctrl-C; 141 the reader of the output closed its pipe (128 + SIGPIPE, as shells report it).

Only the standard library is imported before Ctrl-C is handled, and nothing heavy before a command needs it:
`matese --help` answers at once.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from typing import TextIO

from matese.cli.interrupts import is_caused_by_ctrl_c, raising_ctrl_c

FAILED = 1
BAD_INPUT = 2
FAULT = 70
INTERRUPTED = 130
CLOSED_PIPE = 141
_OF_RATINGS = ("agreement", "compare", "convert", "correlate", "evaluate", "gate", "info", "report", "score")
"""Commands that read files of ratings, and end."""
_OF_TRAINING = ("distil", "train")
_NEW_OBJECTS = 1_000_000
"""How many, less those that are gone, start a garbage collection there: those of some hundred thousand rows."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code; `argv` has no program name; None for the arguments of the process."""
    try:
        with raising_ctrl_c():
            return _run(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt as stopped:
        message = str(stopped)  # how to resume a training
        if message and os.environ.get("LOCAL_RANK", "0") == "0":
            print(message, file=sys.stderr)
        return INTERRUPTED


@contextlib.contextmanager
def _rare_collections() -> Iterator[None]:
    """Makes garbage collections rare in the body: in ratings they find nothing, but take a third of the time."""
    usual = gc.get_threshold()
    gc.set_threshold(_NEW_OBJECTS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


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
    from matese.cli import fields, messages, options
    from matese.files import naming
    from matese.tasks import notices

    try:
        args = options.parse(argv)
    except SystemExit as end:  # --help
        code = int(end.code or 0)
    else:
        if args.version:
            _print_version()
            code = 0
        else:
            task = options.command(args.command)
            collecting = _rare_collections() if args.command in _OF_RATINGS else contextlib.nullcontext()
            if args.command in _OF_TRAINING:
                import rich

                rich.reconfigure(stderr=True)  # the console that Lightning's progress bar uses
            with messages.muted(args.quiet), notices.heard_by(messages), collecting:
                request = fields.request(task.Request, {**vars(args), "scores_only": args.quiet})
                result = task.run(request, _standard_output())
            code = 0 if getattr(result, "passed", True) else FAILED
    if sys.stdout is not None:
        with naming("standard output"):  # report a full disk or a closed pipe here, not when the interpreter ends
            sys.stdout.flush()
    return code


def _standard_output() -> TextIO:
    if sys.stdout is None:
        from matese.errors import UsageError

        raise UsageError("standard output is closed; give --output FILE")
    return sys.stdout


def _print_version() -> None:
    from matese.model.storage import checkpoint
    from matese.version import __version__

    model = f"mini@{checkpoint.fingerprint(checkpoint.resolve('mini'))}"
    print(f"matese {__version__}\nmatese|model:{model}|version:{__version__}")


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

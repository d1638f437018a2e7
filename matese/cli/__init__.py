"""The command line. Nothing heavy is imported before a command needs it: `matese --help` answers at once.

Exit codes: 0 done, 1 a check that failed, 2 bad usage or bad input (one line on stderr), 70 a fault of this package
(with its traceback), 130 ended by Ctrl-C, 141 the reader of the output closed its pipe (as the shell has it for
programs that SIGPIPE ends).
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

from matese.cli import interrupts

BAD_INPUT, FAULT, INTERRUPTED, CLOSED_PIPE = 2, 70, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code.

    Args:
        argv: the arguments without the program's name; None for those of the process.
    """
    try:
        with interrupts.raised():
            return _run(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(argv: Sequence[str]) -> int:
    # Imported here, so that Ctrl-C is quiet from the start.
    from matese.cli import errors, streams

    streams.use_utf8()
    try:
        return _command(argv)
    except BrokenPipeError:
        return CLOSED_PIPE
    except Exception as error:
        if errors.is_interrupt(error):
            return INTERRUPTED
        problem = errors.describe(error)
        if problem is None:
            traceback.print_exc()
            return FAULT
        streams.say_error(problem)
        return BAD_INPUT
    finally:
        streams.abandon()


def _command(argv: Sequence[str]) -> int:
    from matese.cli import parser, streams

    try:
        args = parser.parse(argv)
    except SystemExit as end:  # --help and --version
        code = int(end.code or 0)
    else:
        code = parser.command(args.command).run(args)
    # What a full disk or a closed pipe makes of the last lines is told here and not when the interpreter ends.
    streams.flush()
    return code

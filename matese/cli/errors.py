"""What is told of an error in one line, and which errors are told so."""

from __future__ import annotations

import errno
from types import TracebackType
from typing import cast

# What is wrong and what is allowed.
_REASONS = {
    errno.ENOENT: ("no such file or directory", "must exist"),
    errno.ENOTDIR: ("part of the path is not a directory", "must be one"),
    errno.EISDIR: ("is a directory", "must be a file"),
    errno.EACCES: ("permission denied", "must be open to this user"),
    errno.EPERM: ("permission denied", "must be open to this user"),
    errno.EROFS: ("file system is read-only", "must be writable"),
    errno.ENOSPC: ("no space left on the disk", "must have room for all of the output"),
    errno.EDQUOT: ("disk quota exceeded", "must have room for all of the output"),
    errno.EADDRINUSE: ("address already in use", "must be free"),
    errno.EADDRNOTAVAIL: ("no address of this machine", "must be one"),
}


class UsageError(ValueError):
    """The command line asks for what is not there."""


def reason(error: OSError) -> str:
    """Returns what is wrong.

    >>> reason(OSError(errno.EISDIR, "Is a directory"))
    'is a directory'
    """
    return _REASONS.get(error.errno or 0, ((error.strerror or str(error)).lower(), ""))[0]


def is_interrupt(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind an error: what it strikes while a library is loading may turn it into another."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def describe(error: Exception) -> str | None:
    """Returns the one line that tells of an error, None for a fault of the program, whose traceback is wanted.

    Bad input is a ValueError that this package raised, or what the system says of a file. A ValueError from within
    another library is a fault of ours: it should have been caught, or checked for, where it entered.
    """
    if isinstance(error, OSError) and error.errno is not None:
        allowed = _REASONS.get(error.errno, ("", "must be readable, or writable where it is written"))[1]
        place = "" if error.filename is None else f"{_name(error.filename)}: "
        return f"{place}{reason(error)}: {allowed}"
    if isinstance(error, ValueError) and _module(error.__traceback__).split(".")[0] == "matese":
        return str(error)
    if type(error).__name__ == "OutOfMemoryError":  # torch's, which is not imported for this
        return "out of memory on the device: must hold the model and one batch; try a smaller --batch-tokens"
    return None


def _name(filename: object) -> str:
    return filename.decode("utf-8", "backslashreplace") if isinstance(filename, bytes) else str(filename)


def _module(traceback: TracebackType | None) -> str:
    """Returns the module in which the error was raised."""
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return "" if traceback is None else cast(str, traceback.tb_frame.f_globals.get("__name__", ""))

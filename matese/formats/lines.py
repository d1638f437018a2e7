"""Text files line by line, and how their faults are told.

A line ends at a line feed and nowhere else, so that line i of every file stays one segment whatever characters it
holds. One carriage return before the line feed belongs to the line end, and a byte order mark at the start to none.
"""

from __future__ import annotations

import contextlib
import gzip
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, Literal, cast

_GZIP_MAGIC = b"\x1f\x8b"
_BOM = "\ufeff"
LONGEST_LINE = 1 << 28
"""Bytes; a small archive can hold a line that no memory holds."""


class FormatError(ValueError):
    """A file does not hold what its format asks for.

    >>> str(FormatError("ted.tsv", 118, "<v> without </v> in target"))
    'ted.tsv:118: <v> without </v> in target'

    Attributes:
        path: the file, as it was given.
        line: counted from 1; None where the file as a whole is meant.
        problem: what is wrong and what is allowed.
    """

    def __init__(self, path: str, line: int | None, problem: str) -> None:
        # All arguments reach ValueError, so that the error can be copied and pickled (it may cross processes).
        super().__init__(path, line, problem)
        self.path = path
        self.line = line
        self.problem = problem

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.problem}"


@dataclass(frozen=True, slots=True)
class Note:
    """What a reader did with a row that is not as its format says.

    Attributes:
        kind: "skipped": the row is not in the ratings; "repaired": it is, not as it was written.
        reason: a short text, the same for all rows of one fault, to count by.
        path: the file, as it was given.
        line: counted from 1.
    """

    kind: Literal["skipped", "repaired"]
    reason: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Faults:
    """Where a reader brings the faults of one file: a FormatError where nobody listens, otherwise a note.

    Attributes:
        path: the file, as it was given.
        report: is called with each note; None to read strictly.
    """

    path: str
    report: Callable[[Note], None] | None

    def skip(self, line: int, reason: str, allowed: str) -> None:
        """Notes that a row is left out.

        Raises:
            FormatError: where the file is read strictly; it says `reason` and what is `allowed`.
        """
        self._tell(Note("skipped", reason, self.path, line), allowed)

    def repair(self, line: int, reason: str, allowed: str) -> None:
        """Notes that a row is used in part or otherwise than written.

        Raises:
            FormatError: where the file is read strictly; it says `reason` and what is `allowed`.
        """
        self._tell(Note("repaired", reason, self.path, line), allowed)

    def repair_as_asked(self, line: int, reason: str) -> None:
        """Notes a repair that an option of the reader asked for, which is no error where the file is read strictly."""
        if self.report is not None:
            self.report(Note("repaired", reason, self.path, line))

    def _tell(self, note: Note, allowed: str) -> None:
        if self.report is None:
            raise FormatError(note.path, note.line, f"{note.reason}: {allowed}")
        self.report(note)


def name_of(path: str | Path) -> str:
    """Returns how messages call the file."""
    return "standard input" if str(path) == "-" else str(path)


def read_lines(path: str | Path) -> Iterator[str]:
    r"""Yields the lines of a UTF-8 text file, without their line ends ("\n" or "\r\n") and otherwise unchanged.

    Args:
        path: a file, compressed by gzip or not; "-" for standard input (not compressed).

    Raises:
        FormatError: where the text is not UTF-8 or the compressed data are damaged.
        OSError: where the file cannot be opened or read.
    """
    name, number = name_of(path), 0
    with open_binary(path) as stream:
        try:
            for number, raw in enumerate(iter(partial(stream.readline, LONGEST_LINE + 1), b""), start=1):
                if len(raw) > LONGEST_LINE:
                    raise FormatError(name, number, f"line is longer than {LONGEST_LINE:,} bytes: must be shorter")
                line = _decode(raw, name, number)
                yield line.removeprefix(_BOM) if number == 1 else line
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FormatError(name, number + 1, f"gzip data are cut off or damaged ({error}): must be whole") from None


@contextlib.contextmanager
def open_binary(path: str | Path) -> Iterator[BinaryIO]:
    """Opens a file for reading bytes, decompressed; standard input stays open afterwards."""
    if str(path) == "-":
        yield sys.stdin.buffer
        return
    with open(path, "rb") as stream:
        # The magic number cannot begin a UTF-8 text, so that a compressed file may have any name.
        is_compressed = stream.peek(2).startswith(_GZIP_MAGIC) or str(path).endswith(".gz")
        if is_compressed:
            with gzip.open(stream, "rb") as decompressed:
                yield cast(BinaryIO, decompressed)
        else:
            yield stream


def _decode(raw: bytes, name: str, number: int) -> str:
    if raw.endswith(b"\n"):
        raw = raw[:-1].removesuffix(b"\r")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"byte {raw[error.start]:#04x} at position {error.start} is not UTF-8: must be UTF-8 text"
        raise FormatError(name, number, problem) from None

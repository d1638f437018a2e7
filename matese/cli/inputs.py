"""The text files of a command: read once to check them all before any work, then line by line as the work goes on."""

from __future__ import annotations

import os
import stat
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from matese.annotation import Segment, SegmentKey
from matese.cli.errors import UsageError, reason
from matese.formats.lines import FormatError, name_of, read_lines

STDIN = "-"


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file that was read once and found good.

    Attributes:
        path: as it was given.
        n_lines: how many segments it holds.
        held: its lines, where it cannot be read again (standard input, a pipe); None for a file.
    """

    path: str
    n_lines: int
    held: tuple[str, ...] | None = None

    def lines(self) -> Iterator[str]:
        """Yields the lines.

        Raises:
            FormatError: if there are no longer as many as there were.
        """
        if self.held is not None:
            yield from self.held
            return
        number = 0
        for number, line in enumerate(read_lines(self.path), start=1):
            if number <= self.n_lines:
                yield line
        if number != self.n_lines:
            problem = f"changed from {_counted(self.n_lines)} to {number:,} while it was read: must stay as it is"
            raise FormatError(self.path, None, problem)


@dataclass(frozen=True, slots=True)
class System:
    """What one system translated. Its name is in the output."""

    name: str
    hypotheses: TextFile


@dataclass(frozen=True, slots=True)
class Texts:
    """Hypotheses of one or several systems and what they are compared with; line i of each is one segment."""

    systems: tuple[System, ...]
    references: tuple[TextFile, ...]
    source: TextFile | None

    @property
    def n_segments(self) -> int:
        """How many segments each system has."""
        return self.systems[0].hypotheses.n_lines

    def segments(self, system: System) -> Iterator[Segment]:
        """Yields the segments of a system, read as they are asked for."""
        files = [system.hypotheses, *self.references, *([self.source] if self.source else [])]
        for index, (hypothesis, *contexts) in enumerate(zip(*(file.lines() for file in files), strict=True)):
            source = contexts.pop() if self.source else None
            yield Segment(hypothesis, source, tuple(contexts), SegmentKey(system=system.name, index=index))


def read(
    hypotheses: Sequence[str], references: Sequence[str], sources: Sequence[str], *, is_alone: bool = False
) -> Texts:
    """Returns the texts of a command, each read to its end and found good.

    Args:
        hypotheses: one path a system; "-" is standard input, here as below.
        references: any number of paths.
        sources: at most one path.
        is_alone: whether hypotheses may stand alone.

    Raises:
        UsageError: if neither a reference nor a source is given, or a file too often.
        FormatError: if a file is missing, unreadable, empty or not UTF-8.
        ValueError: if the files differ in length.
    """
    if not references and not sources and not is_alone:
        raise UsageError("neither --ref nor --src is given: must be --ref FILE, --src FILE or both, to compare with")
    _check_usage(hypotheses, references, sources)
    files = [_open("--hyp", path) for path in hypotheses]
    contexts = [_open("--ref", path) for path in references]
    source = _open("--src", sources[0]) if sources else None
    _check_lengths([*files, *contexts, *([source] if source else [])])
    names = system_names(hypotheses)
    systems = tuple(System(name, file) for name, file in zip(names, files, strict=True))
    return Texts(systems, tuple(contexts), source)


def system_names(paths: Sequence[str]) -> list[str]:
    """Returns what the systems are called: the files' names without their last suffix; where equal, the paths.

    >>> system_names(["out/online-A.de.txt", "-"]), system_names(["a/mt.txt", "b/mt.txt", "c.txt"])
    (['online-A.de', 'stdin'], ['a/mt.txt', 'b/mt.txt', 'c'])
    """
    stems = ["stdin" if path == STDIN else PurePath(path).stem for path in paths]
    counts = Counter(stems)
    names = [path if counts[stem] > 1 else stem for path, stem in zip(paths, stems, strict=True)]
    # A path without a directory can be what another file's name is without its suffix: "mt" beside "mt.a" and "mt.b".
    chosen = names if len(set(names)) == len(names) else paths
    # A file's name need not be UTF-8, but what is written is.
    return [name.encode("utf-8", "backslashreplace").decode("utf-8") for name in chosen]


def _check_usage(hypotheses: Sequence[str], references: Sequence[str], sources: Sequence[str]) -> None:
    if len(sources) > 1:
        raise UsageError(f"--src is given {len(sources)} times: must be one file, the source of every system")
    given = [*hypotheses, *references, *sources]
    if given.count(STDIN) > 1:
        raise UsageError(f"- is given {given.count(STDIN)} times: standard input must be one file at most")
    path, count = Counter(hypotheses).most_common(1)[0]
    if count > 1:
        raise UsageError(f"--hyp {path} is given {count} times: each system must be given once")


def _open(option: str, path: str) -> TextFile:
    """Reads a file to its end. What can be read only once is held in memory."""
    name, allowed = name_of(path) or repr(path), f"{option} must be a text file of one segment a line"
    if path == STDIN and (sys.stdin is None or sys.stdin.closed):
        raise FormatError(name, None, f"is closed: {allowed}")
    try:
        if path != STDIN and stat.S_ISREG(os.stat(path).st_mode):
            held, n_lines = None, sum(1 for _ in read_lines(path))
        else:
            held = tuple(read_lines(path))
            n_lines = len(held)
    except OSError as error:
        raise FormatError(name, None, f"{reason(error)}: {allowed}") from None
    if n_lines == 0:
        raise FormatError(name, None, f"file is empty: {allowed}")
    return TextFile(path, n_lines, held)


def _check_lengths(files: Sequence[TextFile]) -> None:
    first = files[0]
    for other in files[1:]:
        if other.n_lines != first.n_lines:
            raise ValueError(
                f"{name_of(first.path)} has {_counted(first.n_lines)} and {name_of(other.path)} {other.n_lines:,}: "
                "line i of each must be one segment"
            )


def _counted(n_lines: int) -> str:
    return f"{n_lines:,} line" + "s" * (n_lines != 1)

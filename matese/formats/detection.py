"""Which of the formats a file of ratings is in, by how it begins; and reading it whatever it is."""

from __future__ import annotations

import gzip
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from matese.annotation import Rating
from matese.formats.format import Reading, Start
from matese.formats.lines import FormatError, Note, name_of, open_binary
from matese.formats.settings import one_of
from matese.formats.table import BY_NAME, READ, TABLE

_HEAD_BYTES = 1 << 14


def detect(path: str | Path) -> str:
    """Returns the name of a file's format. What can be read only once (standard input, a pipe) is taken for JSONL.

    Raises:
        FormatError: if it is in none of them.
        OSError: where the file cannot be read.
    """
    if str(path) == "-" or not (os.path.isdir(path) or stat.S_ISREG(os.stat(path).st_mode)):
        return "jsonl"
    start = _start(path)
    if not start.text and not start.files:
        what = "folder" if os.path.isdir(path) else "file"
        raise FormatError(name_of(path), None, f"{what} is empty: must hold ratings, one or more")
    found = next((one.name for one in TABLE if one.read is not None and one.begins(start)), None)
    if found is None:
        line = None if start.files else 1
        allowed = f"must be {one_of(READ)}"
        raise FormatError(name_of(path), line, f"not the beginning of a file of ratings: {allowed}")
    return found


def read(
    path: str | Path,
    *,
    report: Callable[[Note], None] | None = None,
    test_set: str | None = None,
    lang_pair: str | None = None,
    end_shift: int = 0,
    single_characters: bool = False,
) -> Iterator[Rating]:
    """Yields the ratings of a file in any format that can be read.

    JSONL says of itself where its segments stand; the options are for the others. See `mqm_tsv.read` and
    `error_spans.read`, for which the last two are.

    Raises:
        FormatError: if it is in none of the formats; else as the format's own reader.
        OSError: where the file cannot be read.
    """
    return read_as(path, detect(path), Reading(report, test_set, lang_pair, end_shift, single_characters))


def read_as(path: str | Path, name: str, reading: Reading) -> Iterator[Rating]:
    """Yields the ratings of a file in the format of this name.

    Raises:
        ValueError: if that cannot be read; else as the format's own reader.
    """
    form = BY_NAME[name]
    if form.read is None:
        raise ValueError(f"{name} is only written: must be {one_of(READ)}")
    return form.read(path, reading)


def _start(path: str | Path) -> Start:
    """Returns how a file or folder begins."""
    name = Path(path).name
    if os.path.isdir(path):
        # The names of thousands of files tell no more than those of some.
        with os.scandir(path) as entries:
            return Start(name, files=tuple(sorted(entry.name for entry in islice(entries, 1000))))
    try:
        with open_binary(path) as stream:
            head = stream.read(_HEAD_BYTES)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        problem = f"gzip data are cut off or damaged ({error}): must be whole"
        raise FormatError(name_of(path), None, problem) from None
    return Start(name, head.decode("utf-8-sig", "replace"))

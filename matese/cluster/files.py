"""The files that are read, local or at any URL that fsspec knows, and how they are cut into units.

A unit is what a worker does at once and what is done again when the worker dies: some row groups of a Parquet file, or
the lines that begin within some bytes of a JSONL file. Each unit has a file of results of its own, so that nothing is
written by two, and what is there need not be done again.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from matese.formats.lines import FormatError

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

UNIT_BYTES = 16 << 20
"""Of a file, in one unit: some ten thousand segments."""
Kind = Literal["jsonl", "parquet"]
_SUFFIXES: dict[str, Kind] = {".jsonl": "jsonl", ".jsonl.gz": "jsonl", ".parquet": "parquet"}


@dataclass(frozen=True, slots=True)
class Unit:
    """Rows of one file, and where what is said of them goes.

    Attributes:
        source: URL of the file that is read.
        start: JSONL: the first byte at which a line may begin; Parquet: the first row group.
        stop: JSONL: one past the last such byte, None for the end of a compressed file; Parquet: one past the
            last group.
        target: URL of the file that is written.
    """

    source: str
    start: int
    stop: int | None
    target: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run has to do.

    Attributes:
        kind: of the files that are read.
        versions: each of them, by its path below their common folder, and what changes when it changes.
        units: in the order of the files and of their rows.
    """

    kind: Kind
    versions: dict[str, str]
    units: tuple[Unit, ...]


def locate(url: str) -> tuple[AbstractFileSystem, str]:
    """Returns the file system of a path or URL, and its path there.

    Raises:
        ValueError: if fsspec does not know it, or lacks the package that it takes.
    """
    from fsspec.core import url_to_fs

    try:
        system, path = url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise ValueError(f"{url}: {error}: must be a local path, or a URL that fsspec can open here") from None
    return system, path


def plan(given: str, output: str, written: Kind | None = None, *, unit_bytes: int = UNIT_BYTES) -> Plan:
    """Returns the files of a folder, or those that a pattern such as `texts/*.parquet` matches, cut into units.

    Args:
        given: a file, a folder, or a pattern; a path or a URL.
        output: the folder that is written, a path or a URL.
        written: in which form; None for that of the files.
        unit_bytes: of a file, in one unit.

    Raises:
        ValueError: if there is no file, or one that is neither JSONL nor Parquet, or both kinds; or if what is
            written would be read the next time.
        OSError: if one cannot be read.
    """
    system, path = locate(given)
    other, folder = locate(output)
    if system.isdir(path) and type(other) is type(system) and f"{folder}/".startswith(f"{path}/"):
        raise ValueError(f"--output {output} is in --input {given}: must be another folder")
    found = _found(system, path)
    if not found:
        raise ValueError(
            f"--input {given} has no files: must be a file, a folder of files or a pattern that matches some"
        )
    kinds = {_kind(name): name for name in found}
    if len(kinds) > 1:
        raise ValueError(f"--input {given} has {' and '.join(kinds.values())}: must all be JSONL or all be Parquet")
    (kind,) = kinds
    root = posixpath.commonpath([posixpath.dirname(name) for name in found])
    versions: dict[str, str] = {}
    units: list[Unit] = []
    for name in found:
        below = posixpath.relpath(name, root)
        versions[below] = system.ukey(name)
        stem = below.removesuffix(_suffix(name))
        source = system.unstrip_protocol(name)
        for number, (start, stop) in enumerate(_pieces(system, name, kind, unit_bytes)):
            target = f"{other.unstrip_protocol(folder)}/{stem}-{number:05d}.{written or kind}"
            units.append(Unit(source, start, stop, target))
    return Plan(kind, versions, tuple(units))


def _found(system: AbstractFileSystem, path: str) -> list[str]:
    if system.isdir(path):
        return sorted(system.find(path))
    if system.isfile(path):
        return [path]
    return sorted(name for name in system.glob(path) if system.isfile(name))


def _suffix(name: str) -> str:
    return max((suffix for suffix in _SUFFIXES if name.endswith(suffix)), default="")


def _kind(name: str) -> Kind:
    if not (suffix := _suffix(name)):
        raise ValueError(f"{name}: must end in {', '.join(_SUFFIXES)}; a pattern such as 'texts/*.jsonl' chooses files")
    return _SUFFIXES[suffix]


def _pieces(system: AbstractFileSystem, name: str, kind: Kind, unit_bytes: int) -> Iterator[tuple[int, int | None]]:
    """Yields the beginnings and ends of the units of a file."""
    if kind == "parquet":
        sizes = _row_groups(system, name)
        yield from _gathered(sizes, unit_bytes)
    elif name.endswith(".gz"):
        yield 0, None
    else:
        size = system.size(name)
        yield from ((start, min(start + unit_bytes, size)) for start in range(0, size, unit_bytes))


def _row_groups(system: AbstractFileSystem, name: str) -> list[int]:
    import pyarrow
    from pyarrow import parquet

    try:
        with system.open(name, "rb") as file:
            data: Any = parquet.ParquetFile(file).metadata
            return [data.row_group(number).total_byte_size for number in range(data.num_row_groups)]
    except pyarrow.ArrowInvalid as error:
        raise FormatError(name, None, f"no Parquet file ({error}): must be whole") from None


def _gathered(sizes: Sequence[int], most: int) -> Iterator[tuple[int, int]]:
    """Yields ranges of neighbours that are together no larger than `most`, or one alone.

    >>> list(_gathered([3, 3, 9, 1], 6)), list(_gathered([], 6))
    ([(0, 2), (2, 3), (3, 4)], [])
    """
    start, total = 0, 0
    for number, size in enumerate(sizes):
        if number > start and total + size > most:
            yield start, number
            start, total = number, 0
        total += size
    if start < len(sizes):
        yield start, len(sizes)

"""Files of segments and of ratings, on a disk or at any URL that fsspec can open."""

from __future__ import annotations

import posixpath
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from matese import mqm
from matese.annotation import Rating, Segment
from matese.errors import FormatError, InputError, one_of
from matese.formats import detection, writing
from matese.formats.format import Columns, ReadOptions, WriteOptions
from matese.formats.registry import BY_NAME, ENDINGS

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_KINDS = {
    f"{ending}{packing}": names[0]
    for ending, names in ENDINGS.items()
    if BY_NAME[names[0]].is_for_large_jobs
    for packing in ("", ".gz")
}


def locate(url: str) -> tuple[AbstractFileSystem, str]:
    """Returns the file system of a path or URL and the path there; an InputError if fsspec cannot open it here."""
    from fsspec.core import url_to_fs

    try:
        system, path = url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise InputError(f"{url}: {error}: must be a local path, or a URL that fsspec can open here") from None
    return system, path


def find(source: str, output: str, kind: str | None = None) -> dict[str, str]:
    """Returns the URLs of the results by the URLs of the files, sorted.

    Args:
        source: a file, a folder, or a pattern such as `texts/*.parquet`; a path or a URL.
        output: path or URL of the folder for the results.
        kind: "jsonl", "parquet", "csv" or "tsv"; None for the kind of each file.

    Raises:
        InputError: if there is no file, one of another kind, or one that would be written twice or read next time.
    """
    system, path = locate(source)
    target_system, folder = locate(output)
    if system.isdir(path) and type(target_system) is type(system) and f"{folder}/".startswith(f"{path}/"):
        raise InputError(f"--output {output} is in --input {source}; choose another folder")
    names = sorted(system.find(path) if system.isdir(path) else system.glob(path))
    if not names:
        raise InputError(f"--input {source} has no files; give a file, a folder or a pattern that matches files")
    root = posixpath.commonpath([posixpath.dirname(name) for name in names])
    targets: dict[str, str] = {}
    written: set[str] = set()
    for name in names:
        suffix = next((suffix for suffix in reversed(_KINDS) if name.endswith(suffix)), None)
        if suffix is None:
            allowed = f"must end in {one_of(tuple(_KINDS))}; a pattern such as 'texts/*.jsonl' selects files"
            raise InputError(f"{name}: {allowed}")
        stem = posixpath.relpath(name, root).removesuffix(suffix)
        target = f"{target_system.unstrip_protocol(folder)}/{stem}.{kind or _KINDS[suffix]}"
        if target in written:
            raise InputError(f"two files, {name} and another, would be written to {target}; rename one of them")
        written.add(target)
        targets[system.unstrip_protocol(name)] = target
    return targets


def read(url: str, columns: Columns) -> Iterator[Segment]:
    """Yields the segments of a table, which is copied to this machine first."""
    system, path = locate(url)
    with tempfile.TemporaryDirectory() as folder:
        local = Path(folder, posixpath.basename(path))
        system.get_file(path, str(local))
        try:
            yield from (rating.segment for rating in detection.read(local, ReadOptions(columns=columns)))
        except FormatError as error:
            raise FormatError(url, error.line, error.problem) from None


def write(ratings: Iterable[Rating], url: str, weights: mqm.Weights) -> None:
    """Writes ratings in the format of the URL's ending (JSONL, Parquet, CSV, TSV), atomically."""
    system, target = locate(url)
    parent, name = posixpath.split(target)
    with tempfile.TemporaryDirectory() as folder:
        local = Path(folder, name)
        writing.write(ratings, local, local.suffix[1:], WriteOptions(weights))
        system.makedirs(parent, exist_ok=True)
        part = f"{parent}/.{name}.part"  # a copy can be cut off; moving it within a folder cannot
        system.put_file(str(local), part)
        system.mv(part, target)

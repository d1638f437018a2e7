"""Download the raw files listed in `raw_files.tsv`; see `python -m data_prep download --help`."""

from __future__ import annotations

import csv
import tarfile
import tempfile
import urllib.parse
import zlib
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from data_prep.store import Store
from matese.errors import FormatError, InputError

RAW_FILES = Path(__file__).with_name("raw_files.tsv")
"""The committed list: a row for each file of every source of data."""
BASE_URL = "https://raw.githubusercontent.com"
_TIMEOUT = 60
"""Seconds to wait for an answer."""


@dataclass(frozen=True, slots=True)
class RawFile:
    """A raw file and where it is published."""

    file: str  # path in the output folder
    repository: str  # on GitHub, "owner/name"
    commit: str
    path: str  # of the file, or of the archive that contains it, in the repository
    member: str  # name in the archive; "" if the file is not in an archive
    sha256: str
    licence: str  # of the repository

    def url(self, base_url: str) -> str:
        """Returns the address of the file or of its archive."""
        path = urllib.parse.quote(f"{self.repository}/{self.commit}/{self.path}")
        return f"{base_url.rstrip('/')}/{path}"


def read_list(path: Path) -> tuple[RawFile, ...]:
    """Returns the files of a list.

    Raises:
        FormatError: if a row does not have the columns of the list.
    """
    columns = [field.name for field in fields(RawFile)]
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    for number, row in enumerate(rows or [[]], start=1):
        if len(row) != len(columns) or (number == 1 and row != columns):
            raise FormatError(str(path), number, f"must be {' '.join(columns)}, separated by tabs")
    return tuple(RawFile(*row) for row in rows[1:])


def fetch(
    raw: RawFile,
    output: Path,
    *,
    copies: Path | None = None,
    base_url: str = BASE_URL,
    retries: int = 2,
) -> bool:
    """Fetches a file into the output folder, unless it is already there; returns whether it had to be fetched.

    The file comes from the server, or from a folder with copies in one of the layouts of `data_prep.store`.

    Raises:
        InputError: if the file differs from the listed one.
        OSError: if it cannot be downloaded, read or written.
    """
    import pooch

    pooch.get_logger().setLevel("WARNING")
    target = output / raw.file
    if target.is_file() and pooch.file_hash(str(target)) == raw.sha256:
        return False
    url = raw.url(base_url)
    manager = pooch.create(output, base_url, registry={raw.file: f"sha256:{raw.sha256}"}, urls={raw.file: url})
    manager.retry_if_failed = 0 if copies else retries
    download = pooch.HTTPDownloader(timeout=_TIMEOUT)
    if copies is not None:
        download = _from_copies(raw, copies)
        url = str(copies)
    elif raw.member:
        download = _from_archive(raw, download)
    try:
        manager.fetch(raw.file, downloader=download)
    except ValueError as error:
        raise InputError(f"{url}: {error}") from None
    return True


def _from_copies(raw: RawFile, copies: Path) -> Callable[..., None]:
    """Returns a downloader of pooch that copies a file."""

    def copy(_url: str, output_file: str, _pooch: Any) -> None:  # noqa: ANN401  (pooch has no types)
        Path(output_file).write_bytes(Store(copies).read(raw.file))

    return copy


def _from_archive(raw: RawFile, download: Callable[..., None]) -> Callable[..., None]:
    """Returns a downloader of pooch that downloads an archive and extracts one file."""

    def extract(url: str, output_file: str, manager: Any) -> None:  # noqa: ANN401  (pooch has no types)
        with tempfile.TemporaryDirectory() as folder:
            archive = Path(folder) / "archive"
            download(url, str(archive), manager)
            try:
                with tarfile.open(archive) as members:
                    stream = members.extractfile(raw.member)
                    if stream is None:
                        raise InputError(f"{raw.member} is not a file")
                    Path(output_file).write_bytes(stream.read())
            except (tarfile.TarError, EOFError, KeyError, zlib.error) as error:
                raise InputError(f"{error}: must be an archive that holds {raw.member}") from None

    return extract

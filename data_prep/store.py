"""Read the raw files from a folder with one of two layouts.

*Downloaded* (`python -m data_prep download`): plain files, such as `mqm/mqm_ted2021_ende.tsv` and
`wmt/newstest2021/txt/sources/newstest2021.en-de.src.en`. *Archived*: compressed files, such as
`mqm/mqm_ted2021_ende.tsv.gz`, and archives for folders, such as `wmt/newstest2021.tar.xz`.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import lzma
import tarfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from matese.errors import FormatError


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of raw files. All methods raise a FileNotFoundError if a file is missing."""

    root: Path

    def path(self, name: str) -> Path:
        """Returns the path of a file, plain or compressed with gzip."""
        plain = self.root / name
        for path in (plain, plain.with_name(f"{plain.name}.gz")):
            if path.is_file():
                return path
        raise FileNotFoundError(f"neither {plain} nor {plain.name}.gz exists; see `data_prep download`")

    def names(self, folder: str) -> tuple[str, ...]:
        """Returns the sorted relative paths of the files in a folder or its archive."""
        directory = self.root / folder
        if directory.is_dir():
            paths = (path for path in directory.rglob("*") if path.is_file())
            return tuple(sorted(path.relative_to(directory).as_posix() for path in paths))
        return tuple(sorted(_unpack(_archive_of(directory))))

    def texts(self, folder: str, names: Collection[str]) -> Mapping[str, tuple[str, ...]]:
        """Returns the lines of text files in a folder or its archive, by their path in the folder."""
        # Only "\n" ends a line: each line is a segment.
        with _damage_named(self.root / folder):
            return {name: tuple(self._read(folder, name).decode().removesuffix("\n").split("\n")) for name in names}

    def read(self, name: str) -> bytes:
        """Returns the content of any file, decompressed or from its archive."""
        parts = Path(name).parts
        if len(parts) > 2 and not (self.root / name).is_file():
            return self._read("/".join(parts[:2]), "/".join(parts[2:]))
        path = self.path(name)
        with _damage_named(path):
            content = path.read_bytes()
            return gzip.decompress(content) if path.name != Path(name).name else content

    def member(self, name: str, ending: str) -> str:
        """Returns the text of the first file with an ending in a file that is an archive itself (.tar.gz)."""
        with tarfile.open(fileobj=io.BytesIO(self.read(name)), mode="r:gz") as members:
            member = next((entry for entry in members if entry.isfile() and entry.name.endswith(ending)), None)
            stream = member and members.extractfile(member)
            if not stream:
                raise FormatError(name, None, f"has no file {ending}; it needs one")
            return stream.read().decode("utf-8")

    def _read(self, folder: str, name: str) -> bytes:
        directory = self.root / folder
        if (directory / name).is_file():
            return (directory / name).read_bytes()
        place = directory if directory.is_dir() else _archive_of(directory)
        members = {} if place == directory else _unpack(place)
        if name not in members:
            raise FileNotFoundError(f"{place} has no file {name}; see `data_prep download`")
        return members[name]


def _archive_of(directory: Path) -> Path:
    return directory.with_name(f"{directory.name}.tar.xz")


@contextlib.contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    """Turns the errors of damaged files into a FormatError that names the file."""
    try:
        yield
    except (EOFError, zlib.error, lzma.LZMAError, tarfile.TarError, UnicodeDecodeError) as error:
        raise FormatError(str(path), None, f"damaged ({error}); download the file again") from None


@lru_cache(maxsize=2)
def _unpack(archive: Path) -> Mapping[str, bytes]:
    """Returns the contents of all files in an archive. An archive can only be read sequentially."""
    if not archive.is_file():
        folder = archive.with_name(archive.name.removesuffix(".tar.xz"))
        raise FileNotFoundError(f"neither {folder} nor {archive.name} exists; see `data_prep download`")
    with _damage_named(archive), tarfile.open(archive, "r:xz") as members:
        streams = ((member.name.removeprefix("./"), members.extractfile(member)) for member in members)
        return {name: stream.read() for name, stream in streams if stream is not None}

"""Opening text files to read, and replacing files and directories atomically: the only place that does either.

A line ends at a line feed and nowhere else, so that line i of every file stays one segment whatever characters it
holds. One carriage return before the line feed belongs to the line end; a byte order mark at the start is skipped.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import gzip
import io
import os
import shutil
import stat
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path, PurePath
from typing import BinaryIO, TextIO, cast

from matese.errors import FormatError

IS_LFS_POINTER = "a Git LFS pointer, which only names the file: fetch the file itself with git lfs pull"
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_GZIP_MAGIC = b"\x1f\x8b"
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_TEMPORARY = ".matese-"
_OPEN_STREAMS = ("/dev/fd/", "/dev/stdout", "/dev/stderr", "/proc/")
LONGEST_LINE = 1 << 28
"""Bytes; a small archive can hold a line that fits into no memory."""
# By error number: what is wrong, and what is allowed.
_REASONS = {
    errno.ENOENT: ("no such file or directory", "check the path"),
    errno.ENOTDIR: ("part of the path is a file", "it must be a directory"),
    errno.EISDIR: ("is a directory", "give a file"),
    errno.EACCES: ("permission denied", "this user needs access to it"),
    errno.EPERM: ("permission denied", "this user needs access to it"),
    errno.EROFS: ("the file system is read-only", "write to another one"),
    errno.ENOSPC: ("no space left on the disk", "free some space, or write to another disk"),
    errno.EDQUOT: ("disk quota exceeded", "free some space, or write to another disk"),
    errno.EADDRINUSE: ("address already in use", "choose another --port"),
    errno.EADDRNOTAVAIL: ("not an address of this machine", "choose another --host"),
}


def name_of(path: str | Path) -> str:
    """Returns the name of the file in messages."""
    if str(path) == "-":
        return "standard input"
    is_given = f"{os.sep}ratings{os.sep}" in str(path) and Path(path).parent == given_ratings()
    return "ratings" if is_given else str(path)


def short_names(paths: Sequence[str]) -> list[str]:
    """Returns different names for files: without directory, ".gz" and last suffix; the paths if these are not unique.

    >>> short_names(["out/online-A.de.txt.gz", "-"]), short_names(["a/mt.txt", "b/mt.txt", "c.txt"])
    (['online-A.de', 'stdin'], ['a/mt.txt', 'b/mt.txt', 'c'])
    """
    stems = ["stdin" if path == "-" else PurePath(path.removesuffix(".gz")).stem for path in paths]
    counts = Counter(stems)
    names = [path if counts[stem] > 1 else stem for path, stem in zip(paths, stems, strict=True)]
    # A path without a directory can equal another file's name without its suffix: "mt" beside "mt.a" and "mt.b".
    unique_names = names if len(set(names)) == len(names) else paths
    # A file name need not be UTF-8, but output is.
    return [name.encode("utf-8", "backslashreplace").decode("utf-8") for name in unique_names]


def abridged(names: Iterable[str]) -> str:
    """Returns the first of some names, with the number of those that are left out."""
    all_names = list(names)
    rest = f" and {len(all_names) - 5:,} more" if len(all_names) > 6 else ""
    return ", ".join(all_names[: 5 if rest else 6]) + rest


def read_lines(path: str | Path) -> Iterator[str]:
    r"""Yields the lines of a text file, without their line ends ("\n" or "\r\n") and otherwise unchanged.

    It is in UTF-8, or in UTF-16 with a byte order mark.

    Args:
        path: a plain or gzip-compressed file; "-" for standard input (not compressed).

    Raises:
        FormatError: if the text is not UTF-8 or the compressed data are damaged.
        OSError: if the file cannot be opened or read.
    """
    return (decode(raw, path, number) for number, raw in enumerate(read_raw_lines(path), start=1))


def decode(raw: bytes, path: str | Path, line: int = 1, *, encoding: str = "utf-8") -> str:
    """Returns the text of a file, or of a part of it, whose first line has the number `line`.

    Raises:
        FormatError: if it is not in its encoding, with the line where it is not.
    """
    try:
        text = raw.decode(encoding)
        if encoding != "utf-8":
            text.encode()  # some encodings can spell what is not Unicode
        return text
    except (LookupError, ValueError) as error:  # also for a name of an encoding with a null character
        problem = f"cannot be decoded ({error}): must be in the encoding that the file declares"
        if isinstance(error, UnicodeDecodeError):
            line += error.object[: error.start].decode(encoding, "ignore").count("\n")
            problem = not_utf8(error) if error.encoding == "utf-8" else problem
        raise FormatError(name_of(path), line, problem) from None


def read_raw_lines(path: str | Path) -> Iterator[bytes]:
    r"""Yields lines as `read_lines` does, but not decoded: in UTF-8, if the file is in it.

    Raises:
        FormatError: if the compressed data are damaged.
        OSError: if the file cannot be opened or read.
    """
    with open_binary(path) as stream:
        for number, raw in enumerate(iter(partial(stream.readline, LONGEST_LINE + 1), b""), start=1):
            if len(raw) > LONGEST_LINE:
                raise FormatError(name_of(path), number, f"line is longer than {LONGEST_LINE:,} bytes: must be shorter")
            if raw.endswith(b"\n"):
                raw = raw[:-1].removesuffix(b"\r")
            yield raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw


@contextlib.contextmanager
def open_binary(path: str | Path, *, keeps_utf16: bool = False) -> Iterator[BinaryIO]:
    """Opens a file for reading bytes, decompressed; standard input stays open afterwards.

    Args:
        path: of the file.
        keeps_utf16: whether a text in UTF-16 with a byte order mark is left as it is, as XML needs it, and not recoded
            to UTF-8.

    Raises:
        FormatError: in the body, if the compressed data are damaged.
        OSError: if the file cannot be opened.
    """
    with contextlib.nullcontext(sys.stdin.buffer) if str(path) == "-" else open(path, "rb") as stream:
        if peek(stream, len(_LFS_POINTER)).startswith(_LFS_POINTER):
            raise FormatError(name_of(path), None, IS_LFS_POINTER)
        # The magic number cannot begin a UTF-8 text, so that a compressed file may have any name.
        is_compressed = peek(stream, 2).startswith(_GZIP_MAGIC) or str(path).endswith(".gz")
        if not is_compressed:
            yield stream if keeps_utf16 else _as_utf8(stream, name_of(path))
            return
        try:
            with gzip.open(stream, "rb") as decompressed:
                unpacked = cast(BinaryIO, decompressed)
                yield unpacked if keeps_utf16 else _as_utf8(unpacked, name_of(path))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FormatError(
                name_of(path), None, f"gzip data are cut off or damaged ({error}); fetch or write the file again"
            ) from None


def is_lfs_pointer(path: Path) -> bool:
    """Whether a file stands for one that Git LFS has not fetched."""
    with open(path, "rb") as stream:
        return stream.read(len(_LFS_POINTER)) == _LFS_POINTER


def _as_utf8(stream: BinaryIO, name: str) -> BinaryIO:
    """Returns the stream, or if it begins with the byte order mark of UTF-16, its text as UTF-8."""
    if not peek(stream, 2).startswith(UTF16_MARKS):  # which may show more bytes than it was asked for
        return stream
    try:
        return io.BytesIO(whole(stream, name).decode("utf-16").encode())
    except UnicodeError as error:
        raise FormatError(name, None, f"begins like UTF-16 but is not ({error}): must be UTF-8 or UTF-16") from None


def whole(stream: BinaryIO, name: str) -> bytes:
    """Returns the rest of a stream. Raises FormatError if it is too long: a small archive can hold any length."""
    content = stream.read(LONGEST_LINE + 1)
    if len(content) > LONGEST_LINE:
        raise FormatError(name, None, f"has more than {LONGEST_LINE:,} bytes: must be fewer, as it is read at once")
    return content


def head_of(path: str | Path, n_bytes: int) -> bytes:
    """Returns the first bytes of a file, decompressed, without consuming them; none if the stream cannot do that."""
    if str(path) != "-":
        if not stat.S_ISREG(os.stat(path).st_mode):
            return b""
        with open_binary(path) as stream:
            return stream.read(n_bytes)
    head = peek(getattr(sys.stdin, "buffer", None), n_bytes)[:n_bytes]
    with contextlib.suppress(zlib.error):  # shows itself when it is read
        return zlib.decompressobj(31).decompress(head, n_bytes) if head.startswith(_GZIP_MAGIC) else head
    return b""


def peek(stream: object, n_bytes: int) -> bytes:
    """Returns the next bytes of a stream, which stay unread; none if it cannot do that."""
    if isinstance(stream, io.BufferedReader | gzip.GzipFile) and not stream.closed:
        return stream.peek(n_bytes)
    return b""


def user_cache(name: str) -> Path:
    """Returns a folder of ours in the user's cache folder (XDG Base Directory Specification); it may not exist yet."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "matese", name)


def given_ratings() -> Path:
    """Returns the folder of ratings that Python users gave without a file; it may not exist yet."""
    return user_cache("ratings")


def keep_newest(n: int, folder: Path) -> None:
    """Removes all but the newest files and folders in a folder of ours."""
    with contextlib.suppress(OSError):  # another process may remove them at the same time
        for old in sorted(folder.glob("[!.]*"), key=os.path.getmtime)[:-n]:
            if old.is_dir():
                shutil.rmtree(old)
            else:
                old.unlink()


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yields a new path beside `path`; the file or directory written there replaces `path` when the body ends.

    After an error or Ctrl-C nothing is left and `path` is as it was. If the process is killed, `path` is the old or the
    new one; but a directory that is replaced stands for a moment beside it, as `.NAME.old`, from where the next
    replacement puts it back. A symbolic link stays one: the file it points to is replaced. A replaced file keeps its
    permissions; a new one, and each in a directory, has those of the umask, whatever wrote it. A device or pipe cannot
    be replaced: `path` itself is yielded.

    Raises:
        OSError: if the replacement fails.
    """
    if is_device(path):
        yield Path(path)
        return
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f"{_TEMPORARY}{os.urandom(4).hex()}.tmp")
    try:
        _settle(target)
        yield temporary
        if temporary.is_dir():
            mode = _usual_mode(target.parent)
            for file in temporary.rglob("*"):
                if file.is_file() and not file.is_symlink():
                    os.chmod(file, mode)
            _replace_directory(temporary, target)
            return
        if temporary.exists():
            is_old = target.is_file()
            os.chmod(temporary, stat.S_IMODE(target.stat().st_mode) if is_old else _usual_mode(target.parent))
        with naming(str(path)), open(temporary, "r+b") as stream:  # Windows flushes only what may be written
            os.fsync(stream.fileno())  # some file systems notice only now that the disk is full
        os.replace(temporary, target)
    finally:
        if temporary.is_dir():
            shutil.rmtree(temporary)
        else:
            temporary.unlink(missing_ok=True)


def beside(output: str | Path) -> Path:
    """Returns the name of the file that keeps the state of a run beside its output.

    >>> str(beside("out/spans.jsonl"))
    'out/spans.jsonl.part'
    """
    path = Path(output)
    return path.with_name(f"{path.name}.part") if path.name else path / ".part"  # "." and "/" have no name


def is_temporary(path: Path) -> bool:
    """Whether a killed process left this file or directory, which was to replace another one."""
    return path.name.startswith(_TEMPORARY)


def _usual_mode(folder: Path) -> int:
    """Returns the permissions of a new file; the umask itself can only be read by setting it, for all threads."""
    probe = folder / f"{_TEMPORARY}{os.urandom(4).hex()}.tmp"
    probe.touch(exist_ok=False)
    try:
        return stat.S_IMODE(probe.stat().st_mode)
    finally:
        probe.unlink()


def _replace_directory(new: Path, target: Path) -> None:
    """Moves a directory to the place of another, which no system does at once."""
    try:
        if target.is_dir():
            os.rename(target, _aside(target))
        os.rename(new, target)
    finally:
        _settle(target)


def _settle(target: Path) -> None:
    """Removes the directory that was replaced, or puts it back if none has taken its place."""
    if (old := _aside(target)).is_dir():
        if target.exists():
            shutil.rmtree(old)
        else:
            os.rename(old, target)


def _aside(target: Path) -> Path:
    return target.with_name(f".{target.name}.old")


def is_device(path: str | Path) -> bool:
    """Whether a path is a device, a pipe or an open stream such as /dev/fd/3, and not a file of a directory."""
    if str(path).startswith(_OPEN_STREAMS):
        return True
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


@contextlib.contextmanager
def naming(name: str) -> Iterator[None]:
    """Adds the name of a file to an OSError of the body, because the system does not name it when writing fails."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, name) from None


@contextlib.contextmanager
def open_text(file: str | Path | int, name: str | Path, errors: str = "strict") -> Iterator[TextIO]:
    """Opens a file for writing UTF-8 text with line feeds; compressed if its name ends in ".gz".

    Args:
        file: path or descriptor.
        name: of the file that the text is for.
        errors: what happens to characters that UTF-8 cannot hold, see `open`.
    """
    if not str(name).endswith(".gz"):
        with open(file, "w", encoding="utf-8", errors=errors, newline="\n") as stream:
            yield stream
        return
    # Without name and time, so that equal texts give equal files.
    with (
        open(file, "wb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as compressed,
        io.TextIOWrapper(compressed, encoding="utf-8", errors=errors, newline="\n") as stream,
    ):
        yield stream


def compress_as_named(path: Path, name: str | Path) -> None:
    """Compresses a whole file in its place, if the name that it is to have ends in ".gz"."""
    if str(name).endswith(".gz"):
        path.write_bytes(gzip.compress(path.read_bytes(), mtime=0))


def cut_incomplete_line(path: Path) -> None:
    """Removes the rest of a line that a killed run has not completed."""
    with open(path, "r+b") as file:
        file.truncate(sum(len(line) for line in file if line.endswith(b"\n")))


def write_lines(path: str | Path, lines: Iterable[str]) -> int:
    """Writes a UTF-8 text file atomically, one line feed after each line, and returns the number of lines.

    Raises:
        OSError: if it cannot be written; what `lines` raises passes through. The old file stays then.
    """
    number = 0
    with replacing(path) as temporary, open_text(temporary, path) as stream:
        for number, line in enumerate(lines, start=1):  # noqa: B007
            stream.write(f"{line}\n")
    return number


_OF_TEXT = b"\t\n\v\f\r\x1b"
_CONTROLS = bytes(range(0x20)) + b"\x7f"


def not_utf8(error: UnicodeDecodeError) -> str:
    """Returns what is wrong with a text that is not UTF-8, with the encoding that it probably has."""
    start = error.start - error.object.rfind(b"\n", 0, error.start) - 1
    place = f"byte {error.object[error.start]:#04x} at position {start} is not UTF-8"
    if error.object.translate(None, _OF_TEXT) != error.object.translate(None, _OF_TEXT + _CONTROLS):
        return f"{place}, and there are control bytes: it is binary; give a text file"
    for encoding in ("windows-1252", "latin-1"):
        with contextlib.suppress(UnicodeDecodeError):
            error.object.decode(encoding)
            break
    return f"{place}; the file may be {encoding}: convert it, for example with iconv -f {encoding} -t utf-8"


def reason(failure: OSError) -> str:
    """Returns what is wrong, without the file name.

    >>> reason(OSError(errno.EISDIR, "Is a directory"))
    'is a directory'
    """
    text = failure.strerror or str(failure) or type(failure).__name__
    return _REASONS.get(failure.errno or 0, (text.lower(), ""))[0]


def remedy(failure: OSError) -> str:
    """Returns what a user can do about it.

    >>> remedy(OSError(errno.EISDIR, "Is a directory"))
    'give a file'
    """
    return _REASONS.get(failure.errno or 0, ("", "check that it can be read or written"))[1]

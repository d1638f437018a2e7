"""Finished work on disk, so that no run does it again: results in one sqlite file, each under what it depends on.

Every result is on its way to the disk before the next one is made, so that a process may be killed at any moment.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

from matese.errors import FormatError, InputError

_ID = 0x6D747331
"""Application id in the header of our files; another one for another form of results."""
_PATIENCE = 60.0
"""Seconds to wait for another process that writes to a shared file."""


class FinishedWork:
    """Results of earlier runs and of this one, each a text.

    Attributes:
        path: of the file, which appears with the first result.
        n_earlier: number of results that earlier runs left.
        n_results: number of results in the file.
    """

    def __init__(self, path: str | Path, *, is_shared: bool = False) -> None:
        """Opens the file if there is one.

        Args:
            path: of the file.
            is_shared: whether several processes use it; otherwise only one can.

        Raises:
            FormatError: if the file is something else.
            InputError: if another process uses it.
            OSError: if it cannot be read.
        """
        self.path = Path(path)
        self._is_shared = is_shared
        self._connection: sqlite3.Connection | None = None
        self._lock = threading.Lock()  # a language model is asked in several threads
        self.n_results = self._open() if self.path.exists() else 0
        self.n_earlier = self.n_results

    def get(self, *dependencies: object) -> str | None:
        """Returns the result that depends on these values, which JSON can hold; None if there is none."""
        if self._connection is None:
            return None
        with self._lock, self._reporting():
            rows = self._connection.execute("SELECT result FROM results WHERE key = ?", (_key(dependencies),))
            row = rows.fetchone()
        return None if row is None else str(row[0])

    def put(self, result: str, *dependencies: object) -> None:
        """Keeps a result.

        Raises:
            OSError: if it cannot be written.
            InputError: if another process uses the file.
        """
        with self._lock, self._reporting():
            if self._connection is None:
                self._open()
            assert self._connection is not None
            self._connection.execute("INSERT OR REPLACE INTO results VALUES (?, ?)", (_key(dependencies), result))
            self.n_results += 1

    def close(self) -> None:
        """Closes the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def remove(self) -> None:
        """Removes the file: nobody needs its results any more."""
        self.close()
        for ending in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)

    def _open(self) -> int:
        """Opens the file and returns its number of results."""
        with self._reporting():
            connection = sqlite3.connect(
                self.path, timeout=_PATIENCE * self._is_shared, isolation_level=None, check_same_thread=False
            )
            self._connection = connection
            is_new = self.path.stat().st_size == 0
            if not is_new and connection.execute("PRAGMA application_id").fetchone() != (_ID,):
                raise self._foreign()
            if not self._is_shared:  # which also works on network file systems
                connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")  # a crash of the machine may undo the last results
            connection.execute(f"PRAGMA application_id = {_ID}")
            connection.execute("CREATE TABLE IF NOT EXISTS results (key BLOB PRIMARY KEY, result TEXT) WITHOUT ROWID")
            (count,) = connection.execute("SELECT count(*) FROM results").fetchone()
        return int(count)

    @contextlib.contextmanager
    def _reporting(self) -> Iterator[None]:
        """Names the file in errors of the body."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code == sqlite3.SQLITE_BUSY:
                allowed = "run this one again if that does not complete it"
                raise InputError(f"{self.path}: another command writes to it; {allowed}") from None
            if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
                raise self._foreign() from None
            number = {sqlite3.SQLITE_FULL: errno.ENOSPC, sqlite3.SQLITE_READONLY: errno.EACCES}.get(code, errno.EIO)
            raise OSError(number, str(error), str(self.path)) from None

    def _foreign(self) -> FormatError:
        problem = "is not what an interrupted run leaves, or is damaged"
        return FormatError(str(self.path), None, f"{problem}: move it, or choose another output")


def in_folder(folder: str | Path) -> FinishedWork:
    """Returns the finished work in a folder, which is created for the user alone: results quote texts.

    Raises:
        OSError: if it cannot be created or read.
    """
    Path(folder).mkdir(parents=True, exist_ok=True, mode=0o700)
    return FinishedWork(Path(folder) / "finished.sqlite", is_shared=True)


def _key(dependencies: tuple[object, ...]) -> bytes:
    return hashlib.sha256(json.dumps(dependencies, sort_keys=True).encode()).digest()[:16]

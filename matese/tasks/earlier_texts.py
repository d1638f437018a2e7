"""Texts as they were before: in a folder, in a file of ratings, or at a commit of Git."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from matese.annotation import Segment
from matese.errors import InputError, UsageError
from matese.formats import detection, source_files
from matese.formats.format import ReadOptions

_Pair = tuple[str | None, str]


class EarlierTexts:
    """The translations of files as they were; a file that was not there had none."""

    def __init__(self, since: str, files: Sequence[str], options: ReadOptions) -> None:
        """Finds what `since` names.

        Args:
            since: a folder, a file of ratings or translations, or a commit.
            files: that are there now.
            options: how the files are read.

        Raises:
            UsageError: if it is none of these.
        """
        self._since = since
        self._files = files
        self._options = replace(
            options, report=lambda issue: None, untranslated=True, only_texts=True, may_be_empty=True
        )
        self._of_file = cache(self._pairs_of)
        if not os.path.exists(since):
            for path in files:
                _check_commit(since, path)

    def lack(self, segment: Segment) -> bool:
        """Whether a translation with its source is new in its file, or in all if its file is not known."""
        pair = _pair(segment)
        files = self._files if segment.file is None else [segment.file]
        return not any(pair in self._of_file(path) for path in files)

    def _pairs_of(self, path: str) -> frozenset[_Pair]:
        with _earlier(path, self._since) as before:
            if before is None:
                return frozenset()
            return frozenset(_pair(rating.segment) for rating in detection.read(before, self._options))


def _pair(segment: Segment) -> _Pair:
    return segment.source or None, segment.hypothesis


@contextlib.contextmanager
def _earlier(path: str, since: str) -> Iterator[str | None]:
    """Yields where a file is as it was; None if it was not there."""
    if os.path.isfile(since):
        yield since
    elif os.path.isdir(since):
        places = (os.path.join(since, name) for name in (path, os.path.basename(path)))
        yield next((place for place in places if not os.path.isabs(path) and os.path.isfile(place)), None)
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield _from_git(path, since, Path(folder))


def _from_git(path: str, commit: str, folder: Path) -> str | None:
    """Copies a file of a commit into a folder, with the files that are read beside it; None if the commit lacks it."""
    top = Path(_git(path, "rev-parse", "--show-toplevel").stdout.decode().rstrip("\n"))
    copies = []
    for file in (path, *source_files.read_beside(path)):
        name = Path(file).resolve().relative_to(top.resolve())
        process = _git(path, "show", f"{commit}:{name.as_posix()}", is_checked=False)
        copies.append(folder / name)
        if process.returncode == 0:
            copies[-1].parent.mkdir(parents=True, exist_ok=True)
            copies[-1].write_bytes(process.stdout)
    return str(copies[0]) if copies[0].exists() else None


def _check_commit(commit: str, path: str) -> None:
    is_known = not commit.startswith("-") and (
        _git(path, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}", is_checked=False).returncode == 0
    )
    if not is_known:
        has_commits = _git(path, "rev-parse", "--git-dir", is_checked=False).returncode == 0
        problem = "no such commit, folder or file"
        problem = problem if has_commits else f"no such folder or file, and {path} is in no repository of Git"
        allowed = "must be a folder, a file, or a commit that is there (in CI, fetch it: fetch-depth: 0)"
        raise UsageError(f"--since {commit}: {problem}; {allowed}")


def _git(path: str, *arguments: str, is_checked: bool = True) -> subprocess.CompletedProcess[bytes]:
    folder = os.path.dirname(os.path.abspath(path))
    try:
        return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=is_checked)
    except (OSError, subprocess.CalledProcessError):
        raise InputError(
            f"{path} is in no repository of Git, or git is not installed: give a folder or a file"
        ) from None

"""Finished work on disk: what is found, who may write, and what is refused."""

from __future__ import annotations

import os
import signal
import sqlite3
from pathlib import Path

import pytest

from matese.errors import FormatError, InputError
from matese.finished_work import FinishedWork, in_folder


def test_results_are_found_by_all_that_they_depend_on(tmp_path: Path) -> None:
    work = FinishedWork(tmp_path / "a")
    assert (work.get("model", None), list(tmp_path.iterdir())) == (None, []), "there is no file before a result"
    work.put("", "model", None)
    work.put("2", "model", ("text", "\ud800"))
    work.put("3", "model", {"b": 1, "a": [2.5]})
    work.close()
    again = FinishedWork(tmp_path / "a")
    assert (again.n_earlier, again.n_results) == (3, 3)
    assert again.get("model", None) == ""
    assert again.get("model", ["text", "\ud800"]) == "2"
    assert again.get("model", {"a": [2.5], "b": 1}) == "3"
    assert again.get("model") is again.get("model", "text", "\ud800") is again.get(None, "model") is None
    again.put("new", "model", None)
    assert (again.get("model", None), again.n_earlier) == ("new", 3)
    again.remove()
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_lost_by_a_kill(tmp_path: Path) -> None:
    pid = os.fork()
    if pid == 0:  # no exit handlers of the tests
        work = FinishedWork(tmp_path / "a")
        for number in range(100):
            work.put(f"result {number}", number)
        os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL
    work = FinishedWork(tmp_path / "a")
    assert [work.get(number) for number in range(101)] == [*(f"result {number}" for number in range(100)), None]
    work.remove()
    assert list(tmp_path.iterdir()) == []


def test_one_process_writes_beside_an_output(tmp_path: Path) -> None:
    first, other = (FinishedWork(tmp_path / "out.part") for _ in range(2))
    first.put("a", 1)
    for use in (lambda: other.put("b", 2), lambda: FinishedWork(tmp_path / "out.part")):
        with pytest.raises(InputError, match=r"out\.part: another command writes to it"):
            use()
    first.put("c", 3)
    assert (first.get(1), first.get(2), first.get(3)) == ("a", None, "c")


def test_several_processes_share_a_folder(tmp_path: Path) -> None:
    first, other = (in_folder(tmp_path / "new" / "folder") for _ in range(2))
    first.put("a", 1)
    other.put("b", 2)
    assert (other.get(1), first.get(2)) == ("a", "b")
    assert os.stat(tmp_path / "new" / "folder").st_mode & 0o077 == 0


@pytest.mark.parametrize("kind", ["text", "damaged", "of another program", "a folder"])
def test_other_files_are_refused_and_kept(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a"
    if kind == "a folder":
        path.mkdir()
    elif kind == "of another program":
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE results (key, result)")
        connection.close()
    else:
        path.write_text({"text": "what somebody wrote", "damaged": "SQLite format 3\0" + "x" * 100}[kind])
    before = None if path.is_dir() else path.read_bytes()
    with pytest.raises((FormatError, OSError)) as raised:
        FinishedWork(path)
    assert str(path) in str(raised.value)
    assert before is None or path.read_bytes() == before

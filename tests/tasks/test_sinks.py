import os
import resource
import stat
import sys
import threading
from pathlib import Path

import pytest

from matese.errors import UsageError
from matese.tasks import sinks
from tests.cli.conftest import as_nobody


def write(path: str | None, text: str = "x\n") -> None:
    with sinks.opened(path, sys.stdout) as results:
        results.write(text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder: what else is in it afterwards was written."""
    return tmp_path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def permissions(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_file_appears_at_the_end(tmp_path: Path) -> None:
    target = tmp_path / "spans.jsonl"
    target.write_text("old\n")
    with sinks.opened(str(target)) as results:
        results.write("你\udc80\n")
        results.stream.flush()
        assert target.read_text() == "old\n"
        assert len(names(tmp_path)) == 2
    assert target.read_bytes() == "你\\udc80\n".encode()
    assert names(tmp_path) == {"spans.jsonl"}


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SystemExit])
def test_nothing_is_left_after_an_error(tmp_path: Path, error: type[BaseException]) -> None:
    def half() -> None:
        with sinks.opened(str(tmp_path / "spans.jsonl")) as results:
            results.write("half")
            raise error

    with pytest.raises(error):
        half()
    assert names(tmp_path) == set()


def test_nothing_is_left_when_the_disk_is_full(tmp_path: Path) -> None:
    """A limit to the size of files acts like a full disk: a part was written, and the rest cannot be."""
    target = tmp_path / "spans.jsonl"
    target.write_text("old\n")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(OSError, match=r"File too large: '.*spans.jsonl'"):
            write(str(target), "x" * 30_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert target.read_text() == "old\n"
    assert names(tmp_path) == {"spans.jsonl"}


def test_permissions(tmp_path: Path) -> None:
    new = tmp_path / "new"
    old = tmp_path / "old"
    old.touch()
    old.chmod(0o604)
    before = os.umask(0o027)
    try:
        write(str(new))
        write(str(old))
    finally:
        os.umask(before)
    assert (permissions(new), permissions(old)) == (0o640, 0o604)


def test_symbolic_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    link = tmp_path / "link"
    target = tmp_path / "data" / "target"
    link.symlink_to(target)
    for text in ("first", "second"):
        write(str(link), text)
        assert link.is_symlink()
        assert target.read_text() == text
    assert names(tmp_path / "data") == {"target"}


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "is a directory"),
        ("no/file", "its directory does not exist"),
        ("file/file", "its directory does not exist"),
        ("dangling", "its directory does not exist"),
        ("n" * 300, "file name too long"),
    ],
)
def test_places_that_cannot_be_written(tmp_path: Path, name: str, problem: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to(tmp_path / "no" / "target")
    with pytest.raises(UsageError, match=f"^--output .*{problem}"):
        write(str(tmp_path / name))


def test_places_that_may_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old").touch(0o444)
    tmp_path.chmod(0o555)
    problem = "permission denied; choose a file that can be written"
    try:
        for name in ("new", "old"):
            with as_nobody(), pytest.raises(UsageError, match=f"--output {name}: {problem}"):
                write(name)
    finally:
        tmp_path.chmod(0o700)


def test_pipe_is_written_straight(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    came: list[str] = []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: came.append(pipe.read_text()))
    reader.start()
    write(str(pipe))
    reader.join()
    assert came == ["x\n"]
    assert names(tmp_path) == {"pipe"}


def test_open_stream_is_continued(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("before\n")
    with log.open("a") as stream:
        write(f"/dev/fd/{stream.fileno()}")
    assert log.read_text() == "before\nx\n"


@pytest.mark.parametrize("path", [None, "-", "/dev/stdout"])
def test_standard_output(path: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    with sinks.opened(path, sys.stdout) as results:
        assert results.is_stdout
        results.write("x\n")
        assert capsys.readouterr().out == "x\n", "passed on at once"


def test_closed_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(UsageError, match="standard output is closed; give --output FILE"):
        write(None)


def test_output_is_no_input(tmp_path: Path) -> None:
    text = tmp_path / "mt.txt"
    link = tmp_path / "link"
    text.touch()
    link.symlink_to(text)
    with pytest.raises(UsageError, match=r"link is the input .*mt.txt; choose another file"):
        sinks.check_apart(str(link), ["-", str(text)])
    sinks.check_apart(str(tmp_path / "new"), [str(text)])
    sinks.check_apart(None, [str(text)])
    sinks.check_apart("/dev/null", ["/dev/null"])

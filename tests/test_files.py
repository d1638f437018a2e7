from __future__ import annotations

import copy
import gzip
import io
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matese.errors import FormatError
from matese.files import beside, is_lfs_pointer, name_of, read_lines, replacing, short_names
from matese.formats import detection
from matese.formats.row_issues import RowIssue, RowIssues


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"\xef\xbb\xbf", [""]),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\n\n b \n", ["a", "", " b "]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\r\r\nb", ["a\r", "b"]),
        (b"a\rb\r", ["a\rb\r"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", ["a", "\ufeffb"]),
        (b"\xef\xbb\xbf\xef\xbb\xbfa\n", ["\ufeffa"]),
        ("a\x00\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029b\n".encode(), ["a\x00\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029b"]),
        ("👩‍👧 שלום e\u0301\n".encode(), ["👩‍👧 שלום e\u0301"]),
    ],
)
def test_a_line_ends_at_a_line_feed_and_nowhere_else(tmp_path: Path, content: bytes, lines: list[str]) -> None:
    plain = tmp_path / "a.txt"
    packed = tmp_path / "a.txt.gz"
    misnamed = tmp_path / "b.txt"
    plain.write_bytes(content)
    packed.write_bytes(gzip.compress(content))
    misnamed.write_bytes(gzip.compress(content))

    assert list(read_lines(plain)) == list(read_lines(str(plain))) == lines
    assert list(read_lines(packed)) == list(read_lines(misnamed)) == lines


@settings(deadline=None)
@given(
    st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])).map(lambda t: t.rstrip("\r")))
)
def test_lines_come_back_as_they_were_written(lines: list[str]) -> None:
    content = "\ufeff" + "".join(line + "\n" for line in lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
        read = list(read_lines("-"))
    # A mark alone is a line without a line end.
    assert read == (lines or [""])


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "lines", [["мир", "х"], ["हड़"], ["a < b"], ["<b>"], ["丼"], ["\U0001f1e9\U0001f1ea"], ["a", "b" * 9000 + "<"]]
)
@pytest.mark.parametrize("name", ["mt.txt", "mt.txt.gz"])
def test_text_in_utf_16_with_the_byte_of_a_bracket(tmp_path: Path, name: str, lines: list[str], encoding: str) -> None:
    content = ("\ufeff" + "".join(f"{line}\n" for line in lines)).encode(encoding)
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert list(read_lines(tmp_path / name)) == lines


@pytest.mark.parametrize(
    ("output", "state"), [("out/a.jsonl", "out/a.jsonl.part"), ("out/", "out.part"), (".", ".part"), ("/", "/.part")]
)
def test_every_output_has_a_place_for_its_state(output: str, state: str) -> None:
    assert beside(output) == Path(state)


def test_standard_input_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\nb\n")))
    assert list(read_lines("-")) == ["a", "b"]
    assert not sys.stdin.closed
    assert name_of("-") == "standard input"


def test_lines_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"good\n\xff\n")
    assert next(read_lines(path)) == "good"


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_text_that_is_not_utf_8(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    content = b"good\nna\xefve\n"
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(
        FormatError, match=rf"{name}:2: byte 0xef at position 2 is not UTF-8; the file may be windows-1252"
    ) as caught:
        list(read_lines(path))
    assert (caught.value.path, caught.value.line) == (str(path), 2)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"plain text\n", id="not compressed"),
        pytest.param(gzip.compress(b"some text\n" * 1000)[:-9], id="cut off"),
        pytest.param(gzip.compress(b"some text\n")[:-8] + bytes(8), id="wrong checksum"),
        pytest.param(gzip.compress(b"some text\n")[:10] + b"\xff" * 20, id="not deflated"),
    ],
)
def test_damaged_gzip_data(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"a\.gz:(\d+:)? gzip data are cut off or damaged \(.+\); fetch or write the"):
        list(read_lines(path))


def test_what_cannot_be_opened_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing"):
        list(read_lines(tmp_path / "missing.txt"))
    with pytest.raises(IsADirectoryError):
        list(read_lines(tmp_path))


def test_a_format_error_names_its_place_and_can_be_copied() -> None:
    error = FormatError("a.tsv", None, "file is empty")
    assert str(error) == "a.tsv: file is empty"
    for twin in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (twin.path, twin.line, twin.problem, str(twin)) == ("a.tsv", None, "file is empty", str(error))


def test_faults_are_errors_where_nobody_listens_and_notes_otherwise() -> None:
    notes = list[RowIssue]()
    with pytest.raises(FormatError, match=r"^a\.tsv:3: odd: must be even; matese convert skips such rows"):
        RowIssues("a.tsv", None, 3).skip("odd", "must be even")
    with pytest.raises(FormatError, match=r"^a\.tsv:4: odd: must be even; matese convert"):
        RowIssues("a.tsv", None, 4).repair("odd", "must be even")
    RowIssues("a.tsv", None, 5).repair("odd", None)

    RowIssues("a.tsv", notes.append, 3).skip("odd", "must be even")
    RowIssues("a.tsv", notes.append, 4).repair("odd", "must be even")
    RowIssues("a.tsv", notes.append, 5).repair("odd", None)
    assert notes == [
        RowIssue("skipped", "odd", "a.tsv", 3),
        RowIssue("repaired", "odd", "a.tsv", 4),
        RowIssue("repaired", "odd", "a.tsv", 5),
    ]


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a.txt"], ["a"]),
        (["out/a.de.txt", "b"], ["a.de", "b"]),
        ([".hidden", "a.gz"], [".hidden", "a"]),
        (["x/a.txt", "y/a.txt", "c.txt"], ["x/a.txt", "y/a.txt", "c"]),
        (["a.txt", "a.json"], ["a.txt", "a.json"]),
        (["a.txt", "a.json", "a.txt.gz"], ["a.txt", "a.json", "a.txt.gz"]),
        (["-", "a"], ["stdin", "a"]),
        (["-", "stdin.txt"], ["-", "stdin.txt"]),
        (["caf\udce9.txt"], ["caf\\udce9"]),
    ],
)
def test_short_names(paths: list[str], names: list[str]) -> None:
    assert short_names(paths) == names


def contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("old", [{}, {"a": "old", "b": "old"}])
def test_a_directory_takes_the_place_of_another(tmp_path: Path, old: dict[str, str]) -> None:
    for name, text in old.items():
        (tmp_path / "model").mkdir(exist_ok=True)
        (tmp_path / "model" / name).write_text(text)
    with replacing(tmp_path / "model") as new:
        new.mkdir()
        (new / "a").write_text("new")
    assert contents(tmp_path) == {"model/a": "new"}
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_of_two_writers_the_last_one_wins(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with replacing(path) as first, replacing(path) as other:
        first.write_text("one")
        other.write_text("other")
    assert path.read_text() == "one"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("is_directory", [False, True])
@pytest.mark.parametrize("error", [OSError("no room"), KeyboardInterrupt()])
def test_what_is_replaced_stays_after_an_error(tmp_path: Path, is_directory: bool, error: BaseException) -> None:
    target = tmp_path / "model"
    old = target / "a" if is_directory else target
    old.parent.mkdir(exist_ok=True)
    old.write_text("old")
    before = contents(tmp_path)

    def replace() -> None:
        with replacing(target) as new:
            if is_directory:
                new.mkdir()
            (new / "a" if is_directory else new).write_text("new")
            raise error

    with pytest.raises(type(error)):
        replace()
    assert contents(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize(("umask", "usual"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600)])
def test_files_have_the_permissions_of_the_umask_whatever_wrote_them(tmp_path: Path, umask: int, usual: int) -> None:
    (tmp_path / "old").touch()
    (tmp_path / "old").chmod(0o604)
    before = os.umask(umask)
    try:
        for name in ("old", "new", "folder/a"):
            with replacing(tmp_path / Path(name).parts[0]) as temporary:
                file = temporary / "a" if "/" in name else temporary
                file.parent.mkdir(exist_ok=True)
                os.close(os.open(file, os.O_CREAT, 0o400))
                os.chmod(file, 0o600)  # as safetensors does
    finally:
        os.umask(before)
    written = {name: (tmp_path / name).stat().st_mode & 0o777 for name in ("old", "new", "folder/a")}
    assert written == {"old": 0o604, "new": usual, "folder/a": usual}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "new", "old"]


@pytest.mark.parametrize("failing", [1, 2])
def test_an_old_directory_is_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "a").write_text("old")
    rename = os.rename
    calls = list[object]()

    def fail(source: object, target: object) -> None:
        calls.append(source)
        if len(calls) == failing:
            raise PermissionError("no")
        rename(source, target)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(PermissionError, match="no"), replacing(tmp_path / "model") as new:
        new.mkdir()
    assert contents(tmp_path) == {"model/a": "old"}


_KILLED = """
import os, sys
from pathlib import Path
from matese import files
rename, calls = os.rename, []
def killed(source, target):
    calls.append(source)
    if len(calls) == int(sys.argv[2]):
        os._exit(9)
    rename(source, target)
os.rename = killed
if sys.argv[2] == "3":
    files.shutil.rmtree = lambda path: os._exit(9)
with files.replacing(sys.argv[1]) as new:
    new.mkdir()
    (new / "a").write_text("new")
"""


@pytest.mark.parametrize(("killed_at", "left"), [(1, "old"), (2, "old"), (3, "new")])
def test_a_directory_outlives_a_killed_process(tmp_path: Path, killed_at: int, left: str) -> None:
    """Before the old directory is moved aside, before the new one is moved in, and before the old one is removed."""
    model = tmp_path / "model"
    model.mkdir()
    (model / "a").write_text("old")
    ran = subprocess.run([sys.executable, "-c", _KILLED, str(model), str(killed_at)], check=False)
    assert ran.returncode == 9
    assert left in (model / "a" if model.is_dir() else tmp_path / ".model.old" / "a").read_text()
    # The next replacement settles what was left, even if it fails.
    with pytest.raises(OSError, match="no room"), replacing(model):
        raise OSError("no room")
    assert (model / "a").read_text() == left
    assert not (tmp_path / ".model.old").exists()


def test_a_link_to_a_directory_stays_one(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there")
    with replacing(tmp_path / "link") as new:
        new.mkdir()
        (new / "a").write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "a").read_text() == "new"


def test_only_files_open_for_writing_are_flushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows refuses to flush others."""
    flush = os.fsync
    flushed = []

    def refuse(descriptor: int) -> None:
        os.write(descriptor, b"")
        flushed.append(descriptor)
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", refuse)
    with replacing(tmp_path / "a") as new:
        new.write_text("new")
    assert len(flushed) == 1
    assert (tmp_path / "a").read_text() == "new"


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"


@pytest.mark.parametrize("name", ["a.txt", "a.tsv.gz", "a.parquet", "a.xlsx", "a.po"])
def test_a_git_lfs_pointer_is_named_as_such(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(POINTER)
    assert is_lfs_pointer(path)
    with pytest.raises(FormatError, match="Git LFS"):
        list(read_lines(path))
    with pytest.raises(FormatError, match="Git LFS"):
        detection.detect(path)
    path.write_bytes(POINTER[1:])
    assert not is_lfs_pointer(path)


def test_control_bytes_are_no_text_in_another_encoding(tmp_path: Path) -> None:
    (tmp_path / "random").write_bytes(b"a\x00\x01\xff\xfe")
    (tmp_path / "old").write_bytes(b"a\t\xff\xfe")
    for name, is_binary in (("random", True), ("old", False)):
        with pytest.raises(FormatError) as raised:
            list(read_lines(str(tmp_path / name)))
        assert ("binary" in str(raised.value)) is is_binary
        assert ("iconv" in str(raised.value)) is not is_binary

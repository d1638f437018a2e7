from __future__ import annotations

import hashlib
import http.server
import io
import tarfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from data_prep import __main__ as cli
from data_prep import biomedical, check_wmt19, download, esa, segment_scores
from data_prep.datasets import DATA_SETS
from data_prep.download import RAW_FILES, RawFile, read_list
from data_prep.translations import TEST_SETS
from matese.errors import FormatError, InputError

CONTENT = "system\tdoc\nAlpha\tä\n".encode() * 10_000


def raw_file(content: bytes = CONTENT, *, file: str = "mqm/a.tsv", path: str = "some folder/a.tsv") -> RawFile:
    return RawFile(file, "owner/name", "c0ffee", path, "", hashlib.sha256(content).hexdigest(), "CC0-1.0")


def fetch(*arguments: Any, **options: Any) -> bool:
    """Fetches without the pauses between retries."""
    return download.fetch(*arguments, **{"retries": 0, **options})


def archive_of(name: str, content: bytes) -> bytes:
    """An archive of a file, a folder, and a link out of the archive."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
        folder = tarfile.TarInfo("folder")
        link = tarfile.TarInfo("link")
        folder.type = tarfile.DIRTYPE
        link.type = tarfile.SYMTYPE
        link.linkname = "/etc/passwd"
        archive.addfile(folder)
        archive.addfile(link)
    return stream.getvalue()


@dataclass
class Server:
    """A public home.

    Attributes:
        url: its address.
        files: what it serves, by path.
        cut: after how many bytes an answer breaks off; None: never.
        n_cut: how many answers break off.
        asked: the paths that were asked for.
    """

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    cut: int | None = None
    n_cut: int = 1000
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    home = Server()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            home.asked.append(self.path)
            content = home.files.get(self.path)
            if content is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            home.n_cut -= 1
            self.wfile.write(content[: home.cut if home.n_cut >= 0 else None])

        def log_message(self, *_: Any) -> None:
            """Tests are silent."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        home.url = f"http://127.0.0.1:{listening.server_port}"
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield home
        listening.shutdown()
        thread.join()


HEADER = ("file", "repository", "commit", "path", "member", "sha256", "licence")
PLACE = "/owner/name/c0ffee/some%20folder/a.tsv"


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    "there", [None, b"", CONTENT[:-1], CONTENT[:-1] + b"?", CONTENT], ids=["none", "empty", "half", "changed", "whole"]
)
def test_a_file_is_fetched_unless_it_is_there_whole(server: Server, tmp_path: Path, there: bytes | None) -> None:
    server.files[PLACE] = CONTENT
    if there is not None:
        (tmp_path / "mqm").mkdir()
        (tmp_path / "mqm/a.tsv").write_bytes(there)
    is_new = there != CONTENT
    assert fetch(raw_file(), tmp_path, base_url=f"{server.url}/") is is_new
    assert server.asked == [PLACE] * is_new
    assert (tmp_path / "mqm/a.tsv").read_bytes() == CONTENT
    assert files_in(tmp_path) == ["mqm/a.tsv"]


def test_a_file_of_an_archive(server: Server, tmp_path: Path) -> None:
    server.files["/owner/name/c0ffee/a.tar.gz"] = archive_of("folder/a.tsv", CONTENT)
    packed = replace(raw_file(path="a.tar.gz"), member="folder/a.tsv")
    assert fetch(packed, tmp_path, base_url=server.url)
    assert (tmp_path / "mqm/a.tsv").read_bytes() == CONTENT
    assert files_in(tmp_path) == ["mqm/a.tsv"]


@pytest.mark.parametrize(
    ("content", "member", "message"),
    [
        (archive_of("b.tsv", CONTENT), "a.tsv", r"filename 'a.tsv' not found.*: must be an archive that holds a.tsv"),
        (archive_of("b.tsv", CONTENT), "folder", r"folder is not a file"),
        (archive_of("b.tsv", CONTENT), "link", r"linkname '/etc/passwd' not found.*: must be an archive that holds"),
        (archive_of("a.tsv", CONTENT)[:-300], "a.tsv", r"must be an archive that holds a.tsv"),
        (b"<html>", "a.tsv", r"must be an archive that holds a.tsv"),
        (archive_of("a.tsv", CONTENT[:-1]), "a.tsv", r"SHA256 hash of downloaded file \(a.tsv\) does not match"),
    ],
    ids=["other", "folder", "link", "half", "no archive", "other content"],
)
def test_archives_that_do_not_hold_it(
    server: Server, tmp_path: Path, content: bytes, member: str, message: str
) -> None:
    server.files["/owner/name/c0ffee/a.tar.gz"] = content
    with pytest.raises(InputError, match=message):
        fetch(replace(raw_file(path="a.tar.gz"), member=member), tmp_path, base_url=server.url)
    assert files_in(tmp_path) == []


def test_a_member_that_climbs_out_is_written_to_its_target(server: Server, tmp_path: Path) -> None:
    server.files["/owner/name/c0ffee/a.tar.gz"] = archive_of("../../evil.tsv", CONTENT)
    packed = replace(raw_file(path="a.tar.gz"), member="../../evil.tsv")
    assert fetch(packed, tmp_path / "out", base_url=server.url)
    assert files_in(tmp_path) == ["out/mqm/a.tsv"]


@pytest.mark.parametrize(("files", "problem"), [({}, "404"), ({PLACE: CONTENT}, "IncompleteRead")])
def test_what_was_there_stays_where_the_new_one_cannot_be_had(
    server: Server, tmp_path: Path, files: dict[str, bytes], problem: str
) -> None:
    (tmp_path / "mqm").mkdir()
    (tmp_path / "mqm/a.tsv").write_bytes(b"before")
    server.files = files
    server.cut = 70_000
    with pytest.raises(OSError, match=problem):
        fetch(raw_file(), tmp_path, base_url=server.url)
    assert files_in(tmp_path) == ["mqm/a.tsv"]
    assert (tmp_path / "mqm/a.tsv").read_bytes() == b"before"


def test_a_failed_download_is_tried_again(server: Server, tmp_path: Path) -> None:
    server.files[PLACE] = CONTENT
    server.cut = 70_000
    server.n_cut = 1
    assert fetch(raw_file(), tmp_path, base_url=server.url, retries=1)
    assert (tmp_path / "mqm/a.tsv").read_bytes() == CONTENT
    assert server.asked == [PLACE] * 2


def test_from_copies(raw: Path, tmp_path: Path) -> None:
    names = ["mqm/mqm_ted2021_ende.tsv", "wmt/newstest2021/txt/sources/newstest2021.zh-en.src.zh"]
    for name in names:
        assert fetch(raw_file((raw / name).read_bytes(), file=name), tmp_path, copies=raw)
    assert files_in(tmp_path) == names
    with pytest.raises(InputError, match=r"raw: SHA256 hash of downloaded file \(mqm_ted2021_zhen.tsv\) does not"):
        fetch(raw_file(file="mqm/mqm_ted2021_zhen.tsv"), tmp_path, copies=raw)
    with pytest.raises(FileNotFoundError, match=r"neither .*mqm/other.tsv nor other.tsv.gz exists"):
        fetch(raw_file(file="mqm/other.tsv"), tmp_path, copies=raw)
    assert files_in(tmp_path) == names


def test_the_committed_list_names_what_is_read() -> None:
    files = {raw.file for raw in read_list(RAW_FILES)}
    wanted = {data_set.path for data_set in DATA_SETS}
    for data_set in DATA_SETS:
        if data_set.references is not None:
            texts = [data_set.references.source, *(name for _, name in data_set.references.texts)]
            wanted |= {f"{data_set.references.folder}/{name}" for name in texts}
    wanted |= {*esa.FILES, *(f"{segment_scores.MLQE_PE_FOLDER}/{name}" for name in segment_scores.MLQE_PE_FILES)}
    assert wanted <= files
    assert len(files) == len(read_list(RAW_FILES))
    lang_pairs = {lang_pair for _, _, lang_pair in check_wmt19.read_cells(check_wmt19.CELLS)}
    wmt19 = {file for file in files if file.startswith(check_wmt19.FOLDER)}
    assert {file.split("-")[-4] for file in wmt19} == {lang_pair.replace("-", "") for lang_pair in lang_pairs}
    folders = [biomedical.FOLDER, segment_scores.WMT25, *(f"wmt/{test_set}" for test_set in TEST_SETS)]
    n_files = {folder: sum(file.startswith(f"{folder}/") for file in files) for folder in folders}
    assert all(count > 80 for count in n_files.values()), n_files
    assert "" not in {raw.licence for raw in read_list(RAW_FILES)}


@pytest.mark.parametrize("rows", ["", "file\n", "{header}\na\tb\n"])
def test_a_list_that_is_none(tmp_path: Path, rows: str) -> None:
    path = tmp_path / "raw_files.tsv"
    path.write_text(rows.format(header="\t".join(HEADER)))
    with pytest.raises(FormatError, match=r"raw_files.tsv:\d: must be file repository .*, separated by tabs"):
        read_list(path)


def test_the_command(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = tmp_path / "raw_files.tsv"
    rows = [
        [one.file, one.repository, one.commit, one.path, "", one.sha256, one.licence]
        for one in (raw_file(), raw_file(b"b", file="b.tsv", path="b.tsv"))
    ]
    listed.write_text("".join("\t".join(row) + "\n" for row in (HEADER, *rows)))
    monkeypatch.setattr(time, "sleep", lambda _: None)  # between retries
    arguments = ["download", "--output", str(tmp_path / "out"), "--base-url", server.url, "--list", str(listed)]
    server.files[PLACE] = CONTENT
    assert cli.main(arguments) == 2
    said = capsys.readouterr()
    assert "data_prep download: " in said.err
    assert "404 Client Error: Not Found for url: " in said.err
    assert files_in(tmp_path / "out") == ["mqm/a.tsv"]
    server.files["/owner/name/c0ffee/b.tsv"] = b"b"
    assert cli.main(arguments) == 0
    shown = capsys.readouterr().out.replace("\n", " ")
    assert "1 files fetched, 1 already in" in shown
    assert shown.endswith("licence of owner/name: CC0-1.0 ")
    assert server.asked.count(PLACE) == 1

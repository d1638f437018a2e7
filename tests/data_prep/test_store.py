from __future__ import annotations

import gzip
import tarfile
from pathlib import Path

import pytest

from data_prep.store import Store
from matese.errors import FormatError

SOURCES = "txt/sources/newstest2021.zh-en.src.zh"


@pytest.fixture
def archived(raw: Path, tmp_path: Path) -> Path:
    """The same files in the layout of archives."""
    for path in [*raw.glob("mqm/*"), *raw.glob("error-spans/*")]:
        packed = tmp_path / path.parent.name / f"{path.name}.gz"
        packed.parent.mkdir(exist_ok=True)
        packed.write_bytes(gzip.compress(path.read_bytes()))
    (tmp_path / "wmt").mkdir()
    for folder in (raw / "wmt").iterdir():
        with tarfile.open(tmp_path / "wmt" / f"{folder.name}.tar.xz", "w:xz") as archive:
            archive.add(folder, arcname=".")
    return tmp_path


def test_both_layouts_hold_the_same(raw: Path, archived: Path) -> None:
    for path in raw.rglob("*"):
        if path.is_file():
            name = str(path.relative_to(raw))
            for root in (raw, archived):
                assert Store(root).read(name) == path.read_bytes(), name


def test_texts_of_a_folder_or_an_archive(raw: Path, archived: Path) -> None:
    for root in (raw, archived):
        assert Store(root).texts("wmt/newstest2021", [SOURCES]) == {SOURCES: ("市长为新公园揭幕。",)}


def test_a_line_ends_at_a_line_feed_and_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "t").write_bytes("a\u2028b\x0c\r\n\nc".encode())
    assert Store(tmp_path).texts("f", ["t"]) == {"t": ("a\u2028b\x0c\r", "", "c")}


def test_a_plain_file_precedes_a_compressed_one(raw: Path, archived: Path) -> None:
    name = "mqm/mqm_ted2021_ende.tsv"
    assert Store(archived).path(name).name == "mqm_ted2021_ende.tsv.gz"
    (archived / name).write_bytes(b"plain")
    assert Store(archived).path(name).read_bytes() == b"plain"


def test_what_is_missing_is_named(tmp_path: Path, archived: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"neither .*mqm/x.tsv nor x.tsv.gz exists"):
        Store(tmp_path).path("mqm/x.tsv")
    with pytest.raises(FileNotFoundError, match=r"neither .*wmt/x nor x.tar.xz exists"):
        Store(tmp_path).texts("wmt/x", ["a"])
    with pytest.raises(FileNotFoundError, match=r"newstest2021.tar.xz has no file nothing/there"):
        Store(archived).texts("wmt/newstest2021", [SOURCES, "nothing/there"])


@pytest.mark.parametrize(
    ("name", "content"), [("mqm/a.tsv.gz", gzip.compress(b"text" * 99, mtime=0)[:-9]), ("mqm/x.tar.xz", b"no archive")]
)
def test_what_is_damaged_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / "mqm").mkdir()
    (tmp_path / name).write_bytes(content)
    wanted = "mqm/x/a" if "x.tar" in name else "mqm/a.tsv"
    problem = r"damaged \(.+\); download the file again"
    with pytest.raises(FormatError, match=problem):
        Store(tmp_path).read(wanted)

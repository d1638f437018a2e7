from __future__ import annotations

from pathlib import Path

import pytest

from matese.errors import FormatError
from matese.formats import glossary


def test_terms_with_and_without_translations(tmp_path: Path) -> None:
    file = tmp_path / "terms.tsv"
    file.write_bytes("\ufeffmuseum\r\nriver bank\tFlussufer\n博物馆\t\n".encode())
    assert glossary.read(file) == {"museum": None, "river bank": "Flussufer", "博物馆": ""}


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "g.txt: holds no term; give one per line"),
        (b"a\n\nb\n", "g.txt:2: not a line of a glossary: must be a term, or a term, a tab and its translation"),
        (b"a\tb\tc\n", "g.txt:1: not a line of a glossary"),
        (b"\tb\n", "g.txt:1: not a line of a glossary"),
        (b"\x89PNG\r\n", "g.txt:1: byte 0x89 at position 0 is not UTF-8"),
        (b"a\n\0\n", "g.txt:2: not a line of a glossary"),
    ],
)
def test_what_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, problem: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("g.txt").write_bytes(data)
    with pytest.raises(FormatError, match=r".") as caught:
        glossary.read("g.txt")
    assert str(caught.value).startswith(problem)

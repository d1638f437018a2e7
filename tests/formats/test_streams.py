"""Files larger than the memory: readers take no more of them than they are asked for."""

from __future__ import annotations

import gzip
import os
import threading
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count, islice
from pathlib import Path

import pytest

from matese import files as lines
from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity
from matese.errors import FormatError
from matese.formats import detection, json_stream
from matese.formats.capabilities import Reducer
from matese.formats.corpora import word_tags
from matese.formats.format import STRICT, WriteOptions
from matese.formats.registry import BY_NAME, TABLE
from matese.formats.tables import jsonl
from tests.formats.test_round_trips import OF_TEST_SET

HOW = WriteOptions()
ASKED = 100
# What a pipe, the buffers of the reader and its chunks may hold beyond what was asked for.
LARGEST_READ = 4 << 20
MOST = 600_000
READ_TO_THE_END = ("json", "pearmut", "mqm-tsv", "error-spans")
"""The first two are one value; what the rows of the others mean depends on the whole file."""
TEXTS = [
    form.name
    for form in TABLE
    if form.read is not None and form.write is not None and form.name not in (*READ_TO_THE_END, *OF_TEST_SET)
]
"""A submission of `OF_TEST_SET` holds no texts, so that the test set is held in memory while it is read."""


def endless() -> Iterator[Rating]:
    """Ratings without end, ten segments a document."""
    for index in count():
        key = SegmentKey("ted", "en-de", "A", f"talk.{index // 10}", index)
        yield Rating(
            Segment("Ein Haus. " * 20, "A tree.", ("Ein Baum.",), key), "r", (ErrorSpan(4, 8, Severity.MAJOR),)
        )


def written(name: str) -> Iterator[str]:
    """The endless text of a format: a header, and then the ratings one by one."""
    form = BY_NAME[name]
    reducer = Reducer(form.capabilities, adapt=form.adapt)
    fitted = (fit for fit in map(reducer.reduce, endless()) if fit is not None)
    assert form.write is not None
    header = "".join(form.write([], HOW))
    yield header
    for rating in fitted:
        yield "".join(form.write([rating], HOW)).removeprefix(header)


class Pipe:
    """A pipe into which a text is written until its reader closes it."""

    def __init__(self, path: Path, pieces: Iterator[str]) -> None:
        os.mkfifo(path)
        self.path = path
        self.n_bytes = 0
        self._pieces = pieces
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def _write(self) -> None:
        try:
            with open(self.path, "wb", buffering=0) as stream:
                for piece in self._pieces:
                    self.n_bytes += len(piece.encode())
                    stream.write(piece.encode())
        except BrokenPipeError:
            return

    def join(self) -> None:
        """Waits until the writer has seen that nobody reads."""
        self._thread.join(60)
        assert not self._thread.is_alive()


@pytest.mark.parametrize("name", TEXTS)
def test_no_more_is_read_than_is_asked_for(tmp_path: Path, name: str) -> None:
    pipe = Pipe(tmp_path / "endless", written(name))
    form = BY_NAME[name]
    assert form.read is not None
    ratings = form.read(pipe.path, STRICT)
    assert sum(1 for _ in islice(ratings, ASKED)) == ASKED
    ratings.close()  # type: ignore[attr-defined]
    pipe.join()
    assert pipe.n_bytes < LARGEST_READ


def largest(run: Callable[[], int], expected: int) -> int:
    """The largest memory, in bytes, that a run allocates, which returns the number of ratings."""
    tracemalloc.start()
    try:
        assert run() == expected
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_word_tags_are_read_line_by_line(tmp_path: Path) -> None:
    text = "Ein Haus. " * 20
    tags = Pipe(tmp_path / "endless.tags", (" ".join(["OK", "BAD"] * 20) + "\n" for _ in count()))
    hypotheses = Pipe(tmp_path / "endless.mt", (text + "\n" for _ in count()))
    ratings = word_tags.read(tags.path)
    assert [len(rating.errors or ()) for rating in islice(ratings, ASKED)] == [20] * ASKED
    ratings.close()  # type: ignore[attr-defined]
    for pipe in (tags, hypotheses):
        pipe.join()
        assert pipe.n_bytes < LARGEST_READ


def test_folders_are_written_and_read_in_little_memory(tmp_path: Path) -> None:
    folder = tmp_path / "tags"
    form = BY_NAME["word-tags"]
    reducer = Reducer(form.capabilities, adapt=form.adapt)
    text = "Ein Haus" * 500
    long = (replace(rating, segment=replace(rating.segment, hypothesis=text)) for rating in islice(endless(), 200))

    def run() -> int:
        assert form.save is not None
        assert form.read is not None
        form.save((fit for fit in map(reducer.reduce, long) if fit is not None), folder, HOW)
        return sum(1 for _ in form.read(folder, STRICT))

    peak = largest(run, 200)
    assert peak < MOST < 200 * len(text) <= sum(file.stat().st_size for file in folder.iterdir())


def test_lines_and_values_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LONGEST_LINE", 1000)
    monkeypatch.setattr(json_stream, "_LARGEST", 1000)
    monkeypatch.setattr(json_stream, "_CHUNK", 100)
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(b"{}\n" + b"x" * 1001))
    with pytest.raises(FormatError, match=r"bomb\.jsonl\.gz:2: line is longer than 1,000 bytes: must be shorter"):
        list(lines.read_lines(path))
    path.write_bytes(gzip.compress(b"x" * 1000 + b"\n"))
    with pytest.raises(FormatError, match="longer than 1,000 bytes"):
        list(lines.read_lines(path))
    path.write_bytes(gzip.compress(b"x" * 999 + b"\n" + b"y" * 1000))
    assert [len(line) for line in lines.read_lines(path)] == [999, 1000]
    for name, text in (("bomb.txt.gz", ("a" * 600).encode("utf-16")), ("bomb.xlf.gz", b"<xliff>" + b" " * 1000)):
        (tmp_path / name).write_bytes(gzip.compress(text))
        with pytest.raises(FormatError, match=r"has more than 1,000 bytes: must be fewer, as it is read at once"):
            list(detection.read(tmp_path / name))
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(gzip.compress(b"[" + b" " * 1000))
    with pytest.raises(FormatError, match=r"bomb\.json\.gz: is longer than 1,000 bytes: must be shorter"):
        list(json_stream.read(path))


def test_archives_are_no_files_of_ratings(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "ratings.zip", "w") as archive:
        archive.writestr("a.jsonl", jsonl.dumps(next(endless())))
    with pytest.raises(FormatError, match=r"ratings\.zip: an archive \(ZIP\), .*: unpack it, and give the files in it"):
        detection.detect(tmp_path / "ratings.zip")
    whole = gzip.compress(jsonl.dumps(next(endless())).encode())
    for name, damaged in [("cut.gz", whole[:-9]), ("odd.gz", whole[:20] + b"\0" * 20 + whole[40:]), ("no.gz", b"text")]:
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(FormatError, match=rf"{name}: gzip data are cut off or damaged"):
            detection.detect(tmp_path / name)

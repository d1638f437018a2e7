import io
import os
import sys
from pathlib import Path

import pytest

from matese.annotation import Segment, SegmentKey
from matese.errors import FormatError, InputError
from matese.formats import segments
from matese.formats.format import ReadOptions
from matese.formats.row_issues import RowIssue
from tests.cli.conftest import as_nobody, write


def standard_input(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, which holds mt.txt and ref.txt."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "mt.txt", "Das ist gut.", "", "x")
    write(tmp_path / "ref.txt", "Das ist schlecht.", "etwas", "ein Text")
    return tmp_path


def test_files_that_cannot_be_read(folder: Path) -> None:
    (folder / "directory").mkdir()
    (folder / "empty.txt").touch()
    (folder / "latin1.txt").write_bytes(b"gut\nsch\xf6n\n")
    (folder / "cut.txt.gz").write_bytes(b"\x1f\x8b\x08\x00")
    for name, problem in [
        ("missing.txt", "No such file or directory"),
        ("mt.txt/x", "Not a directory"),
        ("", "No such file or directory"),
        ("directory", "Is a directory"),
        ("empty.txt", "empty.txt: file is empty; give a text file with one segment per line"),
        ("latin1.txt", "latin1.txt:2: byte 0xf6 at position 3 is not UTF-8; the file may be windows-1252"),
        ("cut.txt.gz", "cut.txt.gz: gzip data are cut off or damaged"),
    ]:
        with pytest.raises((OSError, FormatError), match=problem):
            segments.from_texts(["mt.txt"], [name])


def test_unreadable_file(folder: Path) -> None:
    (folder / "ref.txt").chmod(0)
    with as_nobody(), pytest.raises(PermissionError, match=r"Permission denied: 'ref.txt'"):
        segments.from_texts(["ref.txt"], ["mt.txt"])


def test_different_lengths(folder: Path) -> None:
    write(folder / "thousand.txt", *["x"] * 1000)
    write(folder / "one.txt", "x")
    for hypotheses, references, sources, problem in [
        (["thousand.txt"], ["ref.txt"], [], "thousand.txt has 1,000 lines and ref.txt 3: line i of each must be one"),
        (["one.txt"], ["thousand.txt"], [], "one.txt has 1 line and thousand.txt 1,000: "),
        (["mt.txt", "one.txt"], ["ref.txt"], [], "mt.txt has 3 lines and one.txt 1: "),
        (["mt.txt"], ["ref.txt", "ref.txt", "one.txt"], [], "mt.txt has 3 lines and one.txt 1: "),
        (["mt.txt"], ["ref.txt"], ["one.txt"], "mt.txt has 3 lines and one.txt 1: "),
    ]:
        with pytest.raises(InputError, match=problem):
            segments.from_texts(hypotheses, references, *sources)


def test_standard_input(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    standard_input(monkeypatch, b"a\r\nb\nc")
    texts = segments.from_texts(["-"], ["ref.txt"])
    assert [(segment.hypothesis, segment.key) for segment in list(texts)] == [
        (text, SegmentKey(system="stdin", index=index)) for index, text in enumerate("abc")
    ]
    standard_input(monkeypatch, b"")
    with pytest.raises(FormatError, match="standard input: file is empty; give a text file"):
        segments.from_texts(["mt.txt"], [], "-")
    standard_input(monkeypatch, b"a\n")
    with pytest.raises(InputError, match=r"mt.txt has 3 lines and standard input 1"):
        segments.from_texts(["mt.txt"], [], "-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(FormatError, match="standard input: is closed; give a text file"):
        segments.from_texts(["mt.txt"], [], "-")


def test_pipe_is_read_once(folder: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, b"a\nb\nc\n")
    os.close(writer)
    texts = segments.from_texts(["mt.txt", "ref.txt"], [f"/dev/fd/{reader}"])
    os.close(reader)
    assert [segment.references for segment in list(texts)] == [("a",), ("b",), ("c",)] * 2


def test_segments_of_each_system(folder: Path) -> None:
    write(folder / "other.de.txt", "x", "y", "z")
    texts = segments.from_texts(["mt.txt", "other.de.txt"], ["ref.txt", "mt.txt"])
    assert (texts.counts, len(texts)) == ({"mt": 3, "other.de": 3}, 6)
    first, *_, last = list(texts)
    assert first == Segment(
        "Das ist gut.", None, ("Das ist schlecht.", "Das ist gut."), SegmentKey(system="mt", index=0)
    )
    assert (last.hypothesis, last.source, last.key) == ("z", None, SegmentKey(system="other.de", index=2))


def test_file_that_changes_under_way(folder: Path) -> None:
    for lines in (["a"], ["a"] * 4):
        texts = segments.from_texts(["mt.txt"], ["ref.txt"])
        original = write(folder / "ref.txt", *lines)
        with pytest.raises(FormatError, match=f"ref.txt: changed from 3 lines to {len(lines)} while it was read: must"):
            list(texts)
        write(original, "a", "b", "c")


@pytest.mark.parametrize(
    ("name", "text", "labels"),
    [
        ("a.txt", "eins\nzwei\n", ["line 1", "line 2"]),
        ("a.csv", 'source,target\none,eins\n"two\nlines",zwei\n', ["line 2", "line 4"]),
        ("a.csv", "seg_id,target,source\n0,eins,one\nx-2,zwei,two\n", ["seg_id 0", "seg_id x-2"]),
        ("a.jsonl", '{"mt": "eins"}\n', ["line 1"]),
        ("a.jsonl", '{"index": 0, "hypothesis": "eins", "errors": []}\n', ["segment 1"]),
        ("a.po", 'msgid "one"\nmsgstr "eins"\n', ["unit 'one' (line 1)"]),
        (
            "a.xlf",
            '<xliff version="1.2"><file source-language="en" target-language="de"><body><trans-unit id="title">'
            "<source>one</source><target>eins</target></trans-unit></body></file></xliff>",
            ["unit title"],
        ),
    ],
)
def test_segments_are_called_what_their_file_calls_them(
    tmp_path: Path, name: str, text: str, labels: list[str]
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    labelled = segments.from_texts([str(path)]) if name == "a.txt" else segments.from_file(str(path))
    assert [segment.label for segment in labelled] == labels


STRUCTURED = {
    "mt.po": 'msgid "a"\nmsgstr "b"\n',
    "mt.xlf": '<?xml version="1.0"?>\n<xliff version="1.2"></xliff>\n',
    "mt.tmx": '<?xml version="1.0"?>\n<tmx version="1.4"></tmx>\n',
    "mt.csv": "source,hypothesis\na,b\n",
    "table": "src\tmt\na\tb\n",
    "mt.jsonl": '{"hypothesis": "a"}\n',
    "mt.json": '[\n{"hypothesis": "a"}]\n',
    "one.json": '{\n"hypothesis": "a"}\n',
    "spans.tsv": "\t".join(("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")),
    "page": "<!DOCTYPE html>\n<html></html>\n",
    "other.xml": '<?xml version="1.0"?>\n<a/>\n',
    "mt.docx": "PK\x03\x04 word/document.xml",
    "mt.xlsx": "PK\x03\x04 xl/workbook.xml",
    "mt.pdf": "%PDF-1.4\n",
    "mt.rtf": "{\\rtf1 a}",
    "mt.parquet": "PAR1....",
}


@pytest.mark.parametrize("name", STRUCTURED)
@pytest.mark.parametrize("role", ["hypothesis", "source", "reference"])
def test_files_in_other_formats_are_no_lines_of_text(tmp_path: Path, name: str, role: str) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("a\nb\n", encoding="utf-8")
    structured = tmp_path / name
    structured.write_text(STRUCTURED[name], encoding="utf-8")
    paths = {
        text_name: str(structured if text_name == role else lines)
        for text_name in ("hypothesis", "source", "reference")
    }
    with pytest.raises(FormatError, match=r"not one segment per line: .*(give it with --input|save|copy)"):
        segments.from_texts([paths["hypothesis"]], [paths["reference"]], paths["source"])


@pytest.mark.parametrize(
    "first",
    [
        "[Musik]",
        "{0} Dateien",
        "[1] Siehe oben, Quelle",
        "<b>Fett</b> und mager",
        "The translation, and its source",
        "msgid ist ein Wort",
        "1",
        '"Ja", sagte er.',
        "WEBVTTX",
        "id\tmodel",
        "",
        "{}",
    ],
)
def test_lines_of_text_may_begin_with_anything(tmp_path: Path, first: str) -> None:
    path = tmp_path / "mt.de"
    path.write_text(f"{first}\nzweite\n", encoding="utf-8")
    assert [segment.hypothesis for segment in segments.from_texts([str(path)])] == [first, "zweite"]


@pytest.mark.parametrize(
    ("times", "is_refused"),
    [
        (("01,100 --> 00:00:02,200", "03,000 --> 00:00:04,100", "04,900 --> 00:00:06,000"), False),
        (("21,000 --> 00:00:22,000", "23,000 --> 00:00:24,000", "25,000 --> 00:00:26,000"), False),  # of another cut
        (("01,000 --> 00:00:04,000", "05,000 --> 00:00:06,000", "58,000 --> 00:00:59,000"), True),
    ],
)
def test_cues_are_paired_that_are_shown_at_the_same_time(
    tmp_path: Path, times: tuple[str, ...], *, is_refused: bool
) -> None:
    source = ("01,000 --> 00:00:02,000", "03,000 --> 00:00:04,000", "05,000 --> 00:00:06,000")
    for name, of_file in (("en.srt", source), ("de.srt", times)):
        cues = [f"{number}\n00:00:{time}\nText {number}\n" for number, time in enumerate(of_file, start=1)]
        (tmp_path / name).write_text("\n".join(cues), encoding="utf-8")
    paths = [str(tmp_path / "de.srt")], (), str(tmp_path / "en.srt")
    if is_refused:
        with pytest.raises(InputError, match=r"cue 3 of .*de\.srt and of .*en\.srt are not shown at the same time"):
            segments.from_texts(*paths)
    else:
        assert len(segments.from_texts(*paths)) == 3


def test_a_file_without_a_translation_does_not_stop_the_others(tmp_path: Path) -> None:
    header = 'msgid ""\nmsgstr "Language: de\\nContent-Type: text/plain; charset=UTF-8\\n"\n\n'
    for name, text in (("a.po", ""), ("b.po", "Offen"), ("c.po", "")):
        (tmp_path / name).write_text(f'{header}msgid "Open"\nmsgstr "{text}"\n', encoding="utf-8")
    files = [str(tmp_path / name) for name in ("a.po", "b.po", "c.po")]
    issues: list[RowIssue] = []
    reading = ReadOptions(issues.append)
    assert [segment.hypothesis for segment in segments.from_files(files, reading)] == ["Offen"]
    assert [Path(issue.path).name for issue in issues if issue.kind == "skipped"] == ["a.po", "c.po"]
    with pytest.raises(FormatError, match="every row is skipped"):
        segments.from_files([files[0], files[2]], reading)


@pytest.fixture(params=["texts", "table", "both"])
def given(request: pytest.FixtureRequest, folder: Path) -> segments.GivenSegments:
    """Two systems of three segments each, in the order of their files; those of the table take turns."""
    if request.param == "texts":
        write(folder / "b.txt", "eins", "zwei", "drei")
        return segments.from_texts(["mt.txt", "b.txt"], ["ref.txt"])
    rows = [f"{'ab'[number % 2]},{number // 2},Text {number},Text" for number in range(6)]
    write(folder / "table.csv", "system,index,hypothesis,source", *rows)
    if request.param == "table":
        return segments.from_file("table.csv")
    write(folder / "table.csv", "system,index,hypothesis,source", *rows[::2])
    return segments.from_files(["table.csv", "mt.txt"], references=["ref.txt"])


def test_what_commands_take_of_segments(given: segments.GivenSegments) -> None:
    every = list(given)
    assert list(given) == every, "they can be read again"
    assert (len(given), set(given.counts.values())) == (6, {3})
    for n_parts in (1, 2, 4, 7):
        parts = [given.part(number, n_parts) for number in range(1, n_parts + 1)]
        assert [segment for part in parts for segment in part] == every
        assert [len(part) for part in parts] == [len(list(part)) for part in parts]
    first = given.first(2)
    assert set(first.counts.values()) == {2}
    assert len(list(first)) == len(first) == 4
    assert (given.first(9).counts, given.first(None)) == (given.counts, given)
    name = segments.system_of(every[0])
    without_system = given.where(lambda segment: segments.system_of(segment) != name)
    assert without_system.counts == {**given.counts, name: 0}
    assert list(without_system) == [segment for segment in every if segments.system_of(segment) != name]
    assert [segments.system_of(segment) for segment in given.by_system()] == [
        system for system in given.counts for _ in "abc"
    ]
    assert {segment.references for segment in given.without_references()} == {()}


def test_systems_without_a_name_are_named_after_their_file(folder: Path) -> None:
    write(folder / "a.de.csv", "hypothesis", "eins")
    (segment,) = segments.from_file("a.de.csv")
    assert (segments.system_of(segment), segment.key) == ("a.de", SegmentKey(index=0))
    assert segments.system_of(Segment("a")) == ""

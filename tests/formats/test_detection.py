from __future__ import annotations

from pathlib import Path

import pytest

from matese.errors import FormatError, UsageError
from matese.formats import detection
from matese.formats.format import ReadOptions
from matese.formats.row_issues import RowIssue

MQM = (
    "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\tcomment\n"
    "A\td\t1\t7\tr1\tHouse\t<v>Haus</v>\tStyle\tMinor\t\n"
)
SPANS = "MT\td\t7\tr1\tHouse\tHaus\t0\t4\tmajor\n"
HEADER = "mt_system\tdoc_id\tseg_id\tannotator_id\tsource\ttarget\tstart_ids\tend_ids\terrors\n"


def write(folder: Path, text: str) -> Path:
    path = folder / "ratings"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ('{"hypothesis": "Haus"}\n', "jsonl"),
        ("\ufeff {}", "jsonl"),
        (MQM, "mqm-tsv"),
        (SPANS, "error-spans"),
        (HEADER, "error-spans"),
        ('mt\t{"errors": []}\n', "seg-rating"),
        ("mt\tNone\tanna\n", "seg-rating"),
        # A word of a format in a cell is none of its signs.
        ('src,mt\n"<xliff:g id=""a"">x</xliff:g>","y"\n', "csv"),
        ("src,mt\nSave as <tmx>,Als <tmx>\n", "csv"),
        ('{"src": "Open", "mt": "Offen", "metric": "COMET"}\n', "jsonl"),
        ('{"src": "a", "tgt": "b", "item_id": 3}\n', "jsonl"),
        ('{"src": "a", "mt": "b", "data": "news", "kind": "annotations"}\n', "jsonl"),
        ('[{"src": "a", "mt": "b", "COMET": 0.5, "system": "A"}]\n', "json"),
        ('{"A": [{"src": "a", "mt": "b", "COMET": 0.5}]}\n', "xcomet"),
        ('[{"src": "a", "mt": "b", "COMET": 0.5}]\n', "xcomet"),
        ('{"src": "a", "mt": "b", "COMET": 0.5, "lang_pair": "en-de"}\n', "jsonl"),
    ],
)
def test_formats_by_their_beginning(tmp_path: Path, text: str, form: str) -> None:
    assert detection.detect(write(tmp_path, text)) == form


def test_a_po_file_may_begin_with_a_long_comment(tmp_path: Path) -> None:
    path = tmp_path / "de.po"
    path.write_text("# Copyright\n" * 3000 + 'msgid "Open"\nmsgstr "Offen"\n', encoding="utf-8")
    assert detection.detect(path) == "po"


def test_ratings_without_their_texts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="format 'seg-rating' cannot be read: must be mtme"):
        list(detection.read(write(tmp_path, 'mt\t{"errors": []}\n')))


def test_what_can_be_read_only_once_is_jsonl() -> None:
    assert detection.detect("-") == "jsonl"
    assert detection.detect("/dev/null") == "jsonl"


def test_neither(tmp_path: Path) -> None:
    for text in ("Das ist ein Satz.\n", "\n  ฉันชอบ|||", "0.5"):
        with pytest.raises(FormatError, match=r"ratings: a text file: give it with --hyp, --src or --ref; where"):
            detection.detect(write(tmp_path, text))
    with pytest.raises(FormatError, match="ratings: file has only blank lines"):
        detection.detect(write(tmp_path, "\n \n"))
    for text in (" <a>", "a\tb\n", "PNG\r\n\x00"):
        with pytest.raises(FormatError, match="ratings:1: format not recognised: must be mtme, mqm-tsv"):
            detection.detect(write(tmp_path, text))
    line = '{"hypothesis": "Das ist für alle."}\n'
    (tmp_path / "ratings").write_bytes(line.encode("utf-16"))
    assert [rating.segment.hypothesis for rating in detection.read(tmp_path / "ratings")] == ["Das ist für alle."]
    (tmp_path / "ratings").write_bytes(line.encode("latin-1"))
    with pytest.raises(FormatError, match=r"ratings:1: .*UTF-8"):
        list(detection.read(tmp_path / "ratings"))
    with pytest.raises(FormatError, match="ratings: file is empty; it must hold one or more ratings"):
        detection.detect(write(tmp_path, ""))
    with pytest.raises(FileNotFoundError):
        detection.detect(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["a.properties", "a.strings", "de.yml", "de.ftl", "A.RESX"])
def test_localisation_files_that_are_not_read_are_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("<root>a = b</root>\n", encoding="utf-8")
    for look in (detection.detect, detection.form_of_cues):
        with pytest.raises(FormatError, match=r"a localisation file .*: convert it to PO, XLIFF or CSV first"):
            look(str(path))


def test_a_file_of_which_every_row_is_skipped_names_the_first(tmp_path: Path) -> None:
    head, row = MQM.splitlines(keepends=True)
    path = write(tmp_path, head + "short\trow\n" + "another\n")
    issues: list[RowIssue] = []
    with pytest.raises(FormatError) as raised:
        list(detection.read(path, ReadOptions(issues.append)))
    assert (raised.value.line, len(issues)) == (2, 2)
    path.write_text(head + "short\trow\n" + row, encoding="utf-8")
    assert len(list(detection.read(path, ReadOptions(issues.append)))) == 1


@pytest.mark.parametrize(
    ("text", "line", "is_named"),
    [
        ('{"hypothesis": "a",\n "source": "b"}\n', 1, True),
        ('{"1067": {\n "source": "a", "mt": "b"} }\n', 1, True),
        ('{"hypothesis": "a"}\n{"hypothesis":\n"b"}\n', 2, True),
        ('{"hypothesis": "a"}\n{"hypothesis": "b"\n', 2, False),  # cut off
        ('{"hypothesis": a}\n{}\n', 1, False),
    ],
)
def test_an_object_over_several_lines_is_named_as_such(tmp_path: Path, text: str, line: int, *, is_named: bool) -> None:
    with pytest.raises(FormatError) as raised:
        list(detection.read(write(tmp_path, text), name="jsonl"))
    assert raised.value.line == line
    assert ("over several lines" in raised.value.problem) == is_named

"""Tables that others made: their columns, their cells, and what cannot be read."""

from __future__ import annotations

import gzip
import io
import json
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from matese.annotation import Rating, Segment, SegmentKey
from matese.errors import FormatError, InputError, UsageError
from matese.formats import detection, segments, writing
from matese.formats.format import ReadOptions
from matese.formats.row_issues import RowIssue
from matese.formats.tables import columns, jsonl, xlsx

GERMAN = Segment("Ein Haus.", "A tree.", ("Ein Baum.",))
COMET = '{"src": "A tree.", "mt": "Ein Haus.", "ref": "Ein Baum."}\n'


def read(path: Path, text: str | bytes, **named: Sequence[str]) -> list[Segment]:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return [rating.segment for rating in detection.read(path, ReadOptions(columns=named))]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "source,ref,mt\nA tree.,Ein Baum.,Ein Haus.\n"),
        ("a.csv", "\ufeffSource Text;Reference;Translation\r\nA tree.;Ein Baum.;Ein Haus.\r\n"),
        ("a", 'SRC,refA,"Target"\n"A tree.","Ein Baum.",Ein Haus.'),
        ("a.tsv", "hyp\tsrc\treference 1\nEin Haus.\tA tree.\tEin Baum.\n"),
        ("a.csv", "src,ref,mt\nA tree.,Ein Baum.,Ein Haus.\n\n\r\n"),
        ("a.csv", '"Source\nText";ref;"mt"\r\nA tree.;Ein Baum.;Ein Haus.\r\n'),
        ("a.csv", 'ref;mt;"Source\r\nText"\r\nEin Baum.;Ein Haus.;A tree.\r\n'),
        ("a.tsv", "src\tref\tmt\nA tree.\tEin Baum.\tEin Haus.\n\n"),
        ("a.jsonl", COMET),
        ("a.json", f"[{COMET}]"),
        ("a.json", json.dumps([json.loads(COMET)], indent=2)),
        ("a.jsonl", '{"hypothesis": "Ein Haus.", "source": "A tree.", "references": ["Ein Baum."]}\n'),
    ],
)
def test_usual_names(tmp_path: Path, name: str, text: str) -> None:
    assert read(tmp_path / name, text) == [GERMAN]
    assert read(tmp_path / f"{name}.gz", gzip.compress(text.encode())) == [GERMAN]


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("Texte source,Traduction", ("a", "b", None)),
        ("Original,Übersetzung", ("a", "b", None)),
        ("src,mt,Ziel", ("a", "b", {"Ziel": "c"})),
        ("original,mt,source", ("c", "b", {"original": "a"})),
    ],
)
def test_names_in_other_languages(tmp_path: Path, header: str, expected: tuple[object, ...]) -> None:
    row = ",".join("abc"[: header.count(",") + 1])
    (segment,) = read(tmp_path / "a.csv", f"{header}\n{row}\n")
    assert (segment.source, segment.hypothesis, segment.extra) == expected


def test_a_column_of_comments(tmp_path: Path) -> None:
    (segment,) = read(tmp_path / "a.csv", "mt,Remarque\na,b\n", comment=["Remarque"])
    assert segment.extra == {"comment": "b"}
    with pytest.raises(FormatError):
        read(tmp_path / "a.csv", "mt,Remarque,comment\na,b,c\n", comment=["Remarque"])


def test_standard_input_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in (COMET.encode(), b"src,ref,mt\nA tree.,Ein Baum.,Ein Haus.\n", f"[{COMET}]".encode()):
        for data in (text, gzip.compress(text)):
            stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(data)))
            monkeypatch.setattr(sys, "stdin", stream)
            assert [rating.segment for rating in detection.read("-")] == [GERMAN]
            assert not stream.closed


def test_keys_and_other_columns(tmp_path: Path) -> None:
    text = "model,doc,id,lp,mt,topic,score\nA,talk,7,english-german,Ja,news,0.50\nB,,x-1,en_DE,Nein,,\n"
    first, second = read(tmp_path / "a.csv", text)
    assert (first.key, first.extra) == (SegmentKey(None, "en-de", "A", "talk", 7), {"topic": "news", "score": "0.50"})
    assert (second.key, second.extra) == (SegmentKey(None, "en-de", "B"), {"topic": "", "score": "", "id": "x-1"})
    (unnumbered,) = read(tmp_path / "a.csv", "id,mt\n,Ja\n")
    assert [segment.label for segment in (first, second, unnumbered)] == ["id 7", "id x-1", "line 2"]
    written = json.loads(jsonl.dumps(Rating(first, "m", ())))
    assert (written["topic"], written["score"], written["input_score"]) == ("news", 0.0, "0.50")


@pytest.mark.parametrize(
    ("header", "cells", "pair"),
    [
        ("source_language,Target Language", "en,fr", "en-fr"),
        ("srcLang,tgt_lang", "English,zh-TW", "en-zh_TW"),
        ("source_language,target_language", "en,", None),
        ("source_language,target_language", "en,unknown tongue", None),
        ("target_language,x", "fr,y", None),
        ("source_language,target_language,lp", "en,fr,en-de", "en-de"),
    ],
)
def test_two_columns_of_languages(tmp_path: Path, header: str, cells: str, pair: str | None) -> None:
    (segment,) = read(tmp_path / "a.csv", f"id,mt,{header}\n1,Ja,{cells}\n")
    assert segment.key == SegmentKey(lang_pair=pair, index=1)
    named = dict(zip(header.split(","), cells.split(","), strict=True))
    assert segment.extra == {name: cell for name, cell in named.items() if name != "lp"}


def test_columns_that_the_user_names(tmp_path: Path) -> None:
    text = "de1,de2,gold,gold2\nJa,Nein,Doch,Oh\n"
    first, two = read(tmp_path / "a.csv", text, hypothesis=["de1", "de2"], reference=["gold", "gold2"])
    assert (first.hypothesis, first.references, first.key) == ("Ja", ("Doch", "Oh"), SegmentKey(system="de1"))
    assert (two.hypothesis, two.references, two.key) == ("Nein", ("Doch", "Oh"), SegmentKey(system="de2"))


@pytest.mark.parametrize(
    ("named", "hypotheses"),
    [
        ("hypothesis=sys,one", ["A"]),
        ("hypothesis=mt,sys,one", ["B", "A"]),
        ("hypothesis=one,mt", ["C", "B"]),
        ("hypothesis=mt,source=src,en", ["B"]),
    ],
)
def test_headings_with_commas(tmp_path: Path, named: str, hypotheses: list[str]) -> None:
    user_columns = columns.parse([named])
    segments = read(tmp_path / "a.csv", '"sys,one",mt,one,"src,en"\nA,B,C,Yes\n', **user_columns)
    assert [segment.hypothesis for segment in segments] == hypotheses
    assert "source" not in user_columns or segments[0].source == "Yes"


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet", "hf-dataset"])
def test_other_columns_come_back(tmp_path: Path, form: str) -> None:
    pytest.importorskip("datasets")
    extra = {"topic": "news", "n": 3, "tags": ["a", "b"], "none": None}
    rating = Rating(Segment("Ja", "Yes", extra=extra), "r", ())
    path = tmp_path / "written"
    assert not writing.write([rating, rating], path, form)
    (again, _) = detection.read(path)
    assert again == rating
    lists = '["a", "b"]' if form == "csv" else ["a", "b"]
    rest = {"n": "3", "none": None} if form == "csv" else {"n": 3, "none": None}
    assert again.segment.extra == {"topic": "news", "tags": lists, **rest}


@pytest.mark.parametrize("form", ["csv", "tsv", "xlsx"])
def test_an_empty_cell_of_a_users_column_is_null(tmp_path: Path, form: str) -> None:
    given = ({"context": "menu", "n": None}, {"context": None, "n": ""}, None)
    ratings = [Rating(Segment("Ja", "Yes", extra=extra), "r", ()) for extra in given]
    writing.write(ratings, tmp_path / "a", form)
    empty = {"context": None, "n": None}
    assert [rating.segment.extra for rating in detection.read(tmp_path / "a")] == [
        empty | {"context": "menu"},
        empty,
        empty,
    ]


def test_quotation_marks_of_tsv(tmp_path: Path) -> None:
    cells = ['"Ja"', '"Er sagte ""ja"""', 'das "Haus', '"Ja" und "Nein"']
    segments = read(tmp_path / "a.tsv", "src\tmt\n" + "".join(f"x\t{cell}\n" for cell in cells))
    assert [segment.hypothesis for segment in segments] == ['"Ja"', 'Er sagte "ja"', 'das "Haus', '"Ja" und "Nein"']
    quoted = read(tmp_path / "b.tsv", '"src"\t"mt"\n"x"\t"a\nb ""c"""\n')
    assert [segment.hypothesis for segment in quoted] == ['a\nb "c"']


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.csv", "src,mt,target\na,b,c\n", r"a\.csv:1: columns mt and target can both be the hypothesis; choose one"),
        ("a.csv", "src,mt,src\na,b,c\n", r"a\.csv:1: several columns are named 'src': must be a header of different"),
        ("a.csv", "en1,SYS,7,TGT,eng,jpn,80,doc#1,False,[],1.5,2.5\n", r"a\.csv:1: no header: 7 and 80 are values"),
        ("a.csv", "mt\na\n\nd\n", r"a\.csv:3: empty line"),
        ("a.csv", "src,mt\na,b\nc\n", r"a\.csv:3: 1 cell, but 2 columns in the header; every row needs"),
        ("a.csv", 'hypothesis,index\n"a', r"a\.csv:2: not CSV"),
        ("a.csv", "hypothesis,index,errors\na,x,[]\n", r"a\.csv:2: index: not JSON"),
        ("a.csv", "hypothesis,erors\na,[]\n", r"a\.csv:2: unknown key 'erors', did you mean 'errors'"),
        ("a.csv", "lp,mt\nxx-yy,b\n", r"a\.csv:2: 'xx-yy' is not a language pair: must be"),
        ("a.csv", b"src,mt\na,\xff\n", r"a\.csv:2: byte 0xff at position 2 is not UTF-8"),
        ("a.jsonl", '{"mt": 5, "src": "a"}', r"a\.jsonl:1: mt is 5: must be a translation"),
        ("a.jsonl", '{"mt": "b", "src": 1}', r"a\.jsonl:1: src is 1: must be a text"),
        ("a.jsonl", '{"mt": "b", "erors": []}', r"a\.jsonl:1: unknown key 'erors', did you mean 'errors'\?"),
        (
            "a.jsonl",
            '{"mt": "b", "error_spans": []}',
            r"a\.jsonl:1: unknown key 'error_spans', did you mean 'errors'\?",
        ),
        ("a.csv", "src,mt,Errors\na,b,[]\n", r"a\.csv:2: unknown key 'Errors', did you mean 'errors'\?"),
        ("a.csv.gz", gzip.compress(b"src,mt\n" + b"a,b\n" * 9, mtime=0)[:-9], r"a\.csv\.gz: gzip data are cut off or"),
    ],
)
def test_tables_that_are_refused(tmp_path: Path, name: str, text: str | bytes, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        read(tmp_path / name, text)


def test_named_columns_that_are_refused(tmp_path: Path) -> None:
    for named, problem in [
        ({"hypothesis": ["mtt"]}, "no column 'mtt', did you mean 'mt'"),
        ({"index": ["src"]}, "index is 'a': must be a whole number"),
        ({"source": ["mt", "src"]}, "source is mt and src; give one column"),
        ({"hypothesis": ["mt", "src"], "system": ["id"]}, "several columns of hypotheses and a column of systems"),
    ]:
        with pytest.raises(InputError, match=problem):
            read(tmp_path / "a.csv", "id,src,mt\n1,a,b\n", **named)
    with pytest.raises(UsageError, match="column mt is named twice"):
        columns.check_columns({"hypothesis": ["mt"], "source": ["mt"]})


def test_language_pairs_that_differ(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("lp,system,mt\nen-de,A,x\nen-ru,A,y\n", encoding="utf-8")
    for reading in (ReadOptions(lang_pair="eng-deu"), ReadOptions(print, lang_pair="en-ru")):
        with pytest.raises(FormatError, match=r"a\.csv:3: has en-de and en-ru"):
            list(detection.read(path, reading))
    path.write_text("lp,mt\nde-en,x\nde-en,y\n", encoding="utf-8")
    issues: list[RowIssue] = []
    wrong = list(detection.read(path, ReadOptions(issues.append, lang_pair="en-de")))
    assert [rating.segment.key and rating.segment.key.lang_pair for rating in wrong] == ["en-de", "en-de"]
    assert [(issue.kind, issue.line) for issue in issues] == [("repaired", 2), ("repaired", 3)]
    with pytest.raises(FormatError, match=r"a\.csv:2: states de-en"):
        list(detection.read(path, ReadOptions(lang_pair="en-de")))
    path.write_text("lp,mt\nen-de_AT,x\n,y\n", encoding="utf-8")
    pairs = [
        rating.segment.key and rating.segment.key.lang_pair
        for rating in detection.read(path, ReadOptions(lang_pair="en-de"))
    ]
    assert pairs == ["en-de_AT", "en-de"]


def test_segments_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"mt": "Ja", "n": 1}\n{"mt": "Ja", "m": 2}\n', encoding="utf-8")
    table = segments.from_file(str(path))
    assert (table.counts, table.form) == ({"a": 2}, "jsonl")
    assert [(segment.key, segment.extra) for segment in table] == [
        (SegmentKey(index=0), {"n": 1, "m": None}),
        (SegmentKey(index=1), {"n": None, "m": 2}),
    ]
    path.write_text('{"mt": "Ja", "system": "A", "id": 1}\n{"mt": "Nein", "system": "A", "id": 1}\n', encoding="utf-8")
    with pytest.raises(FormatError, match=r"two translations of system A, id 1: must differ in system, document"):
        segments.from_file(str(path))


def put_rows(path: Path, *rows: list[object]) -> Path:
    """Writes a workbook of these rows."""
    book = pytest.importorskip("openpyxl").Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def workbook(path: Path, **members: bytes) -> Path:
    """Writes a workbook, with some members of the archive replaced by others."""
    put_rows(path, ["mt", "ref", "src"], ["Das Haus", "Haus", None])
    with zipfile.ZipFile(path) as archive:
        whole = {member.filename: archive.read(member) for member in archive.infolist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**whole, **{f"xl/{name}": members[name] for name in members}}.items():
            archive.writestr(name, content)
    return path


ENTITY = b"""<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]>
<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>
<row><c t="inlineStr"><is><t>mt</t></is></c></row><row><c t="inlineStr"><is><t>&e;</t></is></c></row>
</sheetData></worksheet>"""


def test_workbooks_that_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (rating,) = detection.read(workbook(tmp_path / "a.xlsx"))
    assert (rating.segment.hypothesis, rating.segment.source) == ("Das Haus", None)
    for members, problem in [
        ({"workbook.xml": b"<a"}, "no workbook"),
        ({"worksheets/sheet1.xml": b"<worksheet"}, "no workbook"),
        ({"worksheets/sheet1.xml": ENTITY}, r"no workbook \((undefined entity|EntitiesForbidden)"),  # with defusedxml
    ]:
        with pytest.raises(FormatError, match=problem):
            list(xlsx.read(workbook(tmp_path / "a.xlsx", **members)))
    monkeypatch.setattr(xlsx, "_LARGEST", 1 << 20)
    bomb = workbook(tmp_path / "a.xlsx", **{"worksheets/sheet1.xml": bytes(2 << 20)})
    assert bomb.stat().st_size < 20_000
    with pytest.raises(FormatError, match=r"2,\d+,\d+ bytes unpacked, must be 1,048,576 at most"):
        list(xlsx.read(bomb))


@pytest.mark.parametrize("cell", ["=A1", "#N/A"])
def test_a_formula_without_a_value_is_no_empty_text(tmp_path: Path, cell: str) -> None:
    path = put_rows(tmp_path / "a.xlsx", ["mt", "src"], ["Ja", "Yes"], [cell, "No"])
    with pytest.raises(FormatError, match=r"a\.xlsx:3: cell A3 "):
        list(detection.read(path))


def test_the_stored_value_of_a_formula_is_read_also_beyond_the_stated_dimensions(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx")
    with zipfile.ZipFile(path) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml")
    computed = sheet.replace(
        b"</sheetData>", b'<row r="3"><c r="A3" t="str"><f>A2</f><v>Ja</v></c><c r="C3"><v>1</v></c></row></sheetData>'
    )
    ratings = detection.read(workbook(path, **{"worksheets/sheet1.xml": computed}))
    assert [rating.segment.hypothesis for rating in ratings] == ["Das Haus", "Ja"]


def test_ids_that_are_no_numbers_do_not_take_those_of_others(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,src,mt\n1,A,B\nx2,C,D\n3.0,E,F\nx4,G,H\n", encoding="utf-8")
    table = segments.from_file(str(path))
    numbered = [(segment.key and segment.key.index, segment.hypothesis) for segment in table]
    assert numbered == [(1, "B"), (0, "D"), (3, "F"), (2, "H")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", 'src,mt\n"Yes","J<v>a</v>"\n'),
        ("a.tsv", "src\tmt\nYes <v></v>\tJa\n"),
        ("a.jsonl", '{"src": "Yes", "mt": "<v>Ja</v>"}\n'),
    ],
)
def test_marks_of_errors_in_a_table_of_translations(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(FormatError, match=rf"{name}:[12]: (hypothesis|source) has an error marked with <v>"):
        read(tmp_path / name, text)
    (segment,) = read(tmp_path / name, text, hypothesis=["mt"], source=["src"])
    assert "<v>" in segment.hypothesis + (segment.source or "")
    (plain,) = read(tmp_path / name, text.replace("</v>", ""))
    assert "<v>" in plain.hypothesis + (plain.source or "")


def test_numbers_and_empty_cells_of_a_workbook(tmp_path: Path) -> None:
    path = put_rows(tmp_path / "a.xlsx", ["mt", "ref"], [17, 17.0], [0.5, True], [None, "Haus"])
    texts = [(rating.segment.hypothesis, *rating.segment.references) for rating in detection.read(path)]
    assert texts == [("17", "17"), ("0.5", "TRUE"), ("", "Haus")]
    with pytest.raises(FormatError, match=r"a\.xlsx:1: "):
        list(detection.read(path, ReadOptions(columns={"hypothesis": ["mtt"]})))


def test_cells_of_a_workbook_are_text(tmp_path: Path) -> None:
    """A spreadsheet program must not compute a translation that begins with "="."""
    openpyxl = pytest.importorskip("openpyxl")
    texts = ("=1+1", "+1", "-1", "@SUM(A1)", "12")
    rated = [Rating(Segment(text, source="a"), None, ()) for text in texts]
    writing.write(rated, str(tmp_path / "a.xlsx"), "xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx").active
    assert {cell.data_type for row in sheet["A1:C6"] for cell in row if cell.value is not None} == {"s"}
    assert [rating.segment.hypothesis for rating in detection.read(tmp_path / "a.xlsx")] == list(texts)
    writing.write(rated, str(tmp_path / "a.csv"), "csv")
    assert [rating.segment.hypothesis for rating in detection.read(tmp_path / "a.csv")] == list(texts)

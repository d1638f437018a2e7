"""The workbook that people read and correct."""

from __future__ import annotations

import gc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from matese import ErrorSpan, Estimate, FormatError, InputError, Omission, Rating, Segment, Severity, UnplacedError, mqm
from matese.cli import main
from matese.formats import detection, writing
from matese.formats.format import ReadOptions, TableStyle, WriteOptions
from matese.formats.person_review import Reviewed
from matese.formats.row_issues import RowIssue
from matese.formats.tables import xlsx
from tests.formats import reading

openpyxl = pytest.importorskip("openpyxl")
MINOR = Severity.MINOR
MAJOR = Severity.MAJOR
SEGMENT = Segment("Der Hund und der Hund sahen =1", "The dog and the cat saw =1", ("Der Hund und die Katze",))
RATING = Rating(
    replace(SEGMENT, extra={"note": "a"}),
    "matese|x",
    (ErrorSpan(4, 8, MINOR), ErrorSpan(17, 21, MAJOR, "Accuracy", 0.75)),
    omissions=(Omission("source", None, 16, 19, MAJOR, confidence=0.5),),
    unplaced=(UnplacedError(MINOR, "Style"),),
    estimate=Estimate(-3.5, "mqm"),
)
MARKED = "Minor: »Hund«\nMajor Accuracy: »Hund«\nMajor missing from source: »cat«\nMinor Style without a place"


def edited(tmp_path: Path, **cells: Any) -> list[Rating]:
    """Returns what is read after cells of the first rating were changed, by their heading."""
    path = tmp_path / "a.xlsx"
    writing.write([RATING, Rating(Segment("Gut", "Good", extra={"note": "c"}), None, ())], path, "xlsx")
    change(path, {heading.replace("_", " "): value for heading, value in cells.items()})
    return list(detection.read(path))


def change(path: Path, cells: dict[str, Any], *, row: int = 2) -> None:
    """Changes cells of a row of the first sheet, by their heading."""
    book = openpyxl.load_workbook(path, rich_text=True)
    sheet = book.worksheets[0]
    headings = [cell.value for cell in sheet[1]]
    for heading, value in cells.items():
        sheet.cell(row, headings.index(heading) + 1).value = value
    book.save(path)


def test_the_first_sheet_is_for_people(tmp_path: Path) -> None:
    assert edited(tmp_path)[0] == RATING
    book = openpyxl.load_workbook(tmp_path / "a.xlsx", rich_text=True)
    sheet = book.worksheets[0]
    rows = [[cell.value for cell in row] for row in sheet]
    texts = ["source", "hypothesis", "reference 1"]
    assert rows[0] == [*texts, "note", "marked errors", "reviewed", "score", "expected score", "row"]
    assert rows[1][4:] == [MARKED, None, -12, -3.5, 2]
    assert rows[2][4:] == ["no errors", None, 0, None, 3]
    assert (sheet.freeze_panes, sheet.auto_filter.ref) == ("A2", "A1:I3")
    coloured = [(part.text, part.font.color.rgb) for part in rows[1][1] if not isinstance(part, str)]
    assert [words for words, _ in coloured] == ["Hund", "Hund"]
    assert len({colour for _, colour in coloured}) == 2


@pytest.mark.parametrize(
    ("cell", "errors"),
    [
        ("no errors", ()),
        (" Minor: »Hund« ", (ErrorSpan(4, 8, MINOR),)),
        ("Major Accuracy: »Hund«", (ErrorSpan(17, 21, MAJOR, "Accuracy"),)),
        ("Critical Style/Odd: »der Hund«\r\nMajor: »=1«", (
            ErrorSpan(13, 21, Severity.CRITICAL, "Style/Odd"), ErrorSpan(28, 30, MAJOR))),
        ("Undecided: »sahen«", (ErrorSpan(22, 27, None),)),
        ("minor : « sahen »\nMAJOR Style: “sahen”", (ErrorSpan(22, 27, MINOR), ErrorSpan(22, 27, MAJOR, "Style"))),
        ('Major: "sahen"\nmajor：「sahen」', (ErrorSpan(22, 27, MAJOR), ErrorSpan(22, 27, MAJOR))),
        ("Minor: ‘sahen’\nMinor: „sahen“\nMinor: 'sahen'", (ErrorSpan(22, 27, MINOR),) * 3),
        ("minor: sahen\nMajor Style: Der Hund", (ErrorSpan(0, 8, MAJOR, "Style"), ErrorSpan(22, 27, MINOR))),
        ("Minor Style/Odd: und der Hund ", (ErrorSpan(9, 21, MINOR, "Style/Odd"),)),
        ("No errors", ()),
        (None, None),
    ],
)  # fmt: skip
def test_words_are_found_again(tmp_path: Path, cell: str | None, errors: tuple[ErrorSpan, ...] | None) -> None:
    rating, untouched = edited(tmp_path, marked_errors=cell)
    assert rating.errors == errors
    assert (rating.omissions, rating.unplaced, rating.rater, rating.estimate) == ((), (), None, None)
    assert untouched.errors == ()


def test_other_texts(tmp_path: Path) -> None:
    cell = "Minor in source: »dog«\nMajor missing from reference 1: »Katze«\nMinor without a place"
    rating, _ = edited(tmp_path, marked_errors=cell, note="b")
    assert rating.source_errors == (ErrorSpan(4, 7, MINOR),)
    assert rating.omissions == (Omission("reference", 0, 17, 22, MAJOR),)
    assert rating.unplaced == (UnplacedError(MINOR),)
    assert rating.segment.extra == {"note": "b"}


def test_a_corrected_translation_has_no_estimate_of_the_old_one(tmp_path: Path) -> None:
    rating, _ = edited(tmp_path, hypothesis="Die Katze", marked_errors="Minor: »Katze«")
    assert (rating.segment.hypothesis, rating.errors, rating.estimate) == ("Die Katze", (ErrorSpan(4, 9, MINOR),), None)


def test_a_translation_is_typed_into_an_empty_cell(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    blank = Rating(Segment("", "The dog"), "m", (), unplaced=(mqm.NON_TRANSLATION,), estimate=Estimate(-20.0, "mqm"))
    writing.write([blank], path, "xlsx")
    for cell, unplaced in ((None, ()), ("Minor without a place", (UnplacedError(MINOR),))):
        change(path, {"hypothesis": "Der Hund"} | ({} if cell is None else {"marked errors": cell}))
        issues: list[RowIssue] = []
        (rating,) = detection.read(path, ReadOptions(issues.append))
        assert (rating.segment.hypothesis, rating.unplaced, rating.estimate) == ("Der Hund", unplaced, None)
        assert rating.errors == (None if cell is None else ())
        assert [(issue.kind, issue.line) for issue in issues] == ([("repaired", 2)] if cell is None else [])


@pytest.mark.parametrize(
    ("heading", "new"),
    [("marked errors", "erreurs"), ("row", "ligne"), ("Traduction", "hypothesis"), ("row", None)],
)
def test_a_heading_of_ours_that_is_another_one(tmp_path: Path, heading: str, new: str | None) -> None:
    path = tmp_path / "a.xlsx"
    options = WriteOptions(table=TableStyle(headings={"hypothesis": "Traduction", "source": "Texte"}))
    writing.write([RATING], path, "xlsx", options)
    assert list(detection.read(path)) == [RATING]
    change(path, {heading: new}, row=1)
    with pytest.raises(FormatError) as raised:
        list(detection.read(path))
    assert raised.value.line == 1


def test_the_command_keeps_headings_and_numbers(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["N°", "Texte", "Texte cible"], [1, "The dog", "Der Hund"], [2.5, "A cat", "Ein Hund"]):
        book.active.append(row)
    book.save(tmp_path / "in.xlsx")
    command = ["tag", "--checks", "only", "--input", str(tmp_path / "in.xlsx"), "--output", str(tmp_path / "a.xlsx")]
    assert main([*command, "--columns", "hypothesis=Texte cible", "source=Texte"]) in (0, None)
    change(tmp_path / "a.xlsx", {"Texte cible": "Die Hündin", "marked errors": "Minor: “Hündin”"})
    first, second = detection.read(tmp_path / "a.xlsx")
    assert (first.segment.hypothesis, first.errors) == ("Die Hündin", (ErrorSpan(4, 10, MINOR),))
    assert [rating.segment.extra for rating in (first, second)] == [{"N°": 1}, {"N°": 2.5}]
    assert main(["convert", str(tmp_path / "a.xlsx"), str(tmp_path / "b.xlsx")]) in (0, None)
    rows = list(openpyxl.load_workbook(tmp_path / "b.xlsx").worksheets[0].values)
    assert rows[0][:3] == ("N°", "Texte", "Texte cible")
    assert rows[1][:3] == (1, "The dog", "Die Hündin")


def test_further_sheets_are_reported(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for title in ("de", "fr", "it"):
        sheet = book.create_sheet(title)
        for row in (["source", "target"], ["dog", title]):
            sheet.append(row)
    book.remove(book.worksheets[0])
    book.save(tmp_path / "in.xlsx")
    issues: list[RowIssue] = []
    (rating,) = detection.read(tmp_path / "in.xlsx", ReadOptions(issues.append))
    assert rating.segment.hypothesis == "de"
    assert [issue.kind for issue in issues] == ["assumed"]
    assert list(detection.read(tmp_path / "in.xlsx")) == [rating]
    (tmp_path / "in.xlsx").write_bytes((tmp_path / "in.xlsx").read_bytes()[:900])
    with pytest.raises(FormatError):
        list(detection.read(tmp_path / "in.xlsx", ReadOptions(columns={"hypothesis": ["target"]})))


OURS = ["marked errors", "reviewed", "score", "expected score", "row"]


@pytest.mark.parametrize(
    ("rows", "options", "ours", "extra"),
    [
        (
            [["Note", "mt", "row", "ID", "src", "ref"], ["a", "Hund", "x", "a7", "dog", "Hund"]],
            [],
            [*OURS[:4], "matese row"],
            {"Note": "a", "row": "x", "ID": "a7"},
        ),
        (
            [["refA", "Doc", "hyp", "id", "refB", "domain", "score"], ["Hund", "d", "Hund", 7, "Rüde", "news", 0.5]],
            [],
            [*OURS[:2], "matese score", *OURS[3:]],
            {"score": 0.5},
        ),
        (
            [["key", "my own", "B", "Original", None], ["x", "ja", "Hündin", "dog", None]],
            ["--columns", "hypothesis=B", "document=key", "comment=my own"],
            OURS,
            {"comment": "ja"},
        ),
    ],
)
def test_the_workbook_that_came_in_is_kept(
    tmp_path: Path, rows: list[list[object]], options: list[str], ours: list[str], extra: dict[str, object]
) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Texte"
    for row in rows:
        sheet.append(row)
    sheet["A1"].font = openpyxl.styles.Font(italic=True)
    sheet["A2"].number_format = "0.00"
    sheet.column_dimensions["B"].width = 77
    sheet["A2"].comment = openpyxl.comments.Comment("look", "anna")
    book.create_sheet("Hilfe")["A1"] = "=1+1"
    book.save(tmp_path / "0.xlsx")
    for number in (1, 2):  # the second time from a workbook of ours
        files = ["--input", str(tmp_path / f"{number - 1}.xlsx"), "--output", str(tmp_path / f"{number}.xlsx")]
        assert main(["tag", "--checks", "only", *files, *(options if number == 1 else [])]) in (0, None)
        marked = openpyxl.load_workbook(tmp_path / f"{number}.xlsx")
        assert marked.sheetnames == ["Texte", "Hilfe", "matese"]
        first = marked.worksheets[0]
        header, *lines = ([cell.value for cell in row] for row in first)
        before = [[*row] for row in rows]
        width = len([name for name in before[0] if name])
        assert (header[-5:], [row[:width] for row in (header, *lines)]) == (ours, [row[:width] for row in before])
        assert first["A1"].font.italic
        assert first["A2"].number_format == "0.00"
        assert (first["A2"].comment.text, first.column_dimensions["B"].width) == ("look", 77)
        assert marked["Hilfe"]["A1"].value == "=1+1"
        (read,) = detection.read(tmp_path / f"{number}.xlsx")
        assert (read.segment.hypothesis, read.segment.source, read.segment.line) == (
            rows[1][[name in ("mt", "hyp", "B") for name in rows[0]].index(True)],
            "dog" if "dog" in rows[1] else None,
            2,
        )
        assert {name: value for name, value in (read.segment.extra or {}).items() if value is not None} == extra


def test_ratings_of_another_file_go_into_a_template(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["src", "mt"], ["The dog", "Der Hund"], [None, None], ["A cat", "Ein Hund"], ["A cat", "Ein Hund"]):
        book.active.append(row)
    book.save(tmp_path / "in.xlsx")
    ratings = [
        Rating(Segment("Ein Hund", "A cat"), "anna", (ErrorSpan(4, 8, MAJOR),)),
        Rating(Segment("Ein Hund", "A cat"), "anna", ()),
    ]
    options = WriteOptions(template=tmp_path / "in.xlsx")
    writing.write(ratings, tmp_path / "out.xlsx", "xlsx", options)
    issues: list[RowIssue] = []
    back = list(detection.read(tmp_path / "out.xlsx", ReadOptions(issues.append)))
    assert [(rating.errors, rating.segment.line) for rating in back] == [((ErrorSpan(4, 8, MAJOR),), 4), ((), 5)]
    assert [(issue.kind, issue.line) for issue in issues] == [("skipped", 2)]
    with pytest.raises(InputError, match="must be a workbook whose first sheet has each translation"):
        writing.write([*ratings, ratings[0]], tmp_path / "out.xlsx", "xlsx", options)


def test_all_bad_cells_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    writing.write([RATING, RATING, replace(RATING, errors=())], path, "xlsx")
    change(path, {"marked errors": "Minor: »Katze«\nSerious: »Hund«"})
    change(path, {"marked errors": "Minor: Hund"}, row=4)
    with pytest.raises(FormatError) as raised:
        list(detection.read(path))
    assert raised.value.line == 2
    assert [part in str(raised.value) for part in ("Katze", "Serious", "row 4: »Hund« stands 2 times")] == [True] * 3


@pytest.mark.parametrize(
    ("cell", "starts"),
    [
        ("Minor: Anna; Major: Festival", [0, 14]),
        ("Minor: Anna, major style: Festival", [0, 14]),
        ('Minor: "Anna"; Major: "Festival"', [0, 14]),
        ("Minor: Anna mag; das", [0]),
        ("Minor: Anna; Major without a place", [0]),
    ],
)
def test_several_errors_in_one_line(tmp_path: Path, cell: str, starts: list[int]) -> None:
    text = "Anna mag; das Festival"
    path = tmp_path / "a.xlsx"
    writing.write([Rating(Segment(text), "m", ())], path, "xlsx")
    change(path, {"marked errors": cell})
    (rating,) = detection.read(path)
    assert [span.start for span in rating.errors or ()] == starts
    assert len(rating.unplaced) == cell.count("without")


@pytest.mark.parametrize(
    "cells",
    [
        {"source": "Another dog"},
        {"marked_errors": "Critical: »Hund«"},  # twice
        {"marked_errors": "Serious: »Hund«"},
        {"marked_errors": "Hund"},
        {"marked_errors": "Minor: Hund"},
        {"marked_errors": "Minor: Suppen"},
        {"marked_errors": "Major missing from reference 2: »Katze«"},
        {"hypothesis": "Die Katze"},  # whose errors are still those of the old text
        {"row": 9},
        {"row": None},
    ],
)
def test_what_is_not_understood_is_an_error_of_its_row(tmp_path: Path, cells: dict[str, Any]) -> None:
    with pytest.raises(FormatError) as raised:
        edited(tmp_path, **cells)
    assert raised.value.line == 2


@pytest.mark.filterwarnings("error")
def test_a_text_that_is_too_long_leaves_no_unfinished_sheet(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        writing.write([Rating(Segment("a" * 32_768), None, ())], tmp_path / "a.xlsx", "xlsx")
    gc.collect()


def workbook(path: Path, *rows: list[Any], merged: str | None = None) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    if merged:
        book.active.merge_cells(merged)
    book.save(path)
    return path


def test_a_header_that_is_not_in_the_first_row(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", [None, None], ["Source", "MT"], ["A", "Ein"])
    with pytest.raises(FormatError, match=r"a\.xlsx:1: row 1 is empty"):
        list(xlsx.read(path))
    assert list(xlsx.read(workbook(tmp_path / "a.xlsx"))) == []


@pytest.mark.parametrize(("merged", "notes"), [("A2:A3", ["2: assumed, cells A2:A3 are merged"]), ("B2:C2", [])])
def test_merged_cells_are_reported(tmp_path: Path, merged: str, notes: list[str]) -> None:
    rows: list[list[Any]] = [["Source", "MT", "Note"], ["A", "Ein", None], [None, "Eins", None]]
    ratings, issues = reading.read(workbook(tmp_path / "a.xlsx", *rows, merged=merged))
    assert [rating.segment.source for rating in ratings] == ["A", None]
    assert [issue[: issue.index(",", 12)] for issue in issues] == notes


def test_control_characters_as_excel_writes_them(tmp_path: Path) -> None:
    text = "a_x000D_\nb_x0009_c _x0041_ _x000d"
    (rating,) = xlsx.read(workbook(tmp_path / "a.xlsx", ["Source", "MT", "Note"], [text, text, text]))
    read = "a\r\nb\tc _x0041_ _x000d"
    assert (rating.segment.source, rating.segment.hypothesis, rating.segment.extra) == (read, read, {"Note": read})


def test_other_columns_with_lists_are_json_in_both_sheets(tmp_path: Path) -> None:
    segment = Segment("Ein", "A", extra={"tags": {"a": ["ä", None]}})
    xlsx.save([Rating(segment, "r", ())], tmp_path / "a.xlsx", WriteOptions())
    (rating,) = xlsx.read(tmp_path / "a.xlsx")
    assert rating.segment.extra == {"tags": '{"a": ["ä", null]}'}


@pytest.mark.parametrize(
    ("changes", "is_of_person"),
    [
        ({}, False),
        ({"reviewed": "x"}, True),
        ({"reviewed": "No"}, False),
        ({"reviewed": True}, True),
        ({"note": "b"}, False),
        ({"marked errors": "no errors"}, True),
        ({"marked errors": None}, True),
        ({"hypothesis": "Die Katze", "marked errors": "no errors"}, True),
    ],
)
def test_marks_are_a_person_s_only_in_rows_that_were_reviewed_or_changed(
    tmp_path: Path, changes: dict[str, object], is_of_person: bool
) -> None:
    path = tmp_path / "a.xlsx"
    writing.write([RATING], path, "xlsx")
    change(path, changes)
    (rating,) = detection.read(path)
    assert rating.rater == (None if is_of_person else RATING.rater)
    by_bob = Reviewed("bob")
    assert [reviewed.rater for reviewed in by_bob.of([rating])] == ["bob"] * is_of_person
    assert (by_bob.n_left_out, by_bob.notice is None) == (int(not is_of_person), is_of_person)

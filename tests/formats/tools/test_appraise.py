"""Appraise's batches and results as its server reads and writes them, written by hand here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from matese.annotation import ErrorSpan, Overall, Rating, UnplacedError
from matese.errors import FormatError
from matese.formats.format import ReadOptions, WriteOptions
from matese.formats.row_issues import RowIssue
from matese.formats.tools import appraise
from tests.formats.one_rating import EMOJI, GIVEN, MINOR, put

TASK = {"batchNo": 1, "requiredAnnotations": 1, "sourceLanguage": "eng", "targetLanguage": "deu"}
TUTORIAL = {"tutorial": {"instruction": "All of it is right."}, "payload": []}
MARK = {"start_i": 0, "end_i": 2, "severity": "minor"}


def item(number: int, **changes: object) -> dict[str, object]:
    made: dict[str, object] = {
        "mqm": [],
        "documentID": "talk",
        "sourceID": "en-de",
        "targetID": "A",
        "itemType": "TGT",
        "sourceText": "A tree.",
        "targetText": "Ein Haus.",
        "itemID": number,
    }
    return {**made, **changes}


def read(
    folder: Path, items: list[dict[str, object]], rows: str = "", task: object = TASK
) -> tuple[list[Rating], list[tuple[str, str]]]:
    """The ratings of a folder with these batches and results, and the issues that reading reports."""
    put(folder / "batches.json", json.dumps([{"items": items, "task": task}]))
    if rows:
        put(folder / "results.csv", rows)
    issues: list[RowIssue] = []
    return list(appraise.read(folder, ReadOptions(issues.append))), [(issue.kind, issue.reason) for issue in issues]


def row(number: int, *, kind: str = "TGT", spans: str = "[]") -> str:
    return f"ann,A,{number},{kind},eng,deu,80,talk,False,{spans},1,2\n"


def test_appraise_results_find_their_texts_in_the_batches(tmp_path: Path) -> None:
    appraise.save([GIVEN], tmp_path / "batch", WriteOptions(method="pilot"))
    (batch,) = json.loads((tmp_path / "batch" / "batches.json").read_text(encoding="utf-8"))
    assert (batch["task"]["sourceLanguage"], batch["task"]["targetLanguage"]) == ("eng", "deu")
    assert batch["items"][0]["mqm"] == [{"start_i": 7, "end_i": 10, "severity": "major", "error_type": "Style"}]
    spans = '"[{""start_i"":""missing"",""end_i"":""missing"",""severity"":""minor""}]"'
    rows = f"ann,A,0,TGT,eng,deu,83,talk,False,[],1,2\nann,A,0,TGT,eng,deu,90,talk,False,{spans},1,2\n"
    put(tmp_path / "batch" / "results.csv", rows + "ann,A,9,TGT,eng,deu,0,talk,False,[],1,2\n")
    with pytest.raises(FormatError, match=r"results\.csv:3: item is not in the batches"):
        list(appraise.read(tmp_path / "batch"))
    notes: list[RowIssue] = []
    (rating,) = appraise.read(tmp_path / "batch", ReadOptions(notes.append))
    assert (rating.rater, rating.errors, rating.unplaced) == ("ann", (), (UnplacedError(MINOR),))
    assert rating.overall == Overall(90, "esa")
    assert rating.segment.hypothesis == EMOJI
    assert [note.reason for note in notes] == ["item is not in the batches"]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("a,b", "2 fields: must be 12"),
        ("ann,A,0,TGT,eng,deu,83,talk,False,[,1,2", "not JSON"),
        ("ann,A,0,TGT,eng,deu,x,talk,False,[],1,2", "score 'x': must be a number"),
    ],
)
def test_appraise_rows_at_fault(tmp_path: Path, row: str, problem: str) -> None:
    appraise.save([GIVEN], tmp_path / "batch", WriteOptions())
    put(tmp_path / "batch" / "results.csv", row + "\n")
    with pytest.raises(FormatError, match=rf"results\.csv:1: {problem}"):
        list(appraise.read(tmp_path / "batch"))


@pytest.mark.parametrize(
    ("source_id", "task", "pair"),
    [
        ("en-de", TASK, "en-de"),
        ("en_GB-de_AT", TASK, "en_GB-de_AT"),
        ("eng-deu", TASK, "en-de"),
        ("wmt", TASK, "en-de"),
        ("newstest-7", TASK, "en-de"),
        ("fr-it", TASK, "en-de"),
        ("en-de", {}, "en-de"),
        ("eng-deu", {}, "en-de"),
        ("wmt", {}, None),
    ],
)
def test_the_language_pair(tmp_path: Path, source_id: str, task: object, pair: str | None) -> None:
    (rating,), _ = read(tmp_path, [item(0, sourceID=source_id)], task=task)
    assert rating.segment.key is not None
    assert rating.segment.key.lang_pair == pair


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"mqm": TUTORIAL}, "tutorial"),
        ({"itemType": "BAD"}, "attention check (BAD)"),
        ({"itemType": "CHK"}, "attention check (CHK)"),
        ({"itemType": "REF"}, "attention check (REF)"),
        ({"itemType": "ODD"}, "item of the unknown type 'ODD'"),
    ],
)
@pytest.mark.parametrize("has_results", [True, False])
def test_items_that_are_no_ratings(tmp_path: Path, changes: dict[str, str], reason: str, *, has_results: bool) -> None:
    rows = row(0) + row(1, kind=changes.get("itemType", "TGT")) if has_results else ""
    (rating,), issues = read(tmp_path, [item(0), item(1, **changes)], rows)
    assert (rating.segment.key and rating.segment.key.index, issues) == (0, [("skipped", reason)])
    if "ODD" in reason:
        with pytest.raises(FormatError, match=r":[12]: item of the unknown type"):
            list(appraise.read(tmp_path))
    else:
        assert len(list(appraise.read(tmp_path))) == 1


def test_a_check_with_the_place_of_another_item(tmp_path: Path) -> None:
    items = [item(0), item(0, itemType="BAD", targetText="Ein Regen.")]
    (rating,), issues = read(tmp_path, items, row(0) + row(0, kind="BAD"))
    assert (rating.segment.hypothesis, issues) == ("Ein Haus.", [("skipped", "attention check (BAD)")])


def test_checks_that_are_not_in_the_batches(tmp_path: Path) -> None:
    _, issues = read(tmp_path, [item(0)], row(0) + row(7, kind="BAD"))
    assert issues == [("skipped", "attention check (BAD)")]


@pytest.mark.parametrize(
    ("changes", "errors"),
    [
        ({}, None),
        ({"mqm": None}, None),
        ({"mqm": {"payload": []}}, None),
        ({"annotated": True}, ()),
        ({"mqm": [MARK]}, (ErrorSpan(0, 3, MINOR),)),
        ({"mqm": {"payload": [MARK]}}, (ErrorSpan(0, 3, MINOR),)),
    ],
)
def test_items_that_are_not_annotated(tmp_path: Path, changes: dict[str, object], errors: object) -> None:
    (rating,), issues = read(tmp_path, [item(0, **changes)])
    assert (rating.errors, issues) == (errors, [])
    (rated,), _ = read(tmp_path, [item(0, **changes)], row(0))
    assert rated.errors == ()


@pytest.mark.parametrize("has_results", [True, False])
def test_an_unknown_severity(tmp_path: Path, *, has_results: bool) -> None:
    odd = {**MARK, "severity": "odd"}
    for marks, errors in (([odd], None), ([odd, MARK], (ErrorSpan(0, 3, MINOR),))):
        quoted = json.dumps(marks).replace('"', '""')
        rows = row(0, spans=f'"{quoted}"') if has_results else ""
        (rating,), issues = read(tmp_path, [item(0, mqm=marks)], rows)
        assert (rating.errors, issues) == (errors, [("ignored", "unknown severity 'odd'")])
        with pytest.raises(FormatError, match=r":1: unknown severity 'odd'"):
            list(appraise.read(tmp_path))

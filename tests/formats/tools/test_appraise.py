"""Appraise's batches and results as its server reads and writes them, written by hand here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from matese.annotation import Overall, SegmentKey
from matese.errors import FormatError
from matese.formats.format import WriteOptions
from matese.formats.tools import appraise
from tests.formats.one_rating import EMOJI, GIVEN, put
from tests.formats.reading import marks, read

TASK = {"batchNo": 1, "requiredAnnotations": 1, "sourceLanguage": "eng", "targetLanguage": "deu"}
TUTORIAL = {"tutorial": {"instruction": "All of it is right."}, "payload": []}
MARK = {"start_i": 0, "end_i": 2, "severity": "minor"}
Json = dict[str, object]


def item(number: int, **changes: object) -> Json:
    made: Json = {
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


def row(number: int, *, kind: str = "TGT", spans: object = (), score: str = "80") -> str:
    quoted = json.dumps(spans).replace('"', '""')
    return f'ann,A,{number},{kind},eng,deu,{score},talk,False,"{quoted}",1,2\n'


def batch(folder: Path, items: list[Json], rows: str = "", task: object = TASK) -> Path:
    """A folder of one batch, and of results if there are rows."""
    put(folder / "batches.json", json.dumps([{"items": items, "task": task}]))
    if rows:
        put(folder / "results.csv", rows)
    return folder


def test_appraise_results_find_their_texts_in_the_batches(tmp_path: Path) -> None:
    folder = tmp_path / "batch"
    appraise.save([GIVEN], folder, WriteOptions(method="pilot"))
    (written,) = json.loads((folder / "batches.json").read_text(encoding="utf-8"))
    assert (written["task"]["sourceLanguage"], written["task"]["targetLanguage"]) == ("eng", "deu")
    assert written["items"][0]["mqm"] == [{"start_i": 7, "end_i": 10, "severity": "major", "error_type": "Style"}]
    missing = {"start_i": "missing", "end_i": "missing", "severity": "minor"}
    put(folder / "results.csv", row(0) + row(0, spans=[missing], score="90") + row(9))
    (rating,), notes = read(folder)
    assert (rating.segment.hypothesis, rating.rater, marks(rating)) == (EMOJI, "ann", "- minor")
    assert rating.overall == Overall(90, "esa")
    assert notes == ["!3: skipped, item is not in the batches"]


@pytest.mark.parametrize(
    "row",
    [
        "a,b",
        "ann,A,0,TGT,eng,deu,83,talk,False,[,1,2",
        row(0, score="x"),
        row(0).replace(",0,", ",nought,"),
        row(0).replace('"[]"', '"[]'),
    ],
)
def test_appraise_rows_at_fault(tmp_path: Path, row: str) -> None:
    with pytest.raises(FormatError, match=r"results\.csv:1: "):
        list(appraise.read(batch(tmp_path, [item(0)], row)))


def test_results_that_a_spreadsheet_has_written(tmp_path: Path) -> None:
    folder = batch(tmp_path, [item(0)])
    (folder / "results.csv").write_bytes(b"\xef\xbb\xbf" + row(0).replace("\n", "\r\n").encode() + b"\r\n")
    (rating,), notes = read(folder)
    assert (rating.rater, notes) == ("ann", [])
    (folder / "results.csv").write_bytes(row(0).replace("ann", "Jürg").encode("latin-1"))
    with pytest.raises(FormatError, match=r"results\.csv:1: "):
        list(appraise.read(folder))


def test_one_place_in_batches_of_two_language_pairs(tmp_path: Path) -> None:
    czech = {"items": [item(0, sourceID="wmt", targetText="Dům.")], "task": {**TASK, "targetLanguage": "ces"}}
    german = {"items": [item(0)], "task": TASK}
    put(tmp_path / "batches.json", json.dumps([german, czech]))
    put(tmp_path / "results.csv", row(0) + row(0).replace("deu", "ces") + row(0).replace("deu", "fra"))
    ratings, notes = read(tmp_path)
    assert [rating.segment.hypothesis for rating in ratings] == ["Ein Haus.", "Dům."]
    assert notes == ["!3: skipped, item is in batches of several other language pairs"]


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
    (rating,), _ = read(batch(tmp_path, [item(0, sourceID=source_id)], task=task))
    assert (rating.segment.key or SegmentKey()).lang_pair == pair


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"mqm": TUTORIAL}, "tutorial"),
        ({"itemType": "BAD"}, "attention check (BAD)"),
        ({"itemType": "CHK"}, "attention check (CHK)"),
        ({"itemType": "REF"}, "attention check (REF)"),
        # A check with the place of another item.
        ({"itemID": 0, "itemType": "BAD", "targetText": "Ein Regen."}, "attention check (BAD)"),
        ({"itemType": "ODD"}, "item of the unknown type 'ODD'"),
    ],
)
@pytest.mark.parametrize("has_results", [True, False])
def test_items_that_are_no_ratings(tmp_path: Path, changes: dict[str, str], reason: str, *, has_results: bool) -> None:
    rows = row(0) + row(int(changes.get("itemID", 1)), kind=changes.get("itemType", "TGT")) if has_results else ""
    ratings, notes = read(batch(tmp_path, [item(0), item(1, **changes)], rows))
    assert [rating.segment.hypothesis for rating in ratings] == ["Ein Haus."]
    (note,) = notes
    assert note.partition(": ")[2] == f"skipped, {reason}"
    assert note.startswith("!") is ("ODD" in reason)


def test_checks_that_are_not_in_the_batches(tmp_path: Path) -> None:
    _, notes = read(batch(tmp_path, [item(0)], row(0) + row(7, kind="BAD")))
    assert notes == ["2: skipped, attention check (BAD)"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "no spans"),
        ({"mqm": None}, "no spans"),
        ({"mqm": {"payload": []}}, "no spans"),
        ({"annotated": True}, ""),
        ({"mqm": [MARK]}, "0-3 minor"),
        ({"mqm": {"payload": [MARK]}}, "0-3 minor"),
    ],
)
def test_items_that_are_not_annotated(tmp_path: Path, changes: Json, expected: str) -> None:
    (rating,), notes = read(batch(tmp_path, [item(0, **changes)]))
    assert (marks(rating), notes) == (expected, [])
    (rated,), _ = read(batch(tmp_path, [item(0, **changes)], row(0)))
    assert rated.errors == ()


@pytest.mark.parametrize("has_results", [True, False])
def test_an_unknown_severity(tmp_path: Path, *, has_results: bool) -> None:
    odd = {**MARK, "severity": "odd"}
    for spans, expected in (([odd], "no spans"), ([odd, MARK], "0-3 minor")):
        (rating,), notes = read(batch(tmp_path, [item(0, mqm=spans)], row(0, spans=spans) if has_results else ""))
        assert (marks(rating), notes) == (expected, ["!1: ignored, unknown severity 'odd'"])

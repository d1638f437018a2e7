"""Pearmut's files as its server writes them, written by hand here, and files that are at fault."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from matese.annotation import ErrorSpan, Overall, Rating, Segment, SegmentKey, UnplacedError
from matese.errors import FormatError
from matese.formats import detection
from matese.formats.format import ReadOptions, WriteOptions
from matese.formats.row_issues import RowIssue
from matese.formats.tools import pearmut
from tests.formats.one_rating import EMOJI, GIVEN, MINOR, put


def test_pearmut_ends_are_inclusive_and_omissions_stand_behind_the_text(tmp_path: Path) -> None:
    rating = Rating(GIVEN.segment, None, GIVEN.errors, unplaced=(UnplacedError(MINOR),))
    campaign = json.loads("".join(pearmut.write([rating], WriteOptions(method="pilot"))))
    assert (campaign["campaign_id"], campaign["info"]["protocol"]) == ("pilot", "ESA")
    ((item,),) = campaign["data"][0]
    assert item["error_spans"]["A"] == [
        {"start_i": 7, "end_i": 10, "severity": "major", "category": "Style"},
        {"start_i": 12, "end_i": 12, "severity": "minor", "category": None},
    ]


def answer(user: str, spans: list[dict[str, object]], **changes: object) -> dict[str, object]:
    item = {"tgt": {"A": EMOJI}, "src": "x", "index": 0, "document": "talk"}
    return {
        "user_id": user,
        "item_i": 0,
        "item": [item],
        "annotation": [{"A": {"score": 70, "error_spans": spans}}],
        **changes,
    }


def test_pearmut_annotations_and_those_given_anew(tmp_path: Path) -> None:
    span = {"start_i": 7, "end_i": 10, "severity": "Major", "category": None}
    log = [
        answer("ann", [span, {**span, "start_i": 12, "end_i": 12}]),
        answer("bob", []),
        answer("ann", [{**span, "severity": None}]),
        answer("ann", [], item_i="welcome_0"),
        answer("bob", [], annotation=[None]),
        answer("bob", [], item_i=2, item=[{"text": "How was it?", "form": "string"}], annotation=[{"0": "well"}]),
        {"user_id": "bob", "item_i": 1},
    ]
    path = put(tmp_path / "annotations.json", json.dumps({"pilot": log}))
    assert detection.detect(path) == "pearmut"
    segment = Segment(EMOJI, "x", key=SegmentKey(system="A", document="talk", index=0))
    overall = Overall(70, "esa")
    assert list(pearmut.read(path)) == [
        Rating(segment, "ann", (ErrorSpan(6, 10, None),), overall=overall),
        Rating(segment, "bob", (), overall=overall),
    ]


def test_pearmut_annotations_before_a_reset_do_not_hold(tmp_path: Path) -> None:
    reset = {"user_id": "ann", "annotation": "__RESET__"}
    other = answer("ann", [], item=[{"tgt": {"A": "Ja."}}], item_i=1)
    log = [answer("ann", []), answer("bob", []), reset, other]
    path = put(
        tmp_path / "annotations.json", json.dumps({"pilot": log, "second": [answer("ann", []), answer("cleo", [])]})
    )
    rated = [(rating.rater, rating.segment.hypothesis) for rating in pearmut.read(path)]
    assert rated == [("bob", EMOJI), ("ann", "Ja."), ("ann", EMOJI), ("cleo", EMOJI)]
    put(path, "".join(json.dumps(entry) + "\n" for entry in log))
    assert [(rating.rater, rating.segment.hypothesis) for rating in pearmut.read(path)] == rated[:2]


def test_pearmut_campaigns_as_its_dashboard_downloads_them(tmp_path: Path) -> None:
    ((item,),) = json.loads("".join(pearmut.write([GIVEN], WriteOptions())))["data"][0]
    form = {"text": "How was it?", "form": "string"}
    # A task for each user; and one stream of documents for all.
    by_user = {
        "campaign_id": "pilot",
        "info": {},
        "data": {"ann": [[item]], "bob": [[item, item], [form]]},
        "token": "x",
    }
    stream = {"campaign_id": "next", "info": {}, "data": [[item], [item]], "token": "x"}
    path = put(tmp_path / "campaigns.json", json.dumps([by_user, stream]))
    assert detection.detect(path) == "pearmut"
    assert list(pearmut.read(path)) == [GIVEN] * 5
    for campaign, n in ((by_user, 3), (stream, 2)):
        assert list(pearmut.read(put(path, json.dumps(campaign, indent=1)))) == [GIVEN] * n
    by_user["data"] = {"ann": [[{"src": "x"}]]}
    with pytest.raises(FormatError, match=r"campaigns\.json:1: tgt is missing: must be an object"):
        list(pearmut.read(put(path, json.dumps([by_user]))))


def test_indices_within_a_character_are_refused_or_widened(tmp_path: Path) -> None:
    span = {"start_i": 5, "end_i": 8, "severity": "minor"}
    path = put(tmp_path / "annotations.json", json.dumps({"pilot": [answer("ann", [span])]}))
    with pytest.raises(FormatError, match="json:1: offset in the middle of a surrogate pair: must be before or after"):
        list(pearmut.read(path))
    notes: list[RowIssue] = []
    (rating,) = pearmut.read(path, ReadOptions(notes.append))
    assert rating.errors == (ErrorSpan(4, 8, MINOR),)
    assert [note.reason for note in notes] == ["offset in the middle of a surrogate pair"]


@pytest.mark.parametrize(
    ("span", "problem"),
    [
        ({"start_i": 3, "end_i": 2, "severity": "minor"}, "3..2: must have integers 0 <= start_i <= end_i"),
        ({"start_i": -1, "end_i": 2, "severity": "minor"}, "-1..2: must have"),
        ({"start_i": 1, "severity": "minor"}, "error_spans.0..end_i is missing: must be an integer or a string"),
        ({"start_i": 1, "end_i": 2, "severity": "bad"}, "unknown severity 'bad': must be neutral"),
        ({"start_i": 1, "end_i": 40, "severity": "minor"}, "span ends beyond the text: 40 must be less than 12"),
    ],
)
def test_pearmut_spans_at_fault(tmp_path: Path, span: dict[str, object], problem: str) -> None:
    path = put(tmp_path / "annotations.json", json.dumps({"pilot": [answer("ann", [span])]}))
    with pytest.raises(FormatError, match=rf"annotations\.json:1: .*{problem}"):
        list(pearmut.read(path))

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
    with pytest.raises(FormatError, match=r"campaigns\.json:1: .*`tgt`"):
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


def read(path: Path, value: object) -> tuple[list[Rating], list[tuple[str, str]]]:
    """The ratings of a file with this value, and the issues that reading reports."""
    issues: list[RowIssue] = []
    ratings = list(pearmut.read(put(path / "annotations.json", json.dumps(value)), ReadOptions(issues.append)))
    return ratings, [(issue.kind, issue.reason) for issue in issues]


SPAN = {"start_i": 0, "end_i": 2, "severity": "minor"}
TUTORIAL = "item of the tutorial, or a random check"
CHECK = "item that teaches or checks the annotators"
ITEM = {"tgt": {"A": EMOJI}, "src": "x", "index": 0}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"actions": [{"action": "load"}, {"action": "submit_skip"}]}, "annotation that the user has skipped"),
        ({"item_i": "welcome_0"}, TUTORIAL),
        ({"item_i": "random_3"}, TUTORIAL),
        ({"item": [{**ITEM, "skippable": True}]}, CHECK),
        ({"item": [{**ITEM, "validation": {"A": {"score": [70, 80]}}}]}, CHECK),
    ],
)
def test_what_is_no_rating(tmp_path: Path, changes: dict[str, object], reason: str) -> None:
    given = answer("ann", [SPAN], actions=[{"action": "load"}, {"action": "submit"}])
    ratings, issues = read(tmp_path, {"pilot": [given, answer("ann", [], **changes)]})
    assert ([rating.errors for rating in ratings], issues) == ([(ErrorSpan(0, 3, MINOR),)], [("skipped", reason)])
    assert len(list(pearmut.read(tmp_path / "annotations.json"))) == 1


@pytest.mark.parametrize(
    ("spans", "errors"),
    [({}, None), ({"error_spans": None}, None), ({"error_spans": {"B": []}}, None), ({"error_spans": {"A": []}}, ())],
)
def test_items_that_are_not_annotated(tmp_path: Path, spans: dict[str, object], errors: object) -> None:
    (rating,), issues = read(tmp_path, {"campaign_id": "pilot", "info": {}, "data": [[[{**ITEM, **spans}]]]})
    assert (rating.errors, issues) == (errors, [])


@pytest.mark.parametrize(
    ("annotation", "reason", "is_free"),
    [
        ({"A": {"score": 70, "error_spans": [{**SPAN, "severity": "odd"}]}}, "unknown severity 'odd'", False),
        ({"A": {"score": 70, "error_spans": [], "textfield": "bad verb"}}, "comment or post-edit", False),
        ({"A": {"score": None, "error_spans": [], "sliders": {"Fluency": 5}}}, "values of further sliders", True),
        ({"A": {"score": 70, "error_spans": []}, "B": {}}, "annotation of a translation that its item lacks", True),
    ],
)
def test_what_is_not_understood(tmp_path: Path, annotation: dict[str, object], reason: str, *, is_free: bool) -> None:
    (rating,), issues = read(tmp_path, {"pilot": [answer("ann", [], annotation=[annotation])]})
    assert (rating.errors, issues) == (() if is_free else None, [("ignored", reason)])
    with pytest.raises(FormatError, match=rf"annotations\.json:1: {reason}"):
        list(pearmut.read(tmp_path / "annotations.json"))


def test_a_text_field_that_is_filled_in_beforehand(tmp_path: Path) -> None:
    annotation = {"A": {"score": 70, "error_spans": [], "textfield": EMOJI, "sliders": {"Fluency": None}}}
    (rating,), issues = read(tmp_path, {"pilot": [answer("ann", [], annotation=[annotation])]})
    assert (rating.errors, issues) == ((), [])


@pytest.mark.parametrize(
    ("item", "key"),
    [
        ({"item_id": "en-de_#_news_#_talk_#_3"}, SegmentKey(None, "en-de", "A", "news_#_talk", 3)),
        ({"item_id": "en-cs_CZ_#_talk_#_0", "doc_id": "t1"}, SegmentKey(None, "en-cs_CZ", "A", "t1", 0)),
        ({"item_id": "talk_#_2"}, SegmentKey(None, None, "A", "talk", 2)),
        ({"item_id": "en-de_#_talk"}, SegmentKey(None, "en-de", "A", "talk", None)),
        ({"item_id": "en-de_#_7", "lang_pair": "fr-de"}, SegmentKey(None, "fr-de", "A", None, None)),
        ({"item_id": "the first", "doc_id": 5}, SegmentKey(None, None, "A", "5", None)),
        ({"item_id": 12}, SegmentKey(None, None, "A", None, None)),
        ({}, SegmentKey(None, None, "A", None, None)),
    ],
)
def test_the_key_of_an_item(tmp_path: Path, item: dict[str, object], key: SegmentKey) -> None:
    (rating,), _ = read(tmp_path, {"pilot": [answer("ann", [], item=[{"tgt": {"A": EMOJI}, **item}])]})
    assert rating.segment.key == key


@pytest.mark.parametrize(
    ("span", "problem"),
    [
        ({"start_i": 3, "end_i": 2, "severity": "minor"}, "3..2: must have integers 0 <= start_i <= end_i"),
        ({"start_i": -1, "end_i": 2, "severity": "minor"}, "-1..2: must have"),
        ({"start_i": 1, "severity": "minor"}, "error_spans.0.: .*`end_i`"),
        ({"start_i": 1, "end_i": 2, "severity": "bad"}, "unknown severity 'bad': must be neutral"),
        ({"start_i": 1, "end_i": 40, "severity": "minor"}, "span ends beyond the text: 40 must be less than 12"),
    ],
)
def test_pearmut_spans_at_fault(tmp_path: Path, span: dict[str, object], problem: str) -> None:
    path = put(tmp_path / "annotations.json", json.dumps({"pilot": [answer("ann", [span])]}))
    with pytest.raises(FormatError, match=rf"annotations\.json:1: .*{problem}"):
        list(pearmut.read(path))

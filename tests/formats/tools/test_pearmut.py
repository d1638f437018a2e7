"""Pearmut's files as its server writes them, written by hand here, and files that are at fault."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from matese.annotation import ErrorSpan, Overall, Rating, Segment, SegmentKey, UnplacedError
from matese.errors import FormatError
from matese.formats import detection
from matese.formats.corpora.wmt26 import INSTRUCTION_FAULT, OMISSION
from matese.formats.format import WriteOptions
from matese.formats.tools import pearmut
from tests.formats.one_rating import EMOJI, GIVEN, MAJOR, MINOR, put
from tests.formats.reading import marks, read, shown

ITEM = {"tgt": {"A": EMOJI}, "src": "x", "index": 0, "document": "talk"}
SPAN = {"start_i": 0, "end_i": 2, "severity": "minor"}
Json = dict[str, object]


def answer(user: str, spans: list[Json], **changes: object) -> Json:
    annotation = [{"A": {"score": 70, "error_spans": spans}}]
    return {"user_id": user, "item_i": 0, "item": [ITEM], "annotation": annotation, **changes}


def file(folder: Path, *log: Json) -> Path:
    return put(folder / "annotations.json", json.dumps({"pilot": log}))


def test_pearmut_ends_are_inclusive_and_omissions_stand_behind_the_text() -> None:
    rating = Rating(GIVEN.segment, None, GIVEN.errors, unplaced=(UnplacedError(MINOR, OMISSION),))
    campaign = json.loads("".join(pearmut.write([rating], WriteOptions(method="pilot"))))
    assert (campaign["campaign_id"], campaign["info"]["protocol"]) == ("pilot", "ESA")
    ((item,),) = campaign["data"][0]
    assert item["error_spans"]["A"] == [
        {"start_i": 7, "end_i": 10, "severity": "major", "category": "Style"},
        {"start_i": 12, "end_i": 12, "severity": "minor", "category": OMISSION},
    ]


def test_pearmut_annotations_and_those_given_anew(tmp_path: Path) -> None:
    span: Json = {"start_i": 7, "end_i": 10, "severity": "Major", "category": None}
    form = {"text": "How was it?", "form": "string"}
    path = file(
        tmp_path,
        answer("ann", [span, {**span, "start_i": 12, "end_i": 12}]),
        answer("bob", []),
        answer("ann", [{**span, "severity": None}]),
        answer("ann", [], item_i="welcome_0"),
        answer("bob", [], annotation=[None]),
        answer("bob", [], item_i=2, item=[form], annotation=[{"0": "well"}]),
        {"user_id": "bob", "item_i": 1},
    )
    assert detection.detect(path) == "pearmut"
    segment = Segment(EMOJI, "x", key=SegmentKey(system="A", document="talk", index=0))
    assert list(pearmut.read(path)) == [
        Rating(segment, "ann", (ErrorSpan(6, 10, None),), overall=Overall(70, "esa")),
        Rating(segment, "bob", (), overall=Overall(70, "esa")),
    ]


def test_the_log_of_a_campaign_that_has_just_begun(tmp_path: Path) -> None:
    path = put(tmp_path / "pilot.jsonl", json.dumps(answer("ann", [])) + "\n")
    assert detection.detect(path) == "pearmut"
    assert shown(path) == ([f"ann: {EMOJI} | "], [])


def test_pearmut_annotations_before_a_reset_do_not_hold(tmp_path: Path) -> None:
    reset: Json = {"user_id": "ann", "annotation": "__RESET__"}
    later = answer("ann", [], item=[{"tgt": {"A": "Ja."}}], item_i=1)
    log = [answer("ann", []), answer("bob", []), reset, later]
    campaigns = {"pilot": log, "second": [answer("ann", []), answer("cleo", [])]}
    path = put(tmp_path / "annotations.json", json.dumps(campaigns))
    rated = [f"bob: {EMOJI} | ", "ann: Ja. | ", f"ann: {EMOJI} | ", f"cleo: {EMOJI} | "]
    assert shown(path) == (rated, [])
    put(path, "".join(json.dumps(entry) + "\n" for entry in log))
    assert shown(path) == (rated[:2], [])


def test_pearmut_campaigns_as_its_dashboard_downloads_them(tmp_path: Path) -> None:
    ((item,),) = json.loads("".join(pearmut.write([GIVEN], WriteOptions())))["data"][0]
    form = {"text": "How was it?", "form": "string"}
    # A task for each user; and one stream of documents for all.
    data = {"ann": [[item]], "bob": [[item, item], [form]]}
    by_user = {"campaign_id": "pilot", "info": {}, "data": data, "token": "x"}
    stream = {**by_user, "campaign_id": "next", "data": [[item], [item]]}
    path = put(tmp_path / "campaigns.json", json.dumps([by_user, stream]))
    assert detection.detect(path) == "pearmut"
    assert list(pearmut.read(path)) == [GIVEN] * 5
    for campaign, n in ((by_user, 3), (stream, 2)):
        assert list(pearmut.read(put(path, json.dumps(campaign, indent=1)))) == [GIVEN] * n
    with pytest.raises(FormatError, match=r"campaigns\.json:1: "):
        list(pearmut.read(put(path, json.dumps([{**by_user, "data": {"ann": [[{"src": "x"}]]}}]))))


ERROR = {"severity": "major"}
OF_WMT26: dict[str, Any] = {
    "user_id": "u0",
    "item": [{"src": "The house is old.", "tgt": {"SysA": "Das Haus ist alt."}, "item_id": "news_###_d1_###_0",
              "instructions": "x"}],
    "annotation": [{"SysA": {"score": 70, "error_spans": [
        {**ERROR, "start_i": 17, "end_i": 17}, {**ERROR, "start_i": 18, "end_i": 18}]}}],
    "item_i": 0,
    "actions": [],
}  # fmt: skip


def test_a_campaign_of_wmt_2026_names_languages_and_has_tokens_behind_the_text(tmp_path: Path) -> None:
    check = {**OF_WMT26, "item": [{**OF_WMT26["item"][0], "item_id": "attention_check_###_d1_###_0"}]}
    log = {"eng_Latn---deu_Latn v3": [OF_WMT26, check]}
    path = put(tmp_path / "annotations.json", json.dumps(log))
    (rating,), notes = read(path)
    assert notes == [f"1: {CHECK}"]
    assert rating.segment.key == SegmentKey(None, "eng_Latn-deu_Latn", "SysA", "d1", 0, "news")
    assert rating.unplaced == (UnplacedError(MAJOR, OMISSION), UnplacedError(MAJOR, INSTRUCTION_FAULT))
    assert (rating.errors, rating.overall) == ((), Overall(70, "esa"))


@pytest.mark.parametrize("is_list", [True, False])
def test_a_campaign_states_its_tokens(tmp_path: Path, is_list: bool) -> None:
    spans = [{**SPAN, "start_i": n, "end_i": n} for n in (12, 13, 14)]
    info = {"special_tokens": ["[instructions fault]", "[odd]"]}
    data = [[[{"tgt": {"A": EMOJI}, "error_spans": {"A": spans}}]]]
    campaign = {"campaign_id": "en---de v1", "info": info, "data": data}
    path = put(tmp_path / "campaign.json", json.dumps([campaign] if is_list else campaign))
    (rating,), notes = read(path)
    assert marks(rating) == f"- minor {INSTRUCTION_FAULT}, - minor, - minor"
    unknown = "1: ignored, errors on the unknown special token '[odd]'"
    assert notes == [f"!{unknown}", "1: repaired, span begins beyond the text"]
    assert rating.segment.key == SegmentKey(lang_pair="en-de", system="A")


TUTORIAL = "skipped, item of the tutorial, or a random check"
CHECK = "skipped, item that teaches or checks the annotators"
SKIPPED = "skipped, annotation that the user has skipped"


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        ({"actions": [{"action": "load"}, {"action": "submit_skip"}]}, SKIPPED),
        ({"item_i": "welcome_0"}, TUTORIAL),
        ({"item_i": "random_3"}, TUTORIAL),
        ({"item": [{**ITEM, "skippable": True}]}, CHECK),
        ({"item": [{**ITEM, "validation": {"A": {"score": [70, 80]}}}]}, CHECK),
    ],
)
def test_what_is_no_rating(tmp_path: Path, changes: Json, note: str) -> None:
    rated = answer("ann", [SPAN], actions=[{"action": "load"}, {"action": "submit"}])
    assert shown(file(tmp_path, rated, answer("ann", [], **changes))) == (
        [f"ann: {EMOJI} | 0-3 minor"],
        [f"1: {note}"],
    )


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ({}, "no spans"),
        ({"error_spans": None}, "no spans"),
        ({"error_spans": {"B": []}}, "no spans"),
        ({"error_spans": {"A": []}}, ""),
    ],
)
def test_items_that_are_not_annotated(tmp_path: Path, spans: Json, expected: str) -> None:
    campaign = {"campaign_id": "pilot", "info": {}, "data": [[[{**ITEM, **spans}]]]}
    (rating,), notes = read(put(tmp_path / "campaign.json", json.dumps(campaign)))
    assert (marks(rating), notes) == (expected, [])


@pytest.mark.parametrize(
    ("annotation", "expected", "note"),
    [
        ({"A": {"score": 70, "error_spans": [{**SPAN, "severity": "odd"}]}}, "no spans", "unknown severity 'odd'"),
        ({"A": {"score": 70, "error_spans": [], "textfield": "bad verb"}}, "no spans", "comment or post-edit"),
        ({"A": {"score": None, "error_spans": [], "sliders": {"Fluency": 5}}}, "", "values of further sliders"),
        ({"A": {"score": 70, "error_spans": []}, "B": {}}, "", "annotation of a translation that its item lacks"),
        # Filled in beforehand.
        ({"A": {"score": 70, "error_spans": [], "textfield": EMOJI, "sliders": {"Fluency": None}}}, "", None),
    ],
)
def test_what_is_not_understood(tmp_path: Path, annotation: Json, expected: str, note: str | None) -> None:
    (rating,), notes = read(file(tmp_path, answer("ann", [], annotation=[annotation])))
    assert (marks(rating), notes) == (expected, [] if note is None else [f"!1: ignored, {note}"])


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"user_id": 7}, f"7: {EMOJI} | "),
        ({"user_id": None}, f"None: {EMOJI} | "),
        ({"annotation": [{"A": {}}]}, f"ann: {EMOJI} | no spans"),
        ({"user_id": ["ann"]}, None),
        ({"annotation": [{"A": []}]}, None),
        ({"annotation": "__RESET__", "user_id": {"name": "ann"}}, None),
    ],
)
def test_odd_users_and_annotations(tmp_path: Path, changes: Json, expected: str | None) -> None:
    path = file(tmp_path, answer("ann", [], **changes))
    if expected is None:
        with pytest.raises(FormatError, match=r"annotations\.json:1: "):
            list(pearmut.read(path))
    else:
        assert shown(path) == ([expected], [])


@pytest.mark.parametrize(
    ("item", "key"),
    [
        ({"item_id": "en-de_#_news_#_talk_#_3"}, SegmentKey(None, "en-de", "A", "talk", 3, "news")),
        ({"item_id": "en-cs_CZ_#_talk_#_0", "doc_id": "t1"}, SegmentKey(None, "en-cs_CZ", "A", "t1", 0)),
        ({"item_id": "talk_#_2"}, SegmentKey(None, None, "A", "talk", 2)),
        ({"item_id": "en-de_#_talk"}, SegmentKey(None, "en-de", "A", "talk", None)),
        ({"item_id": "en-de_#_7", "lang_pair": "fr-de"}, SegmentKey(None, "fr-de", "A", None, None)),
        ({"item_id": "the first", "doc_id": 5}, SegmentKey(None, None, "A", "5", None)),
        ({"item_id": 12}, SegmentKey(None, None, "A", None, None)),
        ({}, SegmentKey(None, None, "A", None, None)),
    ],
)
def test_the_key_of_an_item(tmp_path: Path, item: Json, key: SegmentKey) -> None:
    (rating,), _ = read(file(tmp_path, answer("ann", [], item=[{"tgt": {"A": EMOJI}, **item}])))
    assert rating.segment.key == key


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ({"start_i": 3, "end_i": 2}, None),
        ({"start_i": -1, "end_i": 2}, None),
        ({"start_i": 1}, None),
        ({"start_i": 1, "end_i": 40}, None),
        ({"start_i": 40, "end_i": 41}, None),  # not the token [missing]
        # Within a character of two units: widened.
        ({"start_i": 5, "end_i": 8}, "4-8 minor"),
    ],
)
def test_pearmut_spans_at_fault(tmp_path: Path, span: Json, expected: str | None) -> None:
    path = file(tmp_path, answer("ann", [{**span, "severity": "minor"}]))
    if expected is None:
        with pytest.raises(FormatError, match=r"annotations\.json:1: "):
            list(pearmut.read(path))
    else:
        (rating,), notes = read(path)
        assert (marks(rating), notes) == (expected, ["!1: repaired, offset in the middle of a surrogate pair"])

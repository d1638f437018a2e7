"""Files as the tools themselves write them, written by hand here, and files that are at fault."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from matese.annotation import ErrorSpan, Overall, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.formats import (
    FormatError,
    Note,
    appraise,
    brat,
    csv_file,
    detection,
    doccano,
    esd_submission,
    label_studio,
    pearmut,
    word_tags,
    xcomet,
)
from matese.formats.format import Reading, Writing

MINOR, MAJOR = Severity.MINOR, Severity.MAJOR
EMOJI = "Ein 😀 Haus."
KEY = SegmentKey("ted", "en-de", "A", "talk", 0)
GIVEN = Rating(Segment(EMOJI, "A 😀 tree.", key=KEY), "model", (ErrorSpan(6, 10, MAJOR, "Style"),))


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return path


def task(**changes: object) -> dict[str, object]:
    value = {"start": 6, "end": 10, "text": "Haus", "labels": ["Major"]}
    region = {"id": "x", "from_name": "severity_hypothesis", "to_name": "hypothesis", "type": "labels", "value": value}
    annotation = {"id": 1, "completed_by": {"id": 7, "email": "ann@example.org"}, "result": [region]}
    return {"id": 1, "data": {"hypothesis": EMOJI}, "annotations": [annotation], "predictions": [], **changes}


def test_label_studio_counts_code_points(tmp_path: Path) -> None:
    label_studio.save([GIVEN], tmp_path / "tasks", Writing())
    (written,) = json.loads((tmp_path / "tasks" / "tasks.json").read_text(encoding="utf-8"))
    regions = written["predictions"][0]["result"]
    assert [(one["type"], one["value"]["start"], one["value"]["end"]) for one in regions] == [
        ("labels", 6, 10),
        ("textarea", 6, 10),
    ]
    assert written["predictions"][0]["model_version"] == "model"
    config = ET.parse(tmp_path / "tasks" / "config.xml").getroot()
    names = {one.get("name"): one.get("toName") for one in config if one.get("name")}
    texts = [one.get("name") for one in config.iter("Text")]
    assert texts == ["source", "hypothesis"]
    for region in regions:
        assert names[region["from_name"]] == region["to_name"]
    assert {one.get("value", "").removeprefix("$") for one in config.iter("Text")} <= set(written["data"])


def test_label_studio_annotations_are_read_and_cancelled_ones_are_not(tmp_path: Path) -> None:
    done = task()["annotations"]
    assert isinstance(done, list)
    other = {**done[0], "completed_by": 3, "result": []}
    cancelled = {**done[0], "was_cancelled": True}
    tasks = [task(annotations=[*done, other, cancelled]), task(annotations=[])]
    path = put(tmp_path / "export.json", json.dumps(tasks))
    assert detection.detect(path) == "label-studio"
    segment = Segment(EMOJI)
    assert list(label_studio.read(path)) == [
        Rating(segment, "ann@example.org", (ErrorSpan(6, 10, MAJOR),)),
        Rating(segment, "3", ()),
    ]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"start": 5}, "text of a region is not what its offsets hold: 'Haus' must be ' Haus'"),
        ({"end": 99, "text": None}, "error span 6..99: must end within the hypothesis"),
        ({"start": None}, "start is missing or null"),
        ({"start": 10, "text": None}, "error span 10..10: must have"),
        ({"text": "Baum"}, "text of a region is not what its offsets hold: 'Baum' must be 'Haus'"),
        ({"start": 7, "end": 11}, "offsets count UTF-16 units: must count characters"),
    ],
)
def test_label_studio_regions_at_fault(tmp_path: Path, change: dict[str, object], problem: str) -> None:
    bad = task()
    bad["annotations"][0]["result"][0]["value"] |= change  # type: ignore[index]
    path = put(tmp_path / "export.json", "[\n" + json.dumps(task()) + ",\n" + json.dumps(bad) + "]")
    with pytest.raises(FormatError, match=rf"export\.json:3: .*{problem}"):
        list(label_studio.read(path))


def test_label_studio_offsets_of_utf_16_units_are_repaired(tmp_path: Path) -> None:
    old = task()
    old["annotations"][0]["result"][0]["value"] |= {"start": 7, "end": 11}  # type: ignore[index]
    notes: list[Note] = []
    (rating,) = label_studio.read(put(tmp_path / "export.json", json.dumps([old])), Reading(notes.append))
    assert rating.errors == (ErrorSpan(6, 10, MAJOR),)
    assert [note.reason for note in notes] == ["offsets count UTF-16 units"]


def test_label_studio_tasks_without_text(tmp_path: Path) -> None:
    path = put(tmp_path / "export.json", json.dumps([task(data={"image": "x"})]))
    with pytest.raises(FormatError, match=r"export\.json:1: task without text"):
        list(label_studio.read(path))


def test_label_studio_labels_of_another_configuration_are_categories(tmp_path: Path) -> None:
    other = json.loads(json.dumps([task()]).replace('"Major"', '"Grammar"').replace('{"hypothesis"', '{"text"'))
    (rating,) = label_studio.read(put(tmp_path / "export.json", json.dumps(other)))
    assert rating.errors == (ErrorSpan(6, 10, None, "Grammar"),)


def test_pearmut_ends_are_inclusive_and_omissions_stand_behind_the_text(tmp_path: Path) -> None:
    rating = Rating(GIVEN.segment, None, GIVEN.errors, unplaced=(UnplacedError(MINOR),))
    campaign = json.loads("".join(pearmut.write([rating], Writing(method="pilot"))))
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
    found = [(rating.rater, rating.segment.hypothesis) for rating in pearmut.read(path)]
    assert found == [("bob", EMOJI), ("ann", "Ja."), ("ann", EMOJI), ("cleo", EMOJI)]
    put(path, "".join(json.dumps(entry) + "\n" for entry in log))
    assert [(rating.rater, rating.segment.hypothesis) for rating in pearmut.read(path)] == found[:2]


def test_pearmut_campaigns_as_its_dashboard_downloads_them(tmp_path: Path) -> None:
    ((item,),) = json.loads("".join(pearmut.write([GIVEN], Writing())))["data"][0]
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
    with pytest.raises(FormatError, match=r"campaigns\.json:1: data\.ann\[0\]\[0\]\.tgt is missing"):
        list(pearmut.read(put(path, json.dumps([by_user]))))


def test_indices_within_a_character_are_refused_or_widened(tmp_path: Path) -> None:
    span = {"start_i": 5, "end_i": 8, "severity": "minor"}
    path = put(tmp_path / "annotations.json", json.dumps({"pilot": [answer("ann", [span])]}))
    with pytest.raises(FormatError, match="json:1: offset in the middle of a surrogate pair: must be before or after"):
        list(pearmut.read(path))
    notes: list[Note] = []
    (rating,) = pearmut.read(path, Reading(notes.append))
    assert rating.errors == (ErrorSpan(4, 8, MINOR),)
    assert [note.reason for note in notes] == ["offset in the middle of a surrogate pair"]


@pytest.mark.parametrize(
    ("span", "problem"),
    [
        ({"start_i": 3, "end_i": 2, "severity": "minor"}, "3..2: must have 0 <= start_i <= end_i"),
        ({"start_i": -1, "end_i": 2, "severity": "minor"}, "-1..2: must have"),
        ({"start_i": 1, "severity": "minor"}, "end_i is missing or null"),
        ({"start_i": 1, "end_i": 2, "severity": "bad"}, "severity is 'bad': must be one of undecided, neutral"),
        ({"start_i": 1, "end_i": 40, "severity": "minor"}, "span ends beyond the text: 40 must be less than 12"),
    ],
)
def test_pearmut_spans_at_fault(tmp_path: Path, span: dict[str, object], problem: str) -> None:
    path = put(tmp_path / "annotations.json", json.dumps({"pilot": [answer("ann", [span])]}))
    with pytest.raises(FormatError, match=rf"annotations\.json:1: .*{problem}"):
        list(pearmut.read(path))


def test_appraise_results_find_their_texts_in_the_batches(tmp_path: Path) -> None:
    appraise.save([GIVEN], tmp_path / "batch", Writing(method="pilot"))
    (batch,) = json.loads((tmp_path / "batch" / "batches.json").read_text(encoding="utf-8"))
    assert (batch["task"]["sourceLanguage"], batch["task"]["targetLanguage"]) == ("eng", "deu")
    assert batch["items"][0]["mqm"] == [{"start_i": 7, "end_i": 10, "severity": "major", "error_type": "Style"}]
    spans = '"[{""start_i"":""missing"",""end_i"":""missing"",""severity"":""minor""}]"'
    rows = f"ann,A,0,TGT,eng,deu,83,talk,False,[],1,2\nann,A,0,TGT,eng,deu,90,talk,False,{spans},1,2\n"
    put(tmp_path / "batch" / "results.csv", rows + "ann,A,9,BAD,eng,deu,0,talk,False,[],1,2\n")
    with pytest.raises(FormatError, match=r"results\.csv:3: item is not in the batches"):
        list(appraise.read(tmp_path / "batch"))
    notes: list[Note] = []
    (rating,) = appraise.read(tmp_path / "batch", Reading(notes.append))
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
    appraise.save([GIVEN], tmp_path / "batch", Writing())
    put(tmp_path / "batch" / "results.csv", row + "\n")
    with pytest.raises(FormatError, match=rf"results\.csv:1: {problem}"):
        list(appraise.read(tmp_path / "batch"))


def test_xcomet_spans_lose_the_space_before_the_word(tmp_path: Path) -> None:
    error = {"text": "Haus", "confidence": 0.4, "severity": "minor", "start": 5, "end": 10}
    blank = {**error, "text": "", "start": 3, "end": 4}
    rows = [
        {"src": "s", "mt": EMOJI, "ref": "r", "COMET": 0.75, "errors": [error, blank]},
        {"src": "s", "mt": "b", "COMET": 0.5},
    ]
    path = put(tmp_path / "out.json", json.dumps({"out/online-A.txt": rows, "out/B.txt": rows[1:]}, indent=4))
    assert detection.detect(path) == "xcomet"
    first, second, third = xcomet.read(path, Reading(lang_pair="en-de"))
    assert first.errors == (ErrorSpan(3, 4, MINOR, confidence=0.4), ErrorSpan(6, 10, MINOR, confidence=0.4))
    assert (first.segment.references, first.overall) == (("r",), Overall(0.75, "unit"))
    assert (second.errors, second.segment.key) == (None, SegmentKey(None, "en-de", "online-A", None, 1))
    assert third.segment.key == SegmentKey(None, "en-de", "B", None, 0)
    put(path, json.dumps({"a": [{**rows[0], "errors": [{**error, "end": 99}]}]}))
    with pytest.raises(FormatError, match=r"out\.json:1: error span 6\.\.99: must end within"):
        list(xcomet.read(path))
    put(path, json.dumps({"a": [{**rows[0], "errors": [{**error, "severity": "ok"}]}]}))
    with pytest.raises(FormatError, match="severity is 'ok': must be one of neutral, minor"):
        list(xcomet.read(path))


def test_doccano_counts_utf_16_units_and_every_line_has_every_key() -> None:
    first, second = map(json.loads, doccano.write([GIVEN, Rating(Segment("Haus"), None, ())], Writing()))
    assert first["label"] == [[7, 11, "Major: Style"]]
    # One table is made of all lines: what one has and another lacks, or a number that is null, would become NaN there.
    assert first.keys() == second.keys()
    assert (first["index"], second["index"]) == ("0", None)


def test_doccano_as_its_versions_write_it(tmp_path: Path) -> None:
    lines = [
        {"id": 1, "text": EMOJI, "label": [[7, 11, "Major: Style"]], "Comments": [], "index": "3"},
        {"id": 2, "text": EMOJI, "labels": [[7, 11, "Grammar"]], "index": 3.0},
        {
            "text": EMOJI,
            "entities": [{"id": 1, "label": "minor", "start_offset": 7, "end_offset": 11}],
            "relations": [],
            "index": 3,
        },
    ]
    path = put(tmp_path / "all.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    assert [rating.errors for rating in doccano.read(path)] == [
        (ErrorSpan(6, 10, MAJOR, "Style"),),
        (ErrorSpan(6, 10, None, "Grammar"),),
        (ErrorSpan(6, 10, MINOR),),
    ]
    assert {rating.segment.key for rating in doccano.read(path)} == {SegmentKey(index=3)}


def test_doccano_labels_within_a_character_are_refused_or_widened(tmp_path: Path) -> None:
    path = put(tmp_path / "all.jsonl", json.dumps({"text": EMOJI, "label": [[0, 5, "Minor"], [5, 11, "Minor"]]}))
    with pytest.raises(FormatError, match="jsonl:1: offset in the middle of a surrogate pair: must be before or after"):
        list(doccano.read(path))
    notes: list[Note] = []
    (rating,) = doccano.read(path, Reading(notes.append))
    assert rating.errors == (ErrorSpan(0, 5, MINOR), ErrorSpan(4, 10, MINOR))
    assert [note.reason for note in notes] == ["offset in the middle of a surrogate pair"] * 2


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"label": []}', "text is missing or null"),
        ('{"text": "a", "label": [[0, 2, "Major"]]}', "offset 2: must be between 0 and 1, the text's UTF-16"),
        ('{"text": "a", "label": [[1, 1, "Major"]]}', "label 1..1: must have 0 <= start < end"),
        ('{"text": "a", "label": [], "index": "x"}', "index is a string: must be an integer or null"),
        ('{"text": "a", "label": [], "index": 0.5}', "index is a number: must be an integer or null"),
        ('{"text": "a", "label": [[0, "1", "Major"]]}', "must be a list of .start, end, name."),
        ('{"text": "a", "label": {}}', None),
        ('{"text": "a", "label": "x"}', "label must be a list of"),
        ('{"text": "\\ud83d", "label": []}', "half of a character"),
    ],
)
def test_doccano_lines_at_fault(tmp_path: Path, line: str, problem: str | None) -> None:
    path = put(tmp_path / "all.jsonl", '{"text": "a", "label": []}\n' + line + "\n")
    if problem is None:
        assert len(list(doccano.read(path))) == 2
        return
    with pytest.raises(FormatError, match=rf"all\.jsonl:2: .*{problem}"):
        list(doccano.read(path))


def test_brat_folders_of_others(tmp_path: Path) -> None:
    put(tmp_path / "corpus" / "a.txt", EMOJI)
    put(
        tmp_path / "corpus" / "a.ann",
        "T1\tMajor 6 10\tHaus\nT2\tGrammar 0 3;6 10\tEin Haus\n#1\tAnnotatorNotes T1\tStyle\n",
    )
    assert detection.detect(tmp_path / "corpus") == "brat"
    with pytest.raises(FormatError, match=r"a\.ann:2: discontinuous annotation taken as one span"):
        list(brat.read(tmp_path / "corpus"))
    notes: list[Note] = []
    (rating,) = brat.read(tmp_path / "corpus", Reading(notes.append))
    assert rating.errors == (ErrorSpan(0, 10, None, "Grammar"), ErrorSpan(6, 10, MAJOR, "Style"))
    assert rating.segment == Segment(EMOJI, key=SegmentKey(document="a"))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("T1\tMajor 6 99\tHaus", "'Major 6 99': must be TYPE START END"),
        ("T1\tMajor x 9\tHaus", "'Major x 9': must be TYPE START END"),
        ("T1\tMajor 6 6\tHaus", "error span 6..6"),
        ("T1\tMajor 6 10\tBaum", "text of an annotation is not what its offsets hold: 'Baum' must be 'Haus'"),
    ],
)
def test_brat_lines_at_fault(tmp_path: Path, line: str, problem: str) -> None:
    put(tmp_path / "corpus" / "a.txt", EMOJI)
    put(tmp_path / "corpus" / "a.ann", f"{line}\n")
    with pytest.raises(FormatError, match=rf"a\.ann:1: {problem}"):
        list(brat.read(tmp_path / "corpus"))


def test_word_tags_with_gaps(tmp_path: Path) -> None:
    put(tmp_path / "test.mt", "Ein  rotes Haus\n\n")
    path = put(tmp_path / "test.tags", "OK OK BAD BAD OK BAD OK\n\n")
    first, second = word_tags.read(path)
    assert (first.errors, first.unplaced) == ((ErrorSpan(5, 15, None),), (UnplacedError(None),))
    assert second.errors == ()
    put(path, "OK BAD\n\n")
    with pytest.raises(FormatError, match=r"test\.tags:1: 2 tags: must be 3, one a word, or with gaps 7"):
        list(word_tags.read(path))
    put(path, "OK OK bad\n\n")
    with pytest.raises(FormatError, match=r"test\.tags:1: tag 'bad': must be OK or BAD"):
        list(word_tags.read(path))
    put(path, "OK OK OK\n")
    with pytest.raises(FormatError, match=r"test\.tags:2: not as many lines as its \.mt or \.src"):
        list(word_tags.read(path))
    put(tmp_path / "more.tags", "")
    with pytest.raises(FormatError, match="2 files of tags: must be one"):
        list(word_tags.read(tmp_path))


def test_submissions_have_the_form_of_their_year() -> None:
    how = Writing(disk_bytes=2409244995, n_parameters=2280000000)
    free = Rating(Segment("frei", key=SegmentKey(lang_pair="he-en", index=0)), "mini", ())
    assert "".join(esd_submission.write_2024([free], how)) == (
        "2409244995\n2280000000\n1\nhe-en\tmini\t0\tfrei\t-1\t-1\tno-error\n"
    )
    with pytest.raises(ValueError, match="wmt24-spans names the size of the model: must be given, as --disk-bytes"):
        list(esd_submission.write_2024([free], Writing()))
    omission = Rating(GIVEN.segment, None, GIVEN.errors, unplaced=(UnplacedError(MINOR),))
    _, row = esd_submission.write_2025([omission], how)
    assert row == f"talk\t0\ten\tde\tted\tA\tA 😀 tree.\t{EMOJI}\t\t6 missing\t10 missing\tmajor minor\n"


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("en-de\tm\t0\ttext\t0\t1", "6 fields: must be 7"),
        ("en-de\tm\tx\ttext\t0\t1\tminor", "segment 'x': must be a whole number"),
        ("en-de\tm\t0\ttext\t0 1\t1\tminor", "2 starts, 1 ends and 1 types"),
        ("en-de\tm\t0\ttext\t0\t1\tbad", "unknown severity 'bad'"),
        ("en-de\tm\t0\ttext\t0\tx\tminor", "offsets '0' and 'x': must be whole numbers"),
        ("en-de\tm\t0\ttext\t0\t9\tminor", "error span 0..9: must end within"),
    ],
)
def test_submissions_at_fault(tmp_path: Path, row: str, problem: str) -> None:
    path = put(tmp_path / "predictions.txt", f"1\n2\n3\n{row}\n")
    with pytest.raises(FormatError, match=rf"predictions\.txt:4: .*{problem}"):
        list(esd_submission.read_2024(path))
    with pytest.raises(FormatError, match=r"predictions\.txt:1: '.*' is no number: must be three numbers"):
        list(esd_submission.read_2024(put(path, row)))


def test_csv_of_others(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", 'hypothesis,index,errors\n"a\nb",3,[]\n')
    assert list(csv_file.read(path)) == [Rating(Segment("a\nb", key=SegmentKey(index=3)), None, ())]
    for text, problem in [
        ("hypothesis,eror\n", "a.csv:1: not the header of such a CSV"),
        ("hypothesis,index\na\n", "a.csv:2: 1 cells: must be 2"),
        ("hypothesis,index\na,x\n", "a.csv:2: not JSON"),
        ('hypothesis,index\n"a', "a.csv:2: unexpected end of data"),
    ]:
        with pytest.raises(FormatError, match=problem):
            list(csv_file.read(put(path, text)))

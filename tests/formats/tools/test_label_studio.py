"""Label Studio's files as it writes them, written by hand here, and files that are at fault."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from matese.annotation import ErrorSpan, Omission, Rating, Segment
from matese.errors import FormatError
from matese.formats import detection
from matese.formats.format import ReadOptions, WriteOptions
from matese.formats.row_issues import RowIssue
from matese.formats.tools import label_studio
from tests.formats.one_rating import EMOJI, GIVEN, MAJOR, MINOR, put


def task(**changes: object) -> dict[str, object]:
    value = {"start": 6, "end": 10, "text": "Haus", "labels": ["Major"]}
    region = {"id": "x", "from_name": "severity_hypothesis", "to_name": "hypothesis", "type": "labels", "value": value}
    annotation = {"id": 1, "completed_by": {"id": 7, "email": "ann@example.org"}, "result": [region]}
    return {"id": 1, "data": {"hypothesis": EMOJI}, "annotations": [annotation], "predictions": [], **changes}


def test_label_studio_counts_code_points(tmp_path: Path) -> None:
    label_studio.save([GIVEN], tmp_path / "tasks", WriteOptions())
    (written,) = json.loads((tmp_path / "tasks" / "tasks.json").read_text(encoding="utf-8"))
    regions = written["predictions"][0]["result"]
    assert [(region["type"], region["value"]["start"], region["value"]["end"]) for region in regions] == [
        ("labels", 6, 10),
        ("textarea", 6, 10),
    ]
    assert written["predictions"][0]["model_version"] == "model"
    config = ET.parse(tmp_path / "tasks" / "config.xml").getroot()
    names = {element.get("name"): element.get("toName") for element in config if element.get("name")}
    texts = [element.get("name") for element in config.iter("Text")]
    assert texts == ["source", "hypothesis"]
    for region in regions:
        assert names[region["from_name"]] == region["to_name"]
    assert {element.get("value", "").removeprefix("$") for element in config.iter("Text")} <= set(written["data"])


def test_label_studio_annotations_are_read_and_cancelled_ones_are_not(tmp_path: Path) -> None:
    done = task()["annotations"]
    assert isinstance(done, list)
    other = {**done[0], "completed_by": 3, "result": []}
    cancelled = {**done[0], "was_cancelled": True}
    tasks = [task(annotations=[*done, other, cancelled], predictions=[1]), task(annotations=[])]
    path = put(tmp_path / "export.json", json.dumps(tasks))
    assert detection.detect(path) == "label-studio"
    segment = Segment(EMOJI)
    left_out: list[RowIssue] = []
    list(label_studio.read(path, ReadOptions(left_out.append)))
    assert [issue.reason.partition(" (")[0] for issue in left_out] == [
        "annotation was cancelled",
        "task without a finished annotation",
    ]
    assert list(label_studio.read(path)) == [
        Rating(segment, "ann@example.org", (ErrorSpan(6, 10, MAJOR),)),
        Rating(segment, "3", ()),
    ]


OMISSIONS = Rating(
    Segment(EMOJI, "A 😀 tree.", ("Ein 😀 Baum.", "", "Der 😀 Baum.")),
    "model",
    (),
    omissions=(
        Omission("source", None, 4, 8, MAJOR, "Accuracy/Omission", 0.5),
        Omission("reference", 0, 6, 10, None),
        Omission("reference", 2, 0, 11, MAJOR, "Accuracy/Omission"),
    ),
)


def test_missing_words_are_regions_of_their_text(tmp_path: Path) -> None:
    label_studio.save([OMISSIONS], tmp_path / "tasks", WriteOptions())
    (written,) = json.loads((tmp_path / "tasks" / "tasks.json").read_text(encoding="utf-8"))
    regions = [region for region in written["predictions"][0]["result"] if region["type"] == "labels"]
    shown = {"source": written["data"]["source_text"], "reference": written["data"]["reference"]}
    for region in regions:
        value = region["value"]
        assert shown[region["to_name"]][value["start"] : value["end"]] == value["text"]
    assert [(region["from_name"], *region["value"]["labels"], region["value"]["text"]) for region in regions] == [
        ("missing_source", "Missing: Major", "tree"),
        ("missing_reference", "Missing: Undecided", "Baum"),
        ("missing_reference", "Missing: Major", "Der 😀 Baum."),
    ]
    config = ET.parse(tmp_path / "tasks" / "config.xml").getroot()
    choices = {labels.get("name"): {label.get("value") for label in labels} for labels in config.iter("Labels")}
    assert all(region["value"]["labels"][0] in choices[region["from_name"]] for region in regions)
    assert {element.get("toName") for element in config.iter("TextArea")} == {"hypothesis", "source", "reference"}
    assert list(label_studio.read(tmp_path / "tasks")) == [OMISSIONS]


def test_missing_words_of_several_references_end_with_the_first(tmp_path: Path) -> None:
    value = {"start": 6, "end": 13, "labels": ["Minor"]}
    result = [{"id": "x", "to_name": "reference", "type": "labels", "value": value}]
    exported = task(data={"hypothesis": EMOJI, "references": ["Ein Baum", "Er"]}, annotations=[{"result": result}])
    path = put(tmp_path / "export.json", json.dumps([exported]))
    with pytest.raises(FormatError, match=r"region of several references: must be within one"):
        list(label_studio.read(path))
    notes: list[RowIssue] = []
    (rating,) = label_studio.read(path, ReadOptions(notes.append))
    assert rating.omissions == (Omission("reference", 0, 6, 8, MINOR),)
    assert len(notes) == 1
    for name, data in (("reference", {"hypothesis": EMOJI}), ("hypothesis", exported["data"])):
        other = {**result[0], "to_name": name, "value": {**value, "labels": ["Missing: Minor"]}}
        put(path, json.dumps([task(data=data, annotations=[{"result": [other]}])]))
        with pytest.raises(FormatError, match=rf"missing words 6\.\.13 of {name}: must be of the source or of data"):
            list(label_studio.read(path))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"start": 5}, "text of a region differs from the text at its offsets: 'Haus' must be ' Haus'"),
        ({"end": 99, "text": None}, "error span 6..99: must end within the hypothesis"),
        ({"start": None}, "region x: must have start and end"),
        ({"start": 10, "text": None}, "error span 10..10: must have"),
        ({"text": "Baum"}, "text of a region differs from the text at its offsets: 'Baum' must be 'Haus'"),
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
    notes: list[RowIssue] = []
    (rating,) = label_studio.read(put(tmp_path / "export.json", json.dumps([old])), ReadOptions(notes.append))
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

"""Label Studio's files as it writes them, in our labelling configuration and in others, and files that are at fault."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from matese.annotation import ErrorSpan, Omission, Overall, Rating, Segment, SegmentKey
from matese.errors import FormatError
from matese.formats import detection
from matese.formats.format import WriteOptions
from matese.formats.tools import label_studio
from tests.formats import reading
from tests.formats.one_rating import EMOJI, GIVEN, MAJOR, put
from tests.formats.reading import marks

MT = "Der Hund schläft fest."
SRC = "The cat sleeps well."
HUND = {"start": 4, "end": 8, "text": "Hund"}
CAT = {"start": 4, "end": 7, "text": "cat"}
ALIKE = {"start": 3, "end": 4, "text": " "}
HAUS = {"start": 6, "end": 10, "text": "Haus"}
DATA = {"hypothesis": MT, "source_text": SRC}
Json = dict[str, Any]


def result(kind: str, place: Json | None = HUND, to: str = "hypothesis", id: str | None = "r", **value: Any) -> Json:  # noqa: A002
    return {"id": id, "from_name": kind, "to_name": to, "type": kind, "value": {**(place or {}), **value}}


def labels(*names: str, place: Json = HUND, to: str = "hypothesis", id: str = "r") -> Json:  # noqa: A002
    return result("labels", place, to, id, labels=list(names))


def task(*results: Json, data: Json = DATA, **changes: Any) -> Json:
    """A task with one annotation."""
    return {"id": 1, "data": data, "annotations": [{"id": 2, "completed_by": 3, "result": results}], **changes}


def export(folder: Path, *tasks: Json) -> Path:
    return put(folder / "export.json", ",\n".join(map(json.dumps, tasks)).join("[]"))


def read(path: Path) -> tuple[list[Rating], list[str]]:
    ratings, notes = reading.read(path)
    return ratings, [note.split(": ")[1].partition(",")[0] for note in notes]


def the_rating(folder: Path, *results: Json, data: Json = DATA) -> tuple[str, list[str]]:
    """The errors of the only rating, and the kinds of issues."""
    (rating,), kinds = read(export(folder, task(*results, data=data)))
    return marks(rating), kinds


def written(rating: Rating, folder: Path) -> tuple[Json, ET.Element]:
    """The task that is written, and the configuration beside it."""
    label_studio.save([rating], folder / "tasks", WriteOptions())
    (made,) = json.loads((folder / "tasks" / "tasks.json").read_text(encoding="utf-8"))
    return made, ET.parse(folder / "tasks" / "config.xml").getroot()


def test_regions_count_code_points_and_are_of_the_configuration(tmp_path: Path) -> None:
    made, config = written(GIVEN, tmp_path)
    (prediction,) = made["predictions"]
    assert [(region["type"], region["value"]["start"], region["value"]["end"]) for region in prediction["result"]] == [
        ("labels", 6, 10),
        ("textarea", 6, 10),
    ]
    assert prediction["model_version"] == "model"
    names = {element.get("name"): element.get("toName") for element in config if element.get("name")}
    assert [element.get("name") for element in config.iter("Text")] == ["source", "hypothesis"]
    assert all(names[region["from_name"]] == region["to_name"] for region in prediction["result"])
    assert {element.get("value", "").removeprefix("$") for element in config.iter("Text")} <= set(made["data"])


def test_annotations_are_read_and_cancelled_ones_are_not(tmp_path: Path) -> None:
    region = labels("Major", place=HAUS)
    done = {"id": 1, "completed_by": {"id": 7, "email": "ann@example.org"}, "result": [region]}
    empty = {**done, "completed_by": 3, "result": []}
    cancelled = {**done, "was_cancelled": True}
    data = {"hypothesis": EMOJI}
    tasks = [task(data=data, annotations=[done, empty, cancelled], predictions=[1]), task(data=data, annotations=[])]
    path = export(tmp_path, *tasks)
    assert detection.detect(path) == "label-studio"
    ratings, notes = reading.read(path)
    segment = Segment(EMOJI)
    assert ratings == [Rating(segment, "ann@example.org", (ErrorSpan(6, 10, MAJOR),)), Rating(segment, "3", ())]
    reasons = ["skipped, annotation was cancelled", "skipped, task without a finished annotation"]
    assert [note.split(": ")[1].partition(" (")[0] for note in notes] == reasons


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
    made, config = written(OMISSIONS, tmp_path)
    regions = [region for region in made["predictions"][0]["result"] if region["type"] == "labels"]
    shown = {"source": made["data"]["source_text"], "reference": made["data"]["reference"]}
    for region in regions:
        value = region["value"]
        assert shown[region["to_name"]][value["start"] : value["end"]] == value["text"]
    assert [(region["from_name"], *region["value"]["labels"], region["value"]["text"]) for region in regions] == [
        ("missing_source", "Missing: Major", "tree"),
        ("missing_reference", "Missing: Undecided", "Baum"),
        ("missing_reference", "Missing: Major", "Der 😀 Baum."),
    ]
    choices = {labels.get("name"): {label.get("value") for label in labels} for labels in config.iter("Labels")}
    assert all(region["value"]["labels"][0] in choices[region["from_name"]] for region in regions)
    assert {element.get("toName") for element in config.iter("TextArea")} == {"hypothesis", "source", "reference"}
    assert list(label_studio.read(tmp_path / "tasks")) == [OMISSIONS]


def test_missing_words_of_several_references_end_with_the_first(tmp_path: Path) -> None:
    place = {"start": 6, "end": 13}
    data = {"hypothesis": EMOJI, "references": ["Ein Baum", "Er"]}
    assert the_rating(tmp_path, labels("Minor", place=place, to="reference"), data=data) == (
        "missing reference0 6-8 minor",
        ["repaired"],
    )
    for name, texts in (("reference", {"hypothesis": EMOJI}), ("hypothesis", data)):
        path = export(tmp_path, task(labels("Missing: Minor", place=place, to=name), data=texts))
        with pytest.raises(FormatError, match=rf"missing words 6\.\.13 of {name}"):
            list(label_studio.read(path))
    short = {"hypothesis": EMOJI, "references": ["Er", "Sie"]}
    path = export(tmp_path, task(labels("Minor", place=place | {"start": 7}, to="reference"), data=short))
    with pytest.raises(FormatError, match=r"export\.json:1: missing words 7\.\.13: must be within the references"):
        list(label_studio.read(path))


def test_an_annotation_without_results_is_not_free_of_errors(tmp_path: Path) -> None:
    path = export(tmp_path, task(annotations=[{"id": 2, "completed_by": 3, "result": None}]))
    assert [rating.errors for rating in label_studio.read(path)] == [None]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"start": 5}, None),
        ({"end": 99, "text": None}, None),
        ({"start": None}, None),
        ({"start": 10, "text": None}, None),
        ({"text": "Baum"}, None),
        ({"start": 7, "end": 11}, "6-10 major"),  # UTF-16 units
    ],
)
def test_regions_at_fault(tmp_path: Path, change: Json, expected: str | None) -> None:
    data = {"hypothesis": EMOJI}
    path = export(tmp_path, task(data=data), task(labels("Major", place={**HAUS, **change}), data=data, id=2))
    with pytest.raises(FormatError, match=r"export\.json:2: "):
        list(label_studio.read(path))
    if expected is not None:
        ratings, kinds = read(path)
        assert (marks(ratings[1]), kinds) == (expected, ["repaired"])


def test_a_task_without_a_text(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"export\.json:1: "):
        list(label_studio.read(export(tmp_path, task(data={"image": "x"}))))


@pytest.mark.parametrize(
    ("results", "errors", "kinds"),
    [
        ([labels("Style"), result("choices", choices=["Major"])], "4-8 major Style", []),
        ([labels("Major"), result("choices", choices=["Style"])], "4-8 major Style", []),
        ([labels("Style", "minor")], "4-8 minor Style", []),
        ([labels("Minor"), labels("Style")], "4-8 minor Style", []),
        ([labels(" Major "), result("choices", choices=["Style "])], "4-8 major Style", []),
        ([labels("Minor"), result("taxonomy", taxonomy=[["Fluency", "Spelling"]])], "4-8 minor Fluency/Spelling", []),
        ([result("taxonomy", taxonomy=[["Fluency", "Spelling"], ["Major"]])], "4-8 major Fluency/Spelling", []),
        ([result("taxonomy", taxonomy=[["Major", "Fluency"]])], "4-8 major Fluency", []),
        (
            [labels("Fluency", "Major"), result("taxonomy", taxonomy=[["Fluency", "Spelling"]])],
            "4-8 major Fluency/Spelling",
            [],
        ),
        ([labels("Major"), result("textarea", {**HUND, "text": ["Style"]})], "4-8 major Style", []),
        ([labels("Major"), result("textarea", {**HUND, "text": "Style"})], "4-8 major Style", []),
        # What is left out is counted.
        ([labels("Minor", "Major")], "4-8 major", ["repaired"]),
        ([labels("Major", "Style", "Fluency")], "4-8 major Fluency", ["repaired"]),
        ([labels("Style"), result("rating", rating=3)], "4-8 undecided Style", ["ignored"]),
        ([labels("Major"), result("number", number=3)], "4-8 major", ["ignored"]),
        ([labels("Major", "Style"), result("textarea", {**HUND, "text": ["Really?"]})], "4-8 major Style", ["ignored"]),
        ([{**labels("Major"), "meta": {"text": ["Really?"]}}], "4-8 major", ["ignored"]),
        (
            [labels("Major"), {"type": "relation", "from_id": "r", "to_id": "r", "direction": "right"}],
            "4-8 major",
            ["ignored"],
        ),
        ([labels("Major"), result("rating", None, id="q", rating=3)], "4-8 major", ["ignored"]),
    ],
)
def test_what_stands_beside_a_region_in_any_order(
    tmp_path: Path, results: list[Json], errors: str, kinds: list[str]
) -> None:
    for order in permutations(results):
        turned = [{**region, "value": _turned(region["value"])} if "value" in region else region for region in order]
        for clicked in (order, turned):
            assert the_rating(tmp_path, *clicked) == (errors, kinds)


def _turned(value: Json) -> Json:
    return {name: item[::-1] if name == "labels" else item for name, item in value.items()}


@pytest.mark.parametrize(
    "results",
    [
        [result("rectanglelabels", {"x": 1, "y": 2, "width": 3, "height": 4}, "image", rectanglelabels=["Major"])],
        [result("labels", {"start": 0.5, "end": 1.25}, "audio", labels=["Major"])],
        [result("timeserieslabels", {"start": 0, "end": 4}, "ts", timeserieslabels=["Major"])],
        [result("paragraphlabels", {**HUND, "start": "0", "end": "1"}, paragraphlabels=["Major"])],
        [result("hypertextlabels", {"start": "/p[1]", "end": "/p[2]", "text": "x"}, hypertextlabels=["Major"])],
        [result("hypertextlabels", {**HUND, "globalOffsets": {"start": 5, "end": 9}}, hypertextlabels=["Major"])],
        [result("labels", to="other", labels=["Major"])],
        [result("labels", to="source", labels=["Major"])],
        [result("choices", None, choices=["Unusable"])],
        [result("taxonomy", None, taxonomy=[["Unusable"]])],
        [result("textarea", None, text=["All wrong"])],
        [result("rating", None, rating=1)],
        [result("pairwise", None, selected="left")],
        [{"id": "r", "from_name": "new", "to_name": "hypothesis", "type": "invented", "value": {"text": "x"}}],
    ],
)
def test_a_rating_of_which_nothing_is_understood_is_not_free_of_errors(tmp_path: Path, results: list[Json]) -> None:
    data = {"hypothesis": MT, "other": "Another text.", "audio": "a.wav"}
    assert the_rating(tmp_path, *results, data=data) == ("no spans", ["ignored"])
    assert the_rating(tmp_path, *results, labels("Minor", id="other"), data=data)[0] == "4-8 minor"


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (
            {"start": "/text()[1]", "end": "/text()[1]", "startOffset": 4, "endOffset": 8, "text": "Hund"},
            "hypertextlabels",
        ),
        (
            {"start": "/p[1]", "end": "/p[2]", "globalOffsets": {"start": 4, "end": 8}, "text": "Hund"},
            "hypertextlabels",
        ),
        ({"start": "0", "end": "0", "startOffset": 4, "endOffset": 8, "text": "Hund"}, "paragraphlabels"),
    ],
)
def test_regions_of_pages_whose_words_are_at_their_offsets(tmp_path: Path, place: Json, name: str) -> None:
    assert the_rating(tmp_path, result(name, {**place, name: ["Major"]})) == ("4-8 major", [])


@pytest.mark.parametrize(
    ("data", "to_mt", "to_src"),
    [
        (DATA, "hypothesis", "source"),
        ({"text": MT, "src": SRC}, "text", "src"),
        ({"mt": MT, "source": SRC}, "mt", "source"),
        ({"text": MT, "source": SRC}, "mt", "src"),
        ({"text": MT, "source": SRC}, "left", "right"),
    ],
)
@pytest.mark.parametrize("quotes", [True, False])
def test_a_region_on_the_source_is_an_error_of_the_source(
    tmp_path: Path, data: Json, to_mt: str, to_src: str, quotes: bool
) -> None:
    mt = {**HUND, "text": "Hund" if quotes else None}
    src = {**CAT, "text": "cat" if quotes else None}
    major = labels("Major", place=mt, to=to_mt)
    for results in permutations([major, labels("Minor", place=src, to=to_src, id="s")]):
        rating = the_rating(tmp_path, *results, data=data)
        if to_mt == "left" and not quotes:  # nothing says which text is which
            assert rating == ("no spans", ["ignored", "ignored"])
        else:
            assert rating == ("4-8 major, source 4-7 minor", [])


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ({"start": 4, "end": 8}, "4-8 major"),
        ({"start": 4, "end": 7, "text": "cat"}, "source 4-7 major"),
        ({"start": 4, "end": 7, "text": "dog"}, "no spans"),
    ],
)
def test_the_only_text_that_is_marked_is_the_translation(tmp_path: Path, place: Json, expected: str) -> None:
    assert the_rating(tmp_path, labels("Major", to="txt", place=place))[0] == expected


def test_one_number_is_the_score_and_several_are_not(tmp_path: Path) -> None:
    number = result("number", None, id="n", number=70)
    other = result("number", None, id="m", number=3)
    score = {**number, "from_name": "score"}
    for results, overall, kinds in (
        ([number], Overall(70, "esa"), []),
        ([score, other], Overall(70, "esa"), ["ignored"]),
        ([other, score], Overall(70, "esa"), ["ignored"]),
        ([number, other], None, ["ignored", "ignored"]),
    ):
        (rating,), reported = read(export(tmp_path, task(*results, labels("Minor"))))
        assert (rating.overall, reported) == (overall, kinds)


def test_a_task_exported_twice(tmp_path: Path) -> None:
    once = task(labels("Major"))
    (rating,), notes = reading.read(export(tmp_path, once, once))
    assert marks(rating) == "4-8 major"
    assert notes == ["2: skipped, annotation exported twice"]
    (rating,), notes = reading.read(export(tmp_path, once, task()))
    assert marks(rating) == "4-8 major"
    assert notes == ["!2: skipped, annotation exported twice"]
    no_numbers = {name: value for name, value in once.items() if name != "id"}
    without_numbers = export(tmp_path, once, task(labels("Major"), data={"hypothesis": MT}), no_numbers, no_numbers)
    assert len(read(without_numbers)[0]) == 4


MIN = {"annotator": 3, "annotation_id": 2, "lead_time": 1.5, "created_at": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("fields", "errors"),
    [
        ({"label": [{**HUND, "labels": ["Major"]}]}, "4-8 major"),
        ({"label": [{**HUND, "labels": ["Style"]}], "severity": [{**HUND, "choices": ["Major"]}]}, "4-8 major Style"),
        ({"label": [{**HUND, "labels": ["Major"]}, {**CAT, "labels": ["Minor"]}]}, "4-8 major, source 4-7 minor"),
        ({"severity_hypothesis": [{**ALIKE, "labels": ["Major"]}], "severity_source": [{**ALIKE, "labels": ["Minor"]}],
          "category_source": [{**ALIKE, "text": ["Grammar"]}]}, "3-4 major, source 3-4 minor Grammar"),
        ({"label": []}, ""),
        ({"stars": [{"rating": 3}]}, "no spans"),
    ],
)  # fmt: skip
def test_json_min(tmp_path: Path, fields: Json, errors: str) -> None:
    path = export(tmp_path, {"id": 1, **DATA, "system": "A", **MIN, **fields})
    assert detection.detect(path) == "label-studio"
    (rating,), kinds = read(path)
    assert (marks(rating), rating.rater, kinds) == (errors, "3", ["ignored"] if "stars" in fields else [])
    assert (rating.segment.key or SegmentKey()).system == "A"


@pytest.mark.parametrize("indent", [None, 1])
def test_a_task_alone_as_the_programming_interface_returns_it(tmp_path: Path, indent: int | None) -> None:
    path = put(tmp_path / "task.json", json.dumps(task(labels("Major")), indent=indent))
    (rating,), kinds = read(path)
    assert (marks(rating), kinds) == ("4-8 major", [])


def test_one_region_in_controls_that_call_its_text_differently_is_one_error(tmp_path: Path) -> None:
    severity = result("choices", HUND, "translation", "r", choices=["Major"])
    for results in permutations([labels("Style"), severity]):
        (rating,), notes = read(export(tmp_path, task(*results)))
        assert (marks(rating), notes) == ("4-8 major Style", [])

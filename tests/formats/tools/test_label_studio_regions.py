"""Annotations in other labelling configurations than ours: what is read, and what is reported."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from matese.annotation import ErrorSpan, Overall, Rating, Severity
from matese.errors import FormatError
from matese.formats import detection
from matese.formats.format import ReadOptions
from matese.formats.row_issues import RowIssue
from matese.formats.tools import label_studio
from tests.formats.one_rating import MAJOR, MINOR, put

MT = "Der Hund schläft fest."
SRC = "The cat sleeps well."
HUND = {"start": 4, "end": 8, "text": "Hund"}
CAT = {"start": 4, "end": 7, "text": "cat"}
ALIKE = {"start": 3, "end": 4, "text": " "}
DATA = {"hypothesis": MT, "source_text": SRC}
Json = dict[str, Any]


def result(kind: str, place: Json | None = HUND, to: str = "hypothesis", id: str | None = "r", **value: Any) -> Json:  # noqa: A002
    return {"id": id, "from_name": kind, "to_name": to, "type": kind, "value": {**(place or {}), **value}}


def labels(*names: str, place: Json = HUND, to: str = "hypothesis", id: str = "r") -> Json:  # noqa: A002
    return result("labels", place, to, id, labels=list(names))


def put_tasks(folder: Path, *tasks: Json) -> Path:
    return put(folder / "export.json", json.dumps(tasks))


def read(path: Path) -> tuple[list[Rating], list[str]]:
    issues: list[RowIssue] = []
    ratings = list(label_studio.read(path, ReadOptions(issues.append)))
    if not issues:
        assert list(label_studio.read(path)) == ratings
    return ratings, [issue.kind for issue in issues]


def the_rating(folder: Path, *results: Json, data: Json = DATA) -> tuple[Rating, list[str]]:
    (rating,), kinds = read(put_tasks(folder, {"id": 1, "data": data, "annotations": [{"id": 2, "result": results}]}))
    return rating, kinds


def error(severity: Severity | None, category: str | None = None) -> tuple[ErrorSpan, ...]:
    return (ErrorSpan(4, 8, severity, category),)


@pytest.mark.parametrize(
    ("results", "errors", "kinds"),
    [
        ([labels("Style"), result("choices", choices=["Major"])], error(MAJOR, "Style"), []),
        ([labels("Major"), result("choices", choices=["Style"])], error(MAJOR, "Style"), []),
        ([labels("Style", "minor")], error(MINOR, "Style"), []),
        ([labels("Minor"), labels("Style")], error(MINOR, "Style"), []),
        ([labels(" Major "), result("choices", choices=["Style "])], error(MAJOR, "Style"), []),
        (
            [labels("Minor"), result("taxonomy", taxonomy=[["Fluency", "Spelling"]])],
            error(MINOR, "Fluency/Spelling"),
            [],
        ),
        ([result("taxonomy", taxonomy=[["Fluency", "Spelling"], ["Major"]])], error(MAJOR, "Fluency/Spelling"), []),
        ([result("taxonomy", taxonomy=[["Major", "Fluency"]])], error(MAJOR, "Fluency"), []),
        (
            [labels("Fluency", "Major"), result("taxonomy", taxonomy=[["Fluency", "Spelling"]])],
            error(MAJOR, "Fluency/Spelling"),
            [],
        ),
        ([labels("Major"), result("textarea", {**HUND, "text": ["Style"]})], error(MAJOR, "Style"), []),
        ([labels("Major"), result("textarea", {**HUND, "text": "Style"})], error(MAJOR, "Style"), []),
        # What is left out is counted.
        ([labels("Minor", "Major")], error(MAJOR), ["repaired"]),
        ([labels("Major", "Style", "Fluency")], error(MAJOR, "Fluency"), ["repaired"]),
        ([labels("Style"), result("rating", rating=3)], error(None, "Style"), ["ignored"]),
        ([labels("Major"), result("number", number=3)], error(MAJOR), ["ignored"]),
        (
            [labels("Major", "Style"), result("textarea", {**HUND, "text": ["Really?"]})],
            error(MAJOR, "Style"),
            ["ignored"],
        ),
        ([{**labels("Major"), "meta": {"text": ["Really?"]}}], error(MAJOR), ["ignored"]),
        (
            [labels("Major"), {"type": "relation", "from_id": "r", "to_id": "r", "direction": "right"}],
            error(MAJOR),
            ["ignored"],
        ),
        ([labels("Major"), result("rating", None, id="q", rating=3)], error(MAJOR), ["ignored"]),
    ],
)
def test_what_stands_beside_a_region_in_any_order(
    tmp_path: Path, results: list[Json], errors: tuple[ErrorSpan, ...], kinds: list[str]
) -> None:
    for order in permutations(results):
        turned = [{**one, "value": _turned(one["value"])} if "value" in one else one for one in order]
        for clicked in (order, turned):
            rating, found = the_rating(tmp_path, *clicked)
            assert (rating.errors, found) == (errors, kinds)


def _turned(value: Json) -> Json:
    return {name: held[::-1] if name == "labels" else held for name, held in value.items()}


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
    rating, kinds = the_rating(tmp_path, *results, data=data)
    assert (rating.errors, kinds) == (None, ["ignored"])
    with pytest.raises(FormatError, match=r"export\.json:1: "):
        list(label_studio.read(tmp_path / "export.json"))
    kept, _ = the_rating(tmp_path, *results, labels("Minor", id="other"), data=data)
    assert kept.errors == error(MINOR)


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
    rating, kinds = the_rating(tmp_path, result(name, {**place, name: ["Major"]}))
    assert (rating.errors, kinds) == (error(MAJOR), [])


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
    for first, second in permutations(
        [labels("Major", place=mt, to=to_mt), labels("Minor", place=src, to=to_src, id="s")]
    ):
        rating, kinds = the_rating(tmp_path, first, second, data=data)
        if to_mt == "left" and not quotes:  # nothing says which text is which
            assert (rating.errors, kinds) == (None, ["ignored", "ignored"])
            continue
        assert (rating.errors, rating.source_errors, kinds) == (error(MAJOR), (ErrorSpan(4, 7, MINOR),), [])
        assert rating.segment.source == SRC


def test_the_only_text_that_is_marked_is_the_translation(tmp_path: Path) -> None:
    assert the_rating(tmp_path, labels("Major", to="txt", place={"start": 4, "end": 8}))[0].errors == error(MAJOR)
    alone = labels("Major", to="txt", place={"start": 4, "end": 7, "text": "cat"})
    assert the_rating(tmp_path, alone)[0].source_errors == (ErrorSpan(4, 7, MAJOR),)
    lost = labels("Major", to="txt", place={"start": 4, "end": 7, "text": "dog"})
    assert the_rating(tmp_path, lost)[0].errors is None


def test_one_number_is_the_score_and_several_are_not(tmp_path: Path) -> None:
    number = result("number", None, id="n", number=70)
    other = result("number", None, id="m", number=3)
    assert the_rating(tmp_path, number)[0].overall == Overall(70, "esa")
    score = {**number, "from_name": "score"}
    for results in permutations([score, other]):
        rating, kinds = the_rating(tmp_path, *results, labels("Minor"))
        assert (rating.overall, kinds) == (Overall(70, "esa"), ["ignored"])
    rating, kinds = the_rating(tmp_path, number, other, labels("Minor"))
    assert (rating.overall, kinds) == (None, ["ignored", "ignored"])


def test_a_task_exported_twice(tmp_path: Path) -> None:
    task = {"id": 1, "data": DATA, "annotations": [{"id": 2, "completed_by": 3, "result": [labels("Major")]}]}
    (rating,), kinds = read(put_tasks(tmp_path, task, task))
    assert (rating.errors, kinds) == (error(MAJOR), ["skipped"])
    assert len(list(label_studio.read(tmp_path / "export.json"))) == 1
    changed = {**task, "annotations": [{"id": 2, "completed_by": 3, "result": []}]}
    path = put_tasks(tmp_path, task, changed)
    assert [one.errors for one in read(path)[0]] == [error(MAJOR)]
    with pytest.raises(FormatError, match="annotation exported twice"):
        list(label_studio.read(path))
    other_project = {**task, "data": {"hypothesis": MT}}
    no_numbers = {name: value for name, value in task.items() if name != "id"}
    assert len(read(put_tasks(tmp_path, task, other_project, no_numbers, no_numbers))[0]) == 4


MIN = {"annotator": 3, "annotation_id": 2, "lead_time": 1.5, "created_at": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("fields", "errors", "source_errors"),
    [
        ({"label": [{**HUND, "labels": ["Major"]}]}, error(MAJOR), ()),
        (
            {"label": [{**HUND, "labels": ["Style"]}], "severity": [{**HUND, "choices": ["Major"]}]},
            error(MAJOR, "Style"),
            (),
        ),
        (
            {"label": [{**HUND, "labels": ["Major"]}, {**CAT, "labels": ["Minor"]}]},
            error(MAJOR),
            (ErrorSpan(4, 7, MINOR),),
        ),
        (
            {
                "severity_hypothesis": [{**ALIKE, "labels": ["Major"]}],
                "severity_source": [{**ALIKE, "labels": ["Minor"]}],
                "category_source": [{**ALIKE, "text": ["Grammar"]}],
            },
            (ErrorSpan(3, 4, MAJOR),),
            (ErrorSpan(3, 4, MINOR, "Grammar"),),
        ),
        ({"label": []}, (), ()),
    ],
)
def test_json_min(tmp_path: Path, fields: Json, errors: tuple[ErrorSpan, ...], source_errors: object) -> None:
    path = put_tasks(tmp_path, {"id": 1, **DATA, "system": "A", **MIN, **fields})
    assert detection.detect(path) == "label-studio"
    ((rating,), kinds) = read(path)
    assert (rating.errors, rating.source_errors, rating.rater, kinds) == (errors, source_errors, "3", [])
    assert rating.segment.key is not None
    assert rating.segment.key.system == "A"


def test_json_min_with_what_is_not_understood(tmp_path: Path) -> None:
    (rating,), kinds = read(put_tasks(tmp_path, {"id": 1, **DATA, **MIN, "stars": [{"rating": 3}]}))
    assert (rating.errors, kinds) == (None, ["ignored"])

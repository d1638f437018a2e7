"""The test set of WMT 2026 as input, and submissions: written, validated, and read back."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese import mqm
from matese.annotation import (
    ErrorFree,
    ErrorSpan,
    Estimate,
    Omission,
    Overall,
    Rating,
    Segment,
    SegmentKey,
    Severity,
    UnplacedError,
)
from matese.errors import FormatError, InputError
from matese.formats import detection, writing
from matese.formats.capabilities import Reducer
from matese.formats.corpora import wmt26
from matese.formats.format import ReadOptions, WriteOptions
from tests.formats import reading, wmt26_submissions
from tests.formats.made_ratings import CONFIDENCES, SEVERITIES, spans
from tests.formats.wmt26_submissions import CHALLENGE, CHINESE, GERMAN

MINOR = Severity.MINOR
MAJOR = Severity.MAJOR
OMISSION = wmt26.OMISSION


def of_test_set(folder: Path, **how: Any) -> list[Rating]:
    path = wmt26_submissions.write_test_set(folder / "mteval-test26.jsonl")
    return list(detection.read(path, ReadOptions(**how)))


def submitted(ratings: list[Rating], folder: Path) -> tuple[str, Counter[str]]:
    losses = writing.write(ratings, folder / "submission.jsonl", "wmt26")
    return (folder / "submission.jsonl").read_text("utf-8"), losses


def test_the_test_set_has_a_translation_of_each_system(tmp_path: Path) -> None:
    ratings = of_test_set(tmp_path)
    keys = [rating.segment.key for rating in ratings]
    german = SegmentKey("official", "eng_Latn-deu_Latn", "Big One", "paper.7", 0, "news")
    assert keys[:2] == [german, replace(german, system="tiny")]
    assert keys[2] == SegmentKey("official", "eng_Latn-zho_Hant_TW", "Big One", "talk_###_3", 1, "speech")
    assert ratings[0].segment.references == ("Der Laden schließt um sechs.",)
    assert all(rating.errors is None and rating.rater is None for rating in ratings)
    assert [wmt26.item_id(key) for key in keys if key] == [GERMAN, GERMAN, CHINESE, CHALLENGE, CHALLENGE]


@pytest.mark.parametrize(
    ("lang_pair", "n"), [("en-de", 4), ("eng_Latn-deu_Latn", 4), ("en-zh", 1), ("en-zh_Hant_TW", 1)]
)
def test_a_language_pair_selects_segments(lang_pair: str, n: int, tmp_path: Path) -> None:
    assert len(of_test_set(tmp_path, lang_pair=lang_pair)) == n
    with pytest.raises(FormatError):  # scripts are told apart
        of_test_set(tmp_path, lang_pair="en-zh_Hans_CN")


@pytest.mark.parametrize(
    "item_id",
    ["", "a", "official_###_eng_Latn_###_deu_Latn_###_news_###_0", GERMAN[:-1] + "x", GERMAN[:-1] + "01"],
)
def test_an_item_id_has_all_its_parts(item_id: str, tmp_path: Path) -> None:
    path = tmp_path / "test.jsonl"
    path.write_text(json.dumps({"item_id": item_id, "src": "a", "hyps": {"A": "b"}}) + "\n", "utf-8")
    with pytest.raises(FormatError, match=r"test\.jsonl:1"):
        list(wmt26.read(path))


SPAN = ErrorSpan(10, 16, MAJOR, "Accuracy/Mistranslation", 0.75)
WHOLES = [
    (Estimate(-5.0, "mqm"), 80.0),
    (Estimate(-40.0, "mqm"), 0.0),
    (Estimate(0.5, "0-1"), 50.0),
    (Estimate(81.25, "esa"), 81.25),
    (Estimate(101.0, "esa"), 100.0),
    (Overall(90.0, "esa"), 90.0),
    (None, 80.0),  # a Major error
]


@pytest.mark.parametrize(("whole", "score"), WHOLES)
def test_a_submission_is_valid(whole: Overall | Estimate | None, score: float, tmp_path: Path) -> None:
    first, *rest = of_test_set(tmp_path)
    marked = replace(
        first,
        errors=(SPAN,),
        overall=whole if isinstance(whole, Overall) else None,
        estimate=whole if isinstance(whole, Estimate) else None,
        error_free=ErrorFree(False, 0.01),
    )
    blank = replace(rest[0], errors=(), unplaced=(mqm.NON_TRANSLATION,), error_free=ErrorFree(False, 0.0))
    free = [replace(rating, errors=(), error_free=ErrorFree(True, 0.9)) for rating in rest[1:]]
    text, _ = submitted([marked, blank, *free], tmp_path)
    assert list(wmt26_submissions.problems(text)) == []
    line = json.loads(text.splitlines()[0])
    assert line["task2_pred"]["Big One"] == score
    expected = {"start": 10, "end": 16, "severity": "major", "category": "Accuracy/Mistranslation"}
    assert line["task1_pred"]["Big One"] == {"errors": [expected], "omission": None, "instruction_fault": None}
    assert line["task1_pred"]["tiny"]["omission"] == "major"
    assert line["task3_pred"] == {"Big One": 0, "tiny": 0}


def test_only_the_tasks_with_predictions_are_written(tmp_path: Path) -> None:
    scored = [replace(rating, estimate=Estimate(50.0, "esa")) for rating in of_test_set(tmp_path)]
    text, losses = submitted(scored, tmp_path)
    assert list(wmt26_submissions.problems(text, tasks=(2,))) == []
    assert losses.keys() == {"sources", "references"}


UNPLACED: list[tuple[list[UnplacedError], dict[str, str | None]]] = [
    ([], {"omission": None, "instruction_fault": None}),
    ([UnplacedError(MINOR), UnplacedError(MAJOR, "accuracy/omission")], {"omission": "major"}),
    ([UnplacedError(None)], {"omission": "minor"}),
    ([UnplacedError(MAJOR, wmt26.INSTRUCTION_FAULT)], {"omission": None, "instruction_fault": "major"}),
    ([UnplacedError(MAJOR, "Fluency/Grammar")], {"omission": None, "instruction_fault": None}),
]


@pytest.mark.parametrize(("unplaced", "expected"), UNPLACED)
def test_errors_without_a_place(unplaced: list[UnplacedError], expected: dict[str, str | None], tmp_path: Path) -> None:
    rating = replace(of_test_set(tmp_path)[0], errors=(), unplaced=tuple(unplaced))
    text, _ = submitted([rating], tmp_path)
    written = json.loads(text)["task1_pred"]["Big One"]
    assert {name: written[name] for name in expected} == expected


def test_an_omission_with_a_place_is_one_without(tmp_path: Path) -> None:
    rating = of_test_set(tmp_path)[0]
    text, losses = submitted([replace(rating, errors=(), omissions=(Omission("source", None, 0, 3, MAJOR),))], tmp_path)
    assert json.loads(text)["task1_pred"]["Big One"]["omission"] == "major"
    assert losses["omissions, written as errors without a place"] == 1


KEY = SegmentKey("official", "eng_Latn-deu_Latn", "A", "d", 0, "news")


@pytest.mark.parametrize("part", ["test_set", "lang_pair", "system", "document", "index", "domain"])
def test_a_segment_of_another_test_set_has_no_item_id(part: str, tmp_path: Path) -> None:
    key = replace(KEY, **{part: None})
    with pytest.raises(InputError):
        submitted([Rating(Segment("a", key=key), None, ())], tmp_path)
    assert not (tmp_path / "submission.jsonl").exists()


def test_two_raters_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        submitted([Rating(Segment("a", key=KEY), rater, ()) for rater in ("r1", "r2")], tmp_path)


@given(st.data())
def test_a_submission_is_read_back(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        reducer = Reducer(wmt26.CAPABILITIES, adapt=wmt26.adapt)
        ratings = []
        for rating in of_test_set(folder):
            errors = data.draw(st.one_of(st.none(), spans(rating.segment.hypothesis)))
            unplaced = () if errors is None else tuple(data.draw(st.lists(UNPLACED_ERRORS, max_size=2)))
            estimate = data.draw(st.one_of(st.none(), st.builds(Estimate, st.floats(-30, 120), st.just("esa"))))
            error_free = data.draw(st.one_of(st.none(), st.builds(ErrorFree, st.booleans(), CONFIDENCES)))
            ratings.append(replace(rating, errors=errors, unplaced=unplaced, estimate=estimate, error_free=error_free))
        reduced = [fit for fit in map(reducer.reduce, ratings) if fit is not None]
        (folder / "written.jsonl").write_text("".join(wmt26.write(reduced, WriteOptions())), "utf-8")
        how = ReadOptions(texts=str(folder / "mteval-test26.jsonl"))
        again = list(detection.read(folder / "written.jsonl", how, name="wmt26"))
        assert predictions(again) == predictions(reduced)


UNPLACED_ERRORS = st.builds(UnplacedError, SEVERITIES, st.sampled_from([None, OMISSION, wmt26.INSTRUCTION_FAULT, "x"]))


def predictions(ratings: list[Rating]) -> dict[SegmentKey | None, tuple[object, ...]]:
    """Returns what is predicted for each translation, for those with a prediction."""
    of_all = {
        rating.segment.key: (rating.errors, rating.unplaced, rating.estimate, rating.error_free) for rating in ratings
    }
    return {key: predicted for key, predicted in of_all.items() if predicted != (None, (), None, None)}


GOOD_ERROR: dict[str, object] = {"start": 0, "end": 3, "severity": "minor", "category": "other"}
NOT_UNDERSTOOD: list[tuple[dict[str, object], tuple[ErrorSpan, ...] | None]] = [
    ({"errors": [GOOD_ERROR | {"severity": "awful"}]}, None),
    ({"errors": [GOOD_ERROR | {"severity": "awful"}, GOOD_ERROR]}, (ErrorSpan(0, 3, MINOR),)),
    ({"errors": [GOOD_ERROR | {"end": 0}]}, None),
    ({"errors": [GOOD_ERROR | {"end": 1000}]}, None),
    ({"errors": [GOOD_ERROR | {"start": "0"}]}, None),
    ({"errors": [GOOD_ERROR | {"severity": 3}]}, None),
    ({"errors": [], "omission": "huge"}, None),
    ({"errors": None}, None),
    ({"error_spans": [GOOD_ERROR]}, None),
]


def submission(folder: Path, predicted: dict[str, object], item_id: str = GERMAN) -> tuple[Path, str]:
    """A submission of one line, and the test set with its texts."""
    of_test_set(folder)
    path = folder / "in.jsonl"
    path.write_text(json.dumps({"item_id": item_id, **predicted}) + "\n", "utf-8")
    return path, str(folder / "mteval-test26.jsonl")


@pytest.mark.parametrize(("task1", "errors"), NOT_UNDERSTOOD)
def test_what_is_not_understood_is_never_error_free(
    task1: dict[str, object], errors: tuple[ErrorSpan, ...] | None, tmp_path: Path
) -> None:
    path, texts = submission(tmp_path, {"task1_pred": {"Big One": task1}})
    (rating,), (note,) = reading.read(path, texts=texts)
    assert rating.errors == errors
    assert note.startswith("!1: ignored, ")


@pytest.mark.parametrize(
    ("predicted", "item_id"),
    [
        ({"task2_pred": {"Big One": 100.5}}, GERMAN),
        ({"task2_pred": {"unknown": 3}}, GERMAN),
        ({"task2_pred": {"Big One": 3}}, GERMAN[:-1] + "9"),
        ({"task3_pred": {"Big One": 2}}, GERMAN),
        ({"task2_pred": {"Big One": "good"}}, GERMAN),
    ],
)
def test_faults_of_a_submission_have_a_place(predicted: dict[str, object], item_id: str, tmp_path: Path) -> None:
    path, texts = submission(tmp_path, predicted, item_id)
    with pytest.raises(FormatError, match=r"in\.jsonl:1"):
        list(detection.read(path, ReadOptions(texts=texts)))


def test_a_submission_needs_its_texts(tmp_path: Path) -> None:
    path, _ = submission(tmp_path, {"task2_pred": {"Big One": 3}})
    assert detection.detect(path) == "wmt26"
    with pytest.raises(FormatError, match="--texts"):
        list(detection.read(path, ReadOptions(lambda issue: None)))

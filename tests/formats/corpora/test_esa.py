"""The human annotation of WMT 2024 and 2025, in files written by hand in its forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from matese.annotation import ErrorSpan, Overall, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.errors import FormatError
from matese.formats import detection
from tests.formats.one_rating import put
from tests.formats.reading import marks, read

MINOR = Severity.MINOR
SOURCE = "The house is old."
OURS = "Das Heim ist alt."
THEIRS = "Das Haus ist alt."
SPAN = {"start_i": 4, "end_i": 7, "severity": "minor"}
JUDGED = {"score": 50, "annotator": "a1", "errors": [SPAN], "times": [1, 2]}
OF_2025: dict[str, Any] = {
    "scores": {"SysA": [JUDGED]},
    "src_text": SOURCE,
    "tgt_text": {"refA": THEIRS, "SysA": OURS, "SysB": "Das Haus."},
    "doc_id": "en-de_DE_#_news_#_d1_#_0",
}
OF_2024: dict[str, Any] = {
    "langs": "en-de", "line_id": 7, "src": SOURCE, "tgt": OURS, "doc_id": "news_d1", "domain": "news",
    "esa_spans": [SPAN], "esa_score": 80, "system": "SysA", "annotator": "a1", "speech_info": None,
}  # fmt: skip


def lines(folder: Path, *rows: object) -> Path:
    return put(folder / "humeval.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def test_2024_keeps_score_languages_and_place(tmp_path: Path) -> None:
    path = lines(tmp_path, OF_2024, {**OF_2024, "esa_score": "90.5", "esa_spans": []})
    assert detection.detect(path) == "esa"
    segment = Segment(OURS, SOURCE, key=SegmentKey(None, "en-de", "SysA", "news_d1", 7, "news"))
    assert read(path) == (
        [
            Rating(segment, "a1", (ErrorSpan(4, 8, MINOR),), overall=Overall(80, "esa")),
            Rating(segment, "a1", (), overall=Overall(90.5, "esa")),
        ],
        [],
    )


def test_2025_has_the_annotators_of_each_system_and_its_references(tmp_path: Path) -> None:
    missing = {**SPAN, "start_i": "missing", "end_i": "missing"}
    scores = {"SysA": [JUDGED, {**JUDGED, "annotator": "a2", "errors": [missing]}], "refA": [JUDGED]}
    path = lines(tmp_path, {**OF_2025, "scores": scores})
    assert detection.detect(path) == "esa"
    key = SegmentKey(None, "en-de_DE", "SysA", "d1", 0, "news")
    ratings, notes = read(path)
    assert notes == []
    assert ratings[0] == Rating(
        Segment(OURS, SOURCE, (THEIRS,), key), "a1", (ErrorSpan(4, 8, MINOR),), overall=Overall(50, "esa")
    )
    assert (ratings[1].rater, ratings[1].unplaced) == ("a2", (UnplacedError(MINOR, "Accuracy/Omission"),))
    assert (ratings[2].segment.hypothesis, ratings[2].segment.references) == (THEIRS, ())  # none of itself


def test_other_forms_of_2025(tmp_path: Path) -> None:
    """A list of rows, translations as a list of objects, and one judgement in place of a list of them."""
    listed = {**OF_2025, "tgt_text": [{"system": name, "text": text} for name, text in OF_2025["tgt_text"].items()]}
    single = {**OF_2025, "scores": {"SysA": {"human": 50.0, "annotator": "a1", "errors": [SPAN]}}}
    path = put(tmp_path / "humeval.json", json.dumps([listed, single]))
    assert detection.detect(path) == "esa"
    expected = list(detection.read(lines(tmp_path, OF_2025)))
    assert list(detection.read(path)) == expected * 2


@pytest.mark.parametrize(("lang_pair", "n"), [("en-de", 2), ("en-de_DE", 2), ("de-en", None)])
def test_a_language_pair_selects(lang_pair: str, n: int | None, tmp_path: Path) -> None:
    path = lines(tmp_path, OF_2025, OF_2024, {**OF_2024, "langs": "en-cs"})
    if n is None:
        with pytest.raises(FormatError):
            read(path, lang_pair=lang_pair)
    else:
        assert len(read(path, lang_pair=lang_pair)[0]) == n


@pytest.mark.parametrize(
    ("row", "expected", "note"),
    [
        ({**OF_2024, "esa_spans": None}, "no spans", None),
        ({**OF_2024, "esa_spans": [{**SPAN, "severity": "odd"}]}, "no spans", "ignored, unknown severity 'odd'"),
        ({**OF_2024, "esa_score": 101}, "4-8 minor", "ignored, score out of range"),
        ({**OF_2024, "esa_score": "nan"}, "4-8 minor", "ignored, score out of range"),
        ({**OF_2024, "esa_spans": [{**SPAN, "end_i": 40}]}, "4-17 minor", "repaired, span ends beyond the text"),
    ],
)
def test_odd_annotations(row: object, expected: str, note: str | None, tmp_path: Path) -> None:
    (rating,), notes = read(lines(tmp_path, row), "esa")
    assert (marks(rating), notes) == (expected, [] if note is None else [f"!1: {note}"])


def test_an_annotation_without_a_translation_is_counted(tmp_path: Path) -> None:
    ratings, notes = read(lines(tmp_path, {**OF_2025, "scores": {"SysA": [JUDGED], "SysC": [JUDGED]}}))
    assert (len(ratings), notes) == (1, ["!1: skipped, annotation of a translation that is not there"])


@pytest.mark.parametrize(
    "row",
    [
        {**OF_2024, "esa_score": "good"},
        {**OF_2024, "langs": "de"},
        {**OF_2024, "esa_spans": [{**SPAN, "start_i": -1}]},
        {**OF_2025, "tgt_text": ["Das Haus."]},
        {**OF_2025, "scores": {"SysA": [7]}},
    ],
)
def test_rows_that_are_refused(row: object, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"humeval\.jsonl:1: "):
        list(detection.read(lines(tmp_path, row), name="esa"))

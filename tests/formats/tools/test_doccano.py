"""doccano's files as its versions write them, and files that are at fault."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey
from matese.errors import FormatError
from matese.formats import detection
from matese.formats.format import ReadOptions, WriteOptions
from matese.formats.row_issues import RowIssue
from matese.formats.tools import doccano
from tests.formats.one_rating import EMOJI, GIVEN, MAJOR, MINOR, put


def test_doccano_counts_utf_16_units_and_every_line_has_every_key() -> None:
    first, second = map(json.loads, doccano.write([GIVEN, Rating(Segment("Haus"), None, ())], WriteOptions()))
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


def entity(label: object, **more: object) -> dict[str, object]:
    return {"label": label, "start_offset": 7, "end_offset": 11, **more}


@pytest.mark.parametrize(
    ("line", "expected", "n_ignored"),
    [
        ({"annotations": [entity("Major", user=1)]}, [("1", (ErrorSpan(6, 10, MAJOR),))], 0),
        ({"annotations": [entity(" major : Style"), entity(" Style ")]},
         [(None, (ErrorSpan(6, 10, None, "Style"), ErrorSpan(6, 10, MAJOR, "Style")))], 0),
        ({"annotations": [entity("Minor", user=1), entity("Major", user=2), entity("Style", user=1)]},
         [("1", (ErrorSpan(6, 10, None, "Style"), ErrorSpan(6, 10, MINOR))), ("2", (ErrorSpan(6, 10, MAJOR),))], 0),
        ({"annotations": [], "rater": "ann"}, [("ann", ())], 0),
        # The names of numbered labels are not in the file.
        ({"annotations": [entity(12, user=1)]}, [("1", None)], 1),
        ({"label": [[7, 11, 12], [7, 11, "Minor"]]}, [(None, (ErrorSpan(6, 10, MINOR),))], 1),
        ({"entities": [], "relations": [{"id": 1, "from_id": 2, "to_id": 3, "type": "x"}]}, [(None, None)], 1),
        ({"label": [], "Comments": ["All wrong."]}, [(None, None)], 1),
    ],
)  # fmt: skip
def test_doccano_annotations_of_users_and_what_is_not_understood(
    tmp_path: Path, line: dict[str, object], expected: list[tuple[str | None, object]], n_ignored: int
) -> None:
    path = put(tmp_path / "all.jsonl", json.dumps({"id": 1, "text": EMOJI, "meta": {}, **line}))
    assert detection.detect(path) == "doccano"
    notes: list[RowIssue] = []
    assert [(one.rater, one.errors) for one in doccano.read(path, ReadOptions(notes.append))] == expected
    assert [note.kind for note in notes] == ["ignored"] * n_ignored
    if n_ignored:
        with pytest.raises(FormatError, match=r"all\.jsonl:1: "):
            list(doccano.read(path))


@pytest.mark.parametrize(
    ("line", "form"),
    [
        ('{"hypothesis": "a", "errors": [{"start": 0, "end": 1, "text": "a"}], "label": "x"}', "jsonl"),
        ('{"id": 1, "mt": "\\"text\\": \\"label\\": []"}', "jsonl"),
        ('{"meta": {"text": "a", "label": []}, "mt": "a"}', "jsonl"),
        ('{"text": "' + "a" * 20_000 + '", "label": []}', "jsonl"),  # its labels are beyond the beginning
        ('{"id": 1, "label": [[0, 1, "Minor"]], "text": "' + "a" * 20_000 + '"}', "doccano"),
        ('{"annotations" : [], "text" : "a"}', "doccano"),
    ],
)
def test_doccano_is_known_by_its_own_keys(tmp_path: Path, line: str, form: str) -> None:
    assert detection.detect(put(tmp_path / "all.jsonl", line)) == form


def test_doccano_labels_within_a_character_are_refused_or_widened(tmp_path: Path) -> None:
    path = put(tmp_path / "all.jsonl", json.dumps({"text": EMOJI, "label": [[0, 5, "Minor"], [5, 11, "Minor"]]}))
    with pytest.raises(FormatError, match="jsonl:1: offset in the middle of a surrogate pair: must be before or after"):
        list(doccano.read(path))
    notes: list[RowIssue] = []
    (rating,) = doccano.read(path, ReadOptions(notes.append))
    assert rating.errors == (ErrorSpan(0, 5, MINOR), ErrorSpan(4, 10, MINOR))
    assert [note.reason for note in notes] == ["offset in the middle of a surrogate pair"] * 2


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"label": []}', ".*`text`"),
        ('{"text": "a", "label": [[0, 2, "Major"]]}', "offset 2: must be between 0 and 1, the text's UTF-16"),
        ('{"text": "a", "label": [[1, 1, "Major"]]}', "label 1..1: must have 0 <= start < end"),
        ('{"text": "a", "label": [], "index": "x"}', "index"),
        ('{"text": "a", "label": [], "index": 0.5}', "index"),
        ('{"text": "a", "label": [[0, "1", "Major"]]}', r"label\[0\]\[1\]: "),
        ('{"text": "a", "label": {}}', "label: "),
        ('{"text": "a", "label": "x"}', "label: "),
        ('{"text": "\\ud83d", "label": []}', "not JSON .*surrogate"),
    ],
)
def test_doccano_lines_at_fault(tmp_path: Path, line: str, problem: str) -> None:
    path = put(tmp_path / "all.jsonl", '{"text": "a", "label": []}\n' + line + "\n")
    with pytest.raises(FormatError, match=rf"all\.jsonl:2: .*{problem}"):
        list(doccano.read(path))

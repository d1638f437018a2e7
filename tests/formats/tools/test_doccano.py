"""doccano's files as its versions write them, and files that are at fault."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey
from matese.errors import FormatError
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
        ('{"label": []}', "text is missing: must be a string"),
        ('{"text": "a", "label": [[0, 2, "Major"]]}', "offset 2: must be between 0 and 1, the text's UTF-16"),
        ('{"text": "a", "label": [[1, 1, "Major"]]}', "label 1..1: must have 0 <= start < end"),
        ('{"text": "a", "label": [], "index": "x"}', "index is 'x': must be an integer or null"),
        ('{"text": "a", "label": [], "index": 0.5}', "index is 0.5: must be an integer or null"),
        ('{"text": "a", "label": [[0, "1", "Major"]]}', r"label\[0\]\[1\] is '1': must be an integer"),
        ('{"text": "a", "label": {}}', "label is an object: must be a list or null"),
        ('{"text": "a", "label": "x"}', "label is 'x': must be a list or null"),
        ('{"text": "\\ud83d", "label": []}', "not JSON .*surrogate"),
    ],
)
def test_doccano_lines_at_fault(tmp_path: Path, line: str, problem: str) -> None:
    path = put(tmp_path / "all.jsonl", '{"text": "a", "label": []}\n' + line + "\n")
    with pytest.raises(FormatError, match=rf"all\.jsonl:2: .*{problem}"):
        list(doccano.read(path))

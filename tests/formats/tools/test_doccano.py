"""doccano's files as its versions write them, and files that are at fault."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from matese.annotation import Rating, Segment, SegmentKey
from matese.errors import FormatError
from matese.formats import detection
from matese.formats.format import WriteOptions
from matese.formats.tools import doccano
from tests.formats.one_rating import EMOJI, GIVEN, put
from tests.formats.reading import read, shown


def test_doccano_counts_utf_16_units_and_every_line_has_every_key() -> None:
    first, second = map(json.loads, doccano.write([GIVEN, Rating(Segment("Haus"), None, ())], WriteOptions()))
    assert first["label"] == [[7, 11, "Major: Style"]]
    # One table is made of all lines: what one has and another lacks, or a number that is null, would become NaN there.
    assert first.keys() == second.keys()
    assert (first["index"], second["index"]) == ("0", None)


def entity(label: object, **more: object) -> dict[str, object]:
    return {"label": label, "start_offset": 7, "end_offset": 11, **more}


@pytest.mark.parametrize(
    ("line", "expected", "n_ignored"),
    [
        # As its versions write it.
        ({"label": [[7, 11, "Major: Style"]], "Comments": []}, ["None: 6-10 major Style"], 0),
        ({"labels": [[7, 11, "Grammar"]]}, ["None: 6-10 undecided Grammar"], 0),
        ({"entities": [entity("minor", id=1)], "relations": []}, ["None: 6-10 minor"], 0),
        ({"annotations": [entity("Major", user=1)]}, ["1: 6-10 major"], 0),
        ({"annotations": [entity(" major : Style"), entity(" Style ")]},
         ["None: 6-10 undecided Style, 6-10 major Style"], 0),
        ({"annotations": [entity("Minor", user=1), entity("Major", user=2), entity("Style", user=1)]},
         ["1: 6-10 undecided Style, 6-10 minor", "2: 6-10 major"], 0),
        ({"annotations": [], "rater": "ann"}, ["ann: "], 0),
        # The names of numbered labels are not in the file.
        ({"annotations": [entity(12, user=1)]}, ["1: no spans"], 1),
        ({"label": [[7, 11, 12], [7, 11, "Minor"]]}, ["None: 6-10 minor"], 1),
        ({"entities": [], "relations": [{"id": 1, "from_id": 2, "to_id": 3, "type": "x"}]}, ["None: no spans"], 1),
        ({"label": [], "Comments": ["All wrong."]}, ["None: no spans"], 1),
        # Nobody has labelled it.
        ({"label": None}, ["None: no spans"], 0),
        ({"annotations": None, "label": []}, ["None: "], 0),
    ],
)  # fmt: skip
def test_annotations_and_what_is_not_understood(
    tmp_path: Path, line: dict[str, object], expected: list[str], n_ignored: int
) -> None:
    path = put(tmp_path / "all.jsonl", json.dumps({"id": 1, "text": EMOJI, "meta": {}, **line}))
    assert detection.detect(path) == "doccano"
    ratings, notes = shown(path)
    assert [rating.replace(f"{EMOJI} | ", "") for rating in ratings] == expected
    assert [note.partition(",")[0] for note in notes] == ["!1: ignored"] * n_ignored


@pytest.mark.parametrize("index", ["3", 3.0, 3])
def test_numbers_of_segments(tmp_path: Path, index: object) -> None:
    path = put(tmp_path / "all.jsonl", json.dumps({"text": EMOJI, "label": [], "index": index}))
    assert [rating.segment.key for rating in doccano.read(path)] == [SegmentKey(index=3)]


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


def test_doccano_labels_within_a_character_are_widened(tmp_path: Path) -> None:
    path = put(tmp_path / "all.jsonl", json.dumps({"text": EMOJI, "label": [[0, 5, "Minor"], [5, 11, "Minor"]]}))
    ratings, notes = shown(path)
    assert ratings == [f"None: {EMOJI} | 0-5 minor, 4-10 minor"]
    inside = "1: repaired, offset in the middle of a surrogate pair"
    assert notes == [f"!{inside}", inside]


@pytest.mark.parametrize(
    "line",
    [
        '{"label": []}',
        '{"text": "a", "label": [[0, 2, "Major"]]}',
        '{"text": "a", "label": [[1, 1, "Major"]]}',
        '{"text": "a", "label": [], "index": "x"}',
        '{"text": "a", "label": [[0, "1", "Major"]]}',
        '{"text": "a", "label": "x"}',
        '{"text": "\\ud83d", "label": []}',
    ],
)
def test_doccano_lines_at_fault(tmp_path: Path, line: str) -> None:
    path = put(tmp_path / "all.jsonl", '{"text": "a", "label": []}\n' + line + "\n")
    with pytest.raises(FormatError, match=r"all\.jsonl:2: "):
        read(path, "doccano")

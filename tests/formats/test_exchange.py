"""Files as the tools themselves write them, written by hand here, and files that are at fault."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from matese.annotation import ErrorSpan, Estimate, Rating, SegmentKey, UnplacedError
from matese.errors import FormatError
from matese.formats import detection, writing
from matese.formats.corpora import wmt_span_submission, word_tags
from matese.formats.format import ReadOptions, WriteOptions
from matese.formats.tables import comet_json
from tests.formats.one_rating import EMOJI, GIVEN, MINOR, put


def test_one_line_of_comet(tmp_path: Path) -> None:
    scores = {name: [{"src": "s", "mt": "b", "COMET": 0.5}] * 2 for name in ("a.txt", "b.txt")}
    for end in ("", "\n", "\r\n \n"):
        path = put(tmp_path / "scores.json", json.dumps(scores) + end)
        keys = [rating.segment.key for rating in detection.read(path)]
        assert keys == [SegmentKey(system=system, index=index) for system in ("a", "b") for index in (0, 1)]


def test_xcomet_spans_lose_the_space_before_the_word(tmp_path: Path) -> None:
    error = {"text": "Haus", "confidence": 0.4, "severity": "minor", "start": 5, "end": 10}
    blank = {**error, "text": "", "start": 3, "end": 4}
    rows = [
        {"src": "s", "mt": EMOJI, "ref": "r", "COMET": 0.75, "errors": [error, blank]},
        {"src": "s", "mt": "b", "COMET": 0.5},
    ]
    path = put(tmp_path / "out.json", json.dumps({"out/online-A.txt": rows, "out/B.txt": rows[1:]}, indent=4))
    assert detection.detect(path) == "xcomet"
    first, second, third = detection.read(path, ReadOptions(lang_pair="en-de"))
    assert first.errors == (ErrorSpan(3, 4, MINOR, confidence=0.4), ErrorSpan(6, 10, MINOR, confidence=0.4))
    assert (first.segment.references, first.overall, first.estimate) == (("r",), None, Estimate(0.75, "0-1"))
    assert (second.errors, second.segment.key) == (None, SegmentKey(None, "en-de", "online-A", None, 1))
    assert third.segment.key == SegmentKey(None, "en-de", "B", None, 0)
    put(path, json.dumps({"a": [{**rows[0], "errors": [{**error, "end": 99}]}]}))
    with pytest.raises(FormatError, match=r"out\.json:1: error span 6\.\.99: must end within"):
        list(comet_json.read(path))


def test_word_tags_with_gaps(tmp_path: Path) -> None:
    put(tmp_path / "test.mt", "Ein  rotes Haus\n\n")
    path = put(tmp_path / "test.tags", "OK OK BAD BAD OK BAD OK\n\n")
    first, second = word_tags.read(path)
    assert (first.errors, first.unplaced) == ((ErrorSpan(5, 15, None),), (UnplacedError(None),))
    assert second.errors == ()
    put(path, "OK BAD\n\n")
    with pytest.raises(FormatError, match=r"test\.tags:1: 2 tags: must be 3, one for each word, or 7 with gaps"):
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


def test_submissions_mark_errors_without_a_place_as_missing() -> None:
    omission = Rating(GIVEN.segment, None, GIVEN.errors, unplaced=(UnplacedError(MINOR),))
    header, row = wmt_span_submission.write([omission], WriteOptions())
    assert header == "\t".join(wmt_span_submission.COLUMNS) + "\n"
    assert row == f"talk\t0\ten\tde\tted\tA\tA 😀 tree.\t{EMOJI}\t\t\t\t6 missing\t10 missing\tmajor minor\n"


def test_submissions_of_2025_have_the_columns_of_the_official_scorer(tmp_path: Path) -> None:
    segment = replace(
        GIVEN.segment, key=SegmentKey("official", "en-cs_CZ", "A", "d", 0, "news"), extra={"method": "esa", "x": 1}
    )
    losses = writing.write([replace(GIVEN, segment=segment)], tmp_path / "out.tsv", "wmt25-spans")
    header, row = (line.split("\t") for line in (tmp_path / "out.tsv").read_text("utf-8").splitlines())
    assert header == [
        *("doc_id", "segment_id", "source_lang", "target_lang", "set_id", "system_id", "source_segment"),
        *("hypothesis_segment", "reference_segment", "domain_name", "method"),
        *("start_indices", "end_indices", "error_types"),
    ]
    assert row[9:11] == ["news", "esa"]
    assert losses["other columns"] == 1
    (again,) = detection.read(tmp_path / "out.tsv")
    assert (again.segment.key, again.segment.extra) == (segment.key, {"method": "esa"})


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("0\t1", "13 fields: must be 14, as in the header"),
        ("0 1\t1\tminor", "2 starts, 1 ends and 1 types"),
        ("0\tx\tminor", "offsets '0' and 'x': must be whole numbers"),
        ("0\t9\tminor", "error span 0..9: must end within"),
    ],
)
def test_submissions_at_fault(tmp_path: Path, row: str, problem: str) -> None:
    header = "\t".join(wmt_span_submission.COLUMNS)
    path = put(tmp_path / "spans.tsv", f"{header}\ntalk\t0\ten\tde\tted\tA\tHouse\ttext\t\tnews\tesa\t{row}\n")
    with pytest.raises(FormatError, match=rf"spans\.tsv:2: .*{problem}"):
        list(wmt_span_submission.read(path))
    put(path, path.read_text(encoding="utf-8").replace("talk\t0", "talk\tx"))
    with pytest.raises(FormatError, match=r"spans\.tsv:2: (segment 'x': must be a whole number|13 fields)"):
        list(wmt_span_submission.read(path))

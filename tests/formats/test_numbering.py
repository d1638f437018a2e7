"""Segments count from 0 in ratings, whatever the files of their homes count from, and come back as they were."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from matese.errors import FormatError
from matese.formats import detection, writing
from matese.formats.corpora import score_files
from matese.formats.format import ReadOptions, WriteOptions
from tests.formats.one_rating import put

MQM = "\t".join(("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity"))
SPANS = "A\ttalk\t{}\tr1\tHouse\tHaus\t-1\t-1\tno-error\n"
ITEM = {"documentID": "talk", "sourceID": "en-de", "targetID": "A", "sourceText": "House", "targetText": "Haus"}
COLUMNS_2025 = (
    "doc_id\tsegment_id\tsource_lang\ttarget_lang\tset_id\tsystem_id\tsource_segment\thypothesis_segment\t"
    "reference_segment\tstart_indices\tend_indices\terror_types"
)
FILES = {
    "mqm-tsv": (
        "a.tsv",
        MQM + "".join(f"\nA\ttalk\t{n}\t{n}\tr1\tHouse\tHaus\tNo-error\tNo-error" for n in (1, 2)) + "\n",
    ),
    "error-spans": ("a.tsv", SPANS.format(0) + SPANS.format(1)),
    "wmt25-spans": (
        "a.tsv",
        COLUMNS_2025 + "".join(f"\ntalk\t{n}\ten\tde\tted\tA\tHouse\tHaus\t\t-1\t-1\tno-error" for n in (0, 1)) + "\n",
    ),
    "appraise": (
        "batch/batches.json",
        json.dumps([{"items": [{**ITEM, "itemID": n, "mqm": [], "annotated": True} for n in (0, 1)], "task": {}}]),
    ),
}


def indices(path: Path, options: ReadOptions | None = None) -> Sequence[int | None]:
    keys = [rating.segment.key for rating in detection.read(path, options or ReadOptions())]
    return [None if key is None else key.index for key in keys]


@pytest.mark.parametrize("name", FILES)
def test_the_first_segment_is_0_and_comes_back(tmp_path: Path, name: str) -> None:
    file, text = FILES[name]
    path = put(tmp_path / file, text)
    source = path.parent if "/" in file else path
    assert detection.detect(source) == name
    assert indices(source) == [0, 1]
    writing.write(detection.read(source), tmp_path / "out", name, WriteOptions())
    assert indices(tmp_path / "out") == [0, 1]
    if name.endswith(("tsv", "spans")):
        numbers = [line.split("\t")[:4] for line in text.splitlines()]
        assert [line.split("\t")[:4] for line in (tmp_path / "out").read_text().splitlines()][-2:] == numbers[-2:]


def test_an_option_says_where_a_file_counts_from(tmp_path: Path) -> None:
    path = put(tmp_path / "2021.tsv", SPANS.format(1) + SPANS.format(2))
    assert indices(path, ReadOptions(first_segment=1)) == [0, 1]
    mqm = put(tmp_path / "mqm.tsv", FILES["mqm-tsv"][1].replace("talk\t1\t1", "talk\t1\t0"))
    with pytest.raises(
        FormatError, match=r"segment number 0: must be 1 or more, unless .* \(convert --first-segment 0\)"
    ):
        indices(mqm)
    assert indices(mqm, ReadOptions(first_segment=0)) == [0, 2]


def test_score_files_of_each_home_name_the_same_segments(tmp_path: Path) -> None:
    lines = {
        "mtme.seg.score": "A\t1\nA\t2\n",
        "averages.tsv": "system mqm_avg_score seg_id\nA\t1 1\nA\t2 2\n",
        "wmt19": "m\ten-de\tt\tA\t1\t1\nm\ten-de\tt\tA\t2\t2\n",
        "wmt22": "m\ten-de\tt\tall\td\trefA\tA\t1\t1\nm\ten-de\tt\tall\td\trefA\tA\t2\t2\n",
    }
    for name, text in lines.items():
        (scores,) = score_files.read(put(tmp_path / name, text))
        assert scores.segments == {"A": {0: 1.0, 1: 2.0}}
    with pytest.raises(FormatError, match=r"wmt19:1: segment 0: must be a whole number, 1 or more"):
        score_files.read(put(tmp_path / "wmt19", "m\ten-de\tt\tA\t0\t1\n"))
    (scores,) = score_files.read(tmp_path / "wmt19", first_segment=0)
    assert scores.segments == {"A": {0: 1.0}}
    with pytest.raises(FormatError, match="has no meaning"):
        score_files.read(tmp_path / "mtme.seg.score", first_segment=1)

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese.errors import FormatError
from matese.formats.corpora import score_files
from matese.formats.corpora.score_files import MetricScores

RATED = '{"hypothesis": "a", "system": "A", "index": 1%s}\n'
HEADER = "system mqm_avg_score seg_id\n"


def read(tmp_path: Path, text: str, name: str = "BLEU.score") -> list[MetricScores]:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return score_files.read(path)


def test_one_line_a_system(tmp_path: Path) -> None:
    (scores,) = read(tmp_path, "A\t0.5\nB  None\n", "BLEU-refA.sys.score")
    assert (scores.name, dict(scores.systems), dict(scores.segments)) == ("BLEU-refA", {"A": 0.5, "B": None}, {})


@pytest.mark.parametrize("name", ["BLEU.seg.score", "BLEU.score"])
def test_one_line_a_segment(tmp_path: Path, name: str) -> None:
    (scores,) = read(tmp_path, "A 1\nB 3\nA -2e-1\nB None\n", name)
    assert scores.segments == {"A": {0: 1.0, 1: -0.2}, "B": {0: 3.0, 1: None}}
    assert (scores.systems, scores.is_positional) == ({}, True)
    # A single segment is told by the name of the file.
    (scores,) = read(tmp_path, "A 1\n", "BLEU.seg.score")
    assert scores.segments == {"A": {0: 1.0}}


def test_mqm_averages(tmp_path: Path) -> None:
    (scores,) = read(tmp_path, HEADER + "A\t-1.5 7\nA\tNone 9\n", "avg_seg_scores.tsv")
    assert (scores.name, scores.segments) == ("avg_seg_scores", {"A": {6: -1.5, 8: None}})


def test_csv(tmp_path: Path) -> None:
    text = 'metric,lang_pair,system,segment,score\nX,en-de,"A,1",1,0.5\nX,en-de,"A,1",,-2\nX,en-de,B,1,\n'
    (scores,) = read(tmp_path, text)
    assert (scores.name, scores.lang_pair, scores.is_sure) == ("X", "en-de", False)
    assert (scores.systems, scores.segments) == ({"A,1": -2}, {"A,1": {1: 0.5}, "B": {1: None}})
    path = tmp_path / "mine.csv"
    path.write_text("system,segment,score\nA,1,0.5\n")
    (scores,) = score_files.read(path, first_segment=1)
    assert (scores.name, scores.segments, scores.is_sure) == ("mine", {"A": {0: 0.5}}, True)


@pytest.mark.parametrize("tail", ["", "\tnon-ensemble\thttp://x"])
def test_wmt_2019(tmp_path: Path, tail: str) -> None:
    (scores,) = read(tmp_path, f"BEER\tde-en\tnewstest2019\tA.1\t0.5{tail}\n")
    assert (scores.name, scores.lang_pair, scores.systems) == ("BEER", "de-en", {"A.1": 0.5})
    (scores,) = read(tmp_path, f"BEER\tde-en\tnewstest2019\tA.1\t12\t0.5{tail}\n")
    assert (scores.segments, scores.systems) == ({"A.1": {11: 0.5}}, {})


def test_wmt_2021(tmp_path: Path) -> None:
    (scores,) = read(tmp_path, "X\tde-en\tnewstest2021\trefA\tB.1\t0.5\n")
    assert (scores.name, scores.lang_pair, scores.systems) == ("X-refA", "de-en", {"B.1": 0.5})
    for document in ("", "doc.3\t"):
        (scores,) = read(tmp_path, f"X\tde-en\tnewstest2021\t{document}refA\tB.1\t12\tNone\n")
        assert (scores.name, scores.segments, scores.systems) == ("X-refA", {"B.1": {11: None}}, {})


def test_wmt_2022(tmp_path: Path) -> None:
    rows = "".join(f"X\t{lp}\tgeneraltest2022\tnews\tdoc\trefA\tA\t1\t0.5\n" for lp in ("en-de", "zh-en"))
    metrics = read(tmp_path, rows)
    assert [(scores.name, scores.lang_pair, scores.segments) for scores in metrics] == [
        ("X-refA", "en-de", {"A": {0: 0.5}}),
        ("X-refA", "zh-en", {"A": {0: 0.5}}),
    ]
    (found_all,) = read(tmp_path, "X\ten-de\tt\tnews\tsrc\tA\t0.1\nX\ten-de\tt\tall\tsrc\tA\t0.2\n")
    assert (found_all.name, found_all.systems) == ("X-src", {"A": 0.2})


def test_jsonl_gives_the_mean_over_raters_and_expected_scores(tmp_path: Path) -> None:
    rating = '{{"hypothesis": "ab", "system": "A", "index": 3, "rater": "{}", "errors": [{}], "estimate": {}}}\n'
    error = '{"start": 0, "end": 1, "severity": "major"}'
    overall = '{"value": -2, "scale": "mqm"}'
    mqm, expected = read(tmp_path, rating.format("r1", error, overall) + rating.format("r2", "", overall), "m.jsonl")
    assert (mqm.name, mqm.segments) == ("m", {"A": {3: -2.5}})
    assert (expected.name, expected.segments) == ("m.expected", {"A": {3: -2.0}})
    judged = rating.replace("estimate", "overall").format("r1", error, overall)
    assert [scores.name for scores in read(tmp_path, judged, "m.jsonl")] == ["m", "m.overall"]
    (only,) = read(
        tmp_path, '{"hypothesis": "a", "system": "A", "index": 1, "overall": {"value": 70, "scale": "da"}}\n'
    )
    assert (only.name, only.segments) == ("BLEU", {"A": {1: 70.0}})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("system,score,who\n", ":1: column 'who'"),
        ("system,score,score\n", ":1: column 'score'"),
        ("system,score\nA\n", ":2: 1 fields"),
        ("system,score\nA,nan\n", ":2: score 'nan'"),
        ("system,segment,score\nA,-1,2\n", ":2: segment '-1'"),
        ("system,segment,score\nA,0,2\nA,0,2\n", ":3: segment 0 of system A is scored twice"),
        ("", ": file is empty"),
        ("A 1\nB\n", ":2: 1 fields"),
        ("A 1\nA inf\n", ":2: score 'inf'"),
        ("A 1e999\n", ":1: score '1e999'"),
        ("A 1\nA 2\nB 1\n", ": system B has 1 line and A 2"),
        (HEADER + "A\t1 1\nA\t2 1\n", ":3: segment 1 of system A is scored twice"),
        (HEADER + "A\t1\n", ":2: 2 fields"),
        (HEADER + "A\t1 x\n", ":2: segment 'x'"),
        ("B\tde-en\tt\tA\t1\nB\tde-en\tt\tA\t2\n", ":2: system A is scored twice"),
        ("B\tde-en\tt\tA\t1\nB\n", ":2: 1 fields"),
        ("X\ten-de\tt\tnews\tsrc\tA\t0.1\n", ": X-src has scores of single domains only"),
        ('{"hypothesis": "a", "errors": []}\n', ":1: no system or no index"),
        (RATED % ', "errors": []' * 2, ":2: segment 2 of system A"),
        (RATED % ', "errors": []' + RATED.replace("1", "2") % "", ": some ratings have only errors"),
        (
            RATED % ', "errors": [], "lang_pair": "a-b"' + RATED.replace("1", "2") % ', "errors": []',
            ": some ratings have a language pair",
        ),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FormatError, match=rf"BLEU\.score{message}"):
        read(tmp_path, text)


def test_numbers_that_begin_anew_in_each_document(tmp_path: Path) -> None:
    line = '{{"hypothesis": "a", "system": "A", "index": {}, "errors": [], "document": "{}"}}\n'
    (through,) = read(tmp_path, line.format(1, "d1") + line.format(2, "d2"))
    assert through.segments == {"A": {1: 0.0, 2: 0.0}}
    (anew,) = read(tmp_path, line.format(1, "d1") + line.format(1, "d2"))
    assert anew.segments == {"A": {"d1/1": 0.0, "d2/1": 0.0}}


def test_test_sets_stand_apart(tmp_path: Path) -> None:
    line = '{{"hypothesis": "a", "system": "A", "index": 1, "errors": [], "test_set": "{}", "lang_pair": "{}"}}\n'
    metrics = read(tmp_path, line.format("x", "en-de") + line.format("y", "en-de") + line.format("y", "zh-en"))
    assert [scores.lang_pair for scores in metrics] == ["x/en-de", "y/en-de", "y/zh-en"]


def test_a_system_stands_once_in_a_file_of_systems(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"BLEU.sys.score:2: system A is scored twice; score it once"):
        read(tmp_path, "A 1\nA 2\n", "BLEU.sys.score")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_number_is_read(number: float) -> None:
    assert score_files.to_score(repr(number)) == number

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


WMT_2022 = "X\t{}\tt\t{}\tdoc\trefA\tA\t1\t0.5\n"
OF_DOCUMENT = ', "errors": [], "document": "{}"'
OF_SET = ', "errors": [], "test_set": "{}", "lang_pair": "{}"'
MAJOR = '{"start": 0, "end": 1, "severity": "major"}'
RATERS = (("x", MAJOR), ("y", ""))
EXPECTED = '"estimate": {"value": -2, "scale": "mqm"}'
SHORT: dict[str, dict[int, float | None]] = {"A": {0: 1.0, 1: -0.2}, "B": {0: 3.0, 1: None}}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        # mt-metrics-eval, whose file of one segment is told by its name.
        ("BLEU-refA.sys.score", "A\t0.5\nB  None\n", [("BLEU-refA", None, {"A": 0.5, "B": None})]),
        ("BLEU.seg.score", "A 1\nB 3\nA -2e-1\nB None\n", [("BLEU", None, SHORT)]),
        ("BLEU.score", "A 1\nB 3\nA -2e-1\nB None\n", [("BLEU", None, SHORT)]),
        ("BLEU.seg.score", "A 1\n", [("BLEU", None, {"A": {0: 1.0}})]),
        ("averages.tsv", HEADER + "A\t-1.5 7\nA\tNone 9\n", [("averages", None, {"A": {6: -1.5, 8: None}})]),
        # Submissions to WMT 2019, 2021 and 2022; of the latter, the domain "all" counts.
        *(
            (name, f"BEER\tde-en\tnewstest2019\tA.1\t{fields}{tail}\n", [("BEER", "de-en", {"A.1": scores})])
            for tail in ("", "\tnon-ensemble\thttp://x")
            for name, fields, scores in (("a", "0.5", 0.5), ("a", "12\t0.5", {11: 0.5}))
        ),
        ("a", "X\tde-en\tt\trefA\tB.1\t0.5\n", [("X-refA", "de-en", {"B.1": 0.5})]),
        ("a", "X\tde-en\tt\trefA\tB.1\t12\tNone\n", [("X-refA", "de-en", {"B.1": {11: None}})]),
        ("a", "X\tde-en\tt\tdoc.3\trefA\tB.1\t12\tNone\n", [("X-refA", "de-en", {"B.1": {11: None}})]),
        (
            "a",
            WMT_2022.format("en-de", "news") + WMT_2022.format("zh-en", "news"),
            [("X-refA", "en-de", {"A": {0: 0.5}}), ("X-refA", "zh-en", {"A": {0: 0.5}})],
        ),
        (
            "a",
            "X\ten-de\tt\tnews\tsrc\tA\t0.1\nX\ten-de\tt\tall\tsrc\tA\t0.2\n",
            [("X-src", "en-de", {"A": 0.2})],
        ),
        # Ratings: the mean over raters, expected and overall scores.
        (
            "m.jsonl",
            "".join(RATED % f', "rater": "{rater}", "errors": [{error}], {EXPECTED}' for rater, error in RATERS),
            [("m", None, {"A": {1: -2.5}}), ("m.expected", None, {"A": {1: -2.0}})],
        ),
        ("a", RATED % ', "overall": {"value": 70, "scale": "da"}', [("a", None, {"A": {1: 70.0}})]),
        ("a", RATED % ', "errors": [], "overall": {"value": 70, "scale": "da"}',
         [("a", None, {"A": {1: 0.0}}), ("a.overall", None, {"A": {1: 70.0}})]),
        # The scores are what error span annotation is about.
        ("a", RATED % ', "errors": [], "overall": {"value": 70, "scale": "esa"}',
         [("a", None, {"A": {1: 70.0}}), ("a.mqm", None, {"A": {1: 0.0}})]),
        # Numbers may begin anew in each document; test sets stand apart.
        ("a", RATED % OF_DOCUMENT.format("d1") + RATED.replace("1", "2") % OF_DOCUMENT.format("d2"),
         [("a", None, {"A": {1: 0.0, 2: 0.0}})]),
        ("a", RATED % OF_DOCUMENT.format("d1") + RATED % OF_DOCUMENT.format("d2"),
         [("a", None, {"A": {"d1/1": 0.0, "d2/1": 0.0}})]),
        ("a", "".join(RATED % OF_SET.format(*one) for one in (("x", "en-de"), ("y", "en-de"), ("y", "zh-en"))),
         [("a", pair, {"A": {1: 0.0}}) for pair in ("x/en-de", "y/en-de", "y/zh-en")]),
        ("a", "".join(RATED % f', "errors": [], "lang_pair": "{pair}"' for pair in ("en-de", "zh-en")),
         [("a", pair, {"A": {1: 0.0}}) for pair in ("en-de", "zh-en")]),
    ],
)  # fmt: skip
def test_scores_of_each_form(tmp_path: Path, name: str, text: str, expected: list[tuple[object, ...]]) -> None:
    metrics = read(tmp_path, text, name)
    assert [(scores.name, scores.lang_pair, scores.segments or scores.systems) for scores in metrics] == expected
    assert not any(scores.segments and scores.systems for scores in metrics)


def test_csv(tmp_path: Path) -> None:
    text = 'metric,lang_pair,system,segment,score\nX,en-de,"A,1",1,0.5\nX,en-de,"A,1",,-2\nX,en-de,B,1,\n'
    (scores,) = read(tmp_path, text)
    assert (scores.name, scores.lang_pair, scores.is_sure) == ("X", "en-de", False)
    assert (scores.systems, scores.segments) == ({"A,1": -2}, {"A,1": {1: 0.5}, "B": {1: None}})
    path = tmp_path / "mine.csv"
    path.write_text("system,segment,score\nA,1,0.5\n")
    (scores,) = score_files.read(path, first_segment=1)
    assert (scores.name, scores.segments, scores.is_sure) == ("mine", {"A": {0: 0.5}}, True)
    (positional,) = read(tmp_path, "A 1\n", "BLEU.seg.score")
    assert positional.is_positional


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


def test_a_system_stands_once_in_a_file_of_systems(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"BLEU.sys.score:2: system A is scored twice; score it once"):
        read(tmp_path, "A 1\nA 2\n", "BLEU.sys.score")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_number_is_read(number: float) -> None:
    assert score_files.to_score(repr(number)) == number

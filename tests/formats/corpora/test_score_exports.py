"""Score files, which the readers of scores take back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from matese.annotation import ErrorSpan, Overall, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.formats import writing
from matese.formats.corpora import score_exports, score_files, seg_rating
from matese.formats.format import WriteOptions

HOW = WriteOptions(method="mini")


KEY = SegmentKey("wmt22", "en-de", "A", "doc")


def rating(system: str, index: int, rater: str | None = None, *spans: ErrorSpan) -> Rating:
    key = replace(KEY, system=system, index=index)
    return Rating(Segment("Ein 😀 Haus.", "A tree.", ("Ein Baum.",), key), rater, spans)


def save_wmt_scores(ratings: Sequence[Rating], path: Path) -> None:
    writing.write(ratings, path, "wmt-scores", HOW)


MAJOR = ErrorSpan(6, 10, Severity.MAJOR, "Style")
MINOR = ErrorSpan(4, 5, Severity.MINOR)
RATINGS = [
    rating("A", 1, "r1", MAJOR),
    rating("A", 0, "r1"),
    rating("A", 0, "r2", MINOR),
    rating("B", 0, "r1"),
    rating("B", 1, "r1", MAJOR, MINOR),
]
SEGMENTS = {"A": {0: -0.5, 1: -5.0}, "B": {0: 0.0, 1: -6.0}}
SYSTEMS = {"A": -2.75, "B": -3.0}


def test_submissions_are_read_as_scores(tmp_path: Path) -> None:
    save_wmt_scores(RATINGS, tmp_path / "out")
    assert (tmp_path / "out" / "mini.seg.score").read_text(encoding="utf-8").splitlines()[0] == (
        "mini\ten-de\twmt22\tall\tdoc\trefA\tA\t2\t-5"
    )
    (segments,) = score_files.read(tmp_path / "out" / "mini.seg.score")
    (systems,) = score_files.read(tmp_path / "out" / "mini.sys.score")
    assert (segments.name, segments.lang_pair, segments.segments) == ("mini-refA", "en-de", SEGMENTS)
    assert systems.systems == SYSTEMS


def test_submissions_may_number_the_segments_of_each_document(tmp_path: Path) -> None:
    ratings = [rating(system, index) for system in "AB" for index in (0, 1)]
    copies = [
        replace(copied, segment=replace(copied.segment, key=replace(KEY, document="other", index=0)))
        for copied in ratings
    ]
    save_wmt_scores([*ratings, copies[0]], tmp_path / "out")
    (scores,) = score_files.read(tmp_path / "out" / "mini.seg.score")
    assert scores.segments == {"A": {"doc/0": 0.0, "doc/1": 0.0, "other/0": 0.0}, "B": {"doc/0": 0.0, "doc/1": 0.0}}
    with pytest.raises(ValueError, match="several documents of en-de have a segment 1: must be numbered through the"):
        score_exports.save_mtme_scores([*ratings, copies[0]], tmp_path / "more", HOW)


def test_scores_of_mt_metrics_eval_stand_in_the_order_of_the_segments(tmp_path: Path) -> None:
    score_exports.save_mtme_scores(RATINGS, tmp_path / "out", HOW)
    (segments,) = score_files.read(tmp_path / "out" / "en-de" / "mini-refA.seg.score")
    (systems,) = score_files.read(tmp_path / "out" / "en-de" / "mini-refA.sys.score")
    assert (segments.segments, systems.systems) == (SEGMENTS, SYSTEMS)
    with pytest.raises(ValueError, match="system B has no segment 2 of en-de: must have segments 1 to 2, as"):
        score_exports.save_mtme_scores(RATINGS[:-1], tmp_path / "more", HOW)


def test_overall_judgements_are_scores_where_no_spans_were_asked_for(tmp_path: Path) -> None:
    segment = RATINGS[0].segment
    save_wmt_scores([Rating(segment, None, None, overall=Overall(80, "esa"))], tmp_path / "out")
    (scores,) = score_files.read(tmp_path / "out" / "mini.sys.score")
    assert scores.systems == {"A": 80}
    with pytest.raises(ValueError, match="segment 2 of system A has neither errors nor an overall judgement"):
        save_wmt_scores([Rating(segment, None, None)], tmp_path / "more")


def test_ratings_of_mt_metrics_eval_come_back(tmp_path: Path) -> None:
    ratings = []
    for index in (0, 1):
        key = SegmentKey(system="A", index=index)
        segment = Segment("Ein 😀 Haus.", "A tree.", key=key)
        source_errors = (ErrorSpan(0, 1, None),)
        ratings.append(
            Rating(segment, "r1", (MINOR, MAJOR), source_errors, unplaced=(UnplacedError(Severity.CRITICAL, "c"),))
        )
    path = tmp_path / "en-de.mini.seg.rating"
    path.write_text("".join(seg_rating.write(ratings, HOW)), encoding="utf-8")
    texts: dict[str, Sequence[str]] = {"A": [ratings[0].segment.hypothesis] * 2}
    assert list(seg_rating.read(path, texts, ["A tree."] * 2)) == ratings
    with pytest.raises(ValueError, match="segment 1 of system A has two ratings: must be one in a file"):
        list(seg_rating.write([ratings[0], RATINGS[1]], HOW))

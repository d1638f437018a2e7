"""Scores that another program has written teach a student, alone or beside a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from matese.annotation import Estimate, Rating, Segment, SegmentKey
from matese.errors import InputError
from matese.training import distillation
from matese.training.published_scores import PublishedScores

SEGMENTS = [Segment(f"Text {index}", key=SegmentKey(system=system, index=index)) for system in "AB" for index in (0, 1)]


def write(folder: Path, text: str) -> Path:
    path = folder / "ReMedy.seg.score"
    path.write_text(text, encoding="utf-8")
    return path


def test_each_segment_gets_its_score(tmp_path: Path) -> None:
    teacher = PublishedScores(write(tmp_path, "A\t0.1\nA\t0.2\nB\t0.3\nB\t0.4\n"))
    ratings = list(teacher.annotate_segments(reversed(SEGMENTS)))
    assert [rating.estimate for rating in ratings] == [Estimate(score, "comet") for score in (0.4, 0.3, 0.2, 0.1)]
    assert {rating.errors for rating in ratings} == {None}
    other_file = PublishedScores(write(tmp_path, "A\t0.1\nA\t0.2\nB\t0.3\nB\t0.5\n"))
    assert (teacher.name, other_file.name) == ("ReMedy", "ReMedy")
    assert teacher.signature != other_file.signature
    beside = Rating(SEGMENTS[0], "model", (), estimate=Estimate(0.3, "comet"))
    joined = distillation.together([beside, ratings[-1]])
    assert joined.estimate == Estimate(0.2, "comet")
    assert joined.errors == ()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("A\t0.1\nB\t0.3\n", "no score of segment 2 of A"),
        ("A\t0.1\nA\tNone\nB\t0.3\nB\t0.4\n", "no score of segment 2 of A"),
        ("A\t0.1\nA\t0.2\n", "no scores of B"),
        ("A\t0.1\nA\tbad\n", "score 'bad'"),
    ],
)
def test_scores_that_teach_nothing(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        list(PublishedScores(write(tmp_path, text)).annotate_segments(SEGMENTS))

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity
from matese.errors import InputError
from matese.tasks.correlate import Request, read_scores
from tests.formats.score_files import make

TEXTS = {"A": ("It rained.", "Come in.", "Gone."), "B": ("It rain.", "Come.", "Go on."), "C": ("Rain.", "In.", "On.")}


def rated(references: Sequence[tuple[str, ...]], numbers: Sequence[int] = (0, 1, 2)) -> list[Rating]:
    return [
        Rating(
            Segment(texts[index], "Es regnet.", references[index], SegmentKey("set", "de-en", system, None, index)),
            "ann",
            (ErrorSpan(0, 1 + index, Severity.MAJOR),) * number,
        )
        for number, (system, texts) in enumerate(TEXTS.items())
        for index in numbers
    ]


def test_segments_that_a_metric_cannot_read_are_left_out_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    references = [("It rains.",), (" ",), ("", "Go.")]
    (pair,) = read_scores(Request(gold=rated(references), baseline=["chrf"]))
    assert any("1 segment" in message for message in caplog.messages)
    (whole,) = read_scores(Request(gold=rated([("It rains.",), ("?",), ("Go.",)], (0, 2)), baseline=["chrf"]))
    for made, expected in ((pair.gold, whole.gold), (pair.metrics["chrF"], whole.metrics["chrF"])):
        assert made.segment is not None
        assert expected.segment is not None
        assert made.segment[:, [0, 2]].tolist() == expected.segment.tolist()
        assert all(map(math.isnan, made.segment[:, 1]))
    assert pair.metrics["chrF"].system.tolist() == whole.metrics["chrF"].system.tolist()


def test_a_metric_that_can_read_no_segment() -> None:
    with pytest.raises(InputError, match="chrF needs references"):
        read_scores(Request(gold=rated([("",), (), (" ",)]), baseline=["chrf"]))


def test_a_fitted_sentinel_leaves_out_blank_sources(tiny_model_dir: Path) -> None:
    sources = ("It rains.", " ", "Go.")
    ratings = [
        replace(rating, segment=replace(rating.segment, source=sources[rating.segment.key.index or 0]))
        for rating in rated([()] * 3)
        if rating.segment.key is not None
    ]
    (pair,) = read_scores(
        Request(
            gold=ratings,
            baseline="sentinel-src-fit",
            encoder=str(tiny_model_dir),
            layer=1,
        )
    )
    for scores in (pair.gold, pair.metrics["sentinel-src-fit"]):
        assert scores.segment is not None
        assert [list(map(math.isnan, row)) for row in scores.segment] == [[False, True, False]] * 3


def test_a_test_set_with_esa_alone_is_compared_with_it(tmp_path: Path) -> None:
    root = make(tmp_path / "wmt")
    for path in (root / "human-scores").glob("en-de.mqm.*"):
        path.rename(path.with_name(path.name.replace("mqm", "esa")))
    (pair,) = read_scores(Request(str(root)))
    assert pair.gold.name == "esa"

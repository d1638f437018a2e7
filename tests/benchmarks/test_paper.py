"""The tables of `benchmarks.paper`, on ratings written by hand; the published rows stand in the paper."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from benchmarks import paper
from matese.annotation import Rating, SegmentKey
from matese.training import config
from tests.benchmarks.test_quality import GOLD, PREDICTED


def of(ratings: list[Rating], **changes: Any) -> list[Rating]:
    return [
        replace(rating, segment=replace(rating.segment, key=replace(rating.segment.key or SegmentKey(), **changes)))
        for rating in ratings
    ]


def cells(lines: list[str], name: str) -> list[str]:
    (row,) = (line for line in lines if line.startswith(f"| {name} |"))
    return row.split(" | ")[1:]


def test_the_model_stands_beside_the_published_rows() -> None:
    golds = GOLD
    predictions = {"mini, reference": PREDICTED}
    units = {"mini, reference": "mini"}
    for title, published in paper.PUBLISHED_SPANS.items():
        lines = paper.of_spans(title, published, golds, predictions, units)
        assert len(lines) == 2 + len(published) + (not title.endswith("zh-en"))
        assert {line.count("|") for line in lines} == {7}
    assert cells(lines, "published: RoBERTa") == ["51.49", "37.91", "42.41", "64.33", "42.81 |"]


def test_human_translations_count_in_one_column() -> None:
    golds = [*of(GOLD, test_set="newstest2021"), *of(GOLD, test_set="ted2021")]
    golds += of(GOLD[:3], test_set="newstest2021", system="ref-A")
    golds = [replace(rating, errors=None) for rating in golds]
    values = [rating.overall.value if rating.overall is not None else 0.0 for rating in golds]
    columns = paper.columns_of_scores(golds, {"of systems": [*values[: 2 * len(GOLD)], 0.0, 0.0, 0.0]})
    lines = paper.of_scores("segment.kendall_b", columns, ["of systems"])
    without, with_human, ted, *zh = cells(lines, "of systems")
    assert without == ted == "1.000"
    assert with_human != without
    assert zh == ["-", "-", "- |"]


@pytest.mark.parametrize("figure_name", paper.OF_SCORES)
def test_a_model_that_marks_nothing_has_no_figure(figure_name: str) -> None:
    golds = [replace(rating, errors=None) for rating in of(GOLD, test_set="ted2021")]
    columns = paper.columns_of_scores(golds, {"marks nothing": [0.0] * len(golds)})
    lines = paper.of_scores(figure_name, columns, ["marks nothing"])
    assert cells(lines, "marks nothing") == [*"-----", "- |"]


def test_the_progress_of_a_model_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    predicted = paper.predictions(GOLD, ["mini"])
    assert [len(ratings) for ratings in predicted.values()] == [len(GOLD)] * 2
    assert capsys.readouterr().err.splitlines() == [f"{name}: 0 of {len(GOLD)}" for name in predicted]


def test_a_system_of_one_language_pair_is_measured_on_it_alone() -> None:
    name = "runs/paper-small/xlmr-large-zh-en/model, reference"
    golds = of(GOLD, lang_pair="zh-en")
    for title, published in paper.PUBLISHED_SPANS.items():
        lines = paper.of_spans(title, published, golds, {name: PREDICTED}, {name: "mini"})
        assert any(line.startswith(f"| {name} |") for line in lines) == title.endswith("zh-en")


@pytest.mark.parametrize("name", sorted({*paper.RUNS.values()}))
def test_small_systems_have_the_settings_of_the_paper_but_for_the_encoder(name: str) -> None:
    path = f"configs/matese/{name}.yaml"
    overrides = [
        (key, value) for key, _, value in (setting.partition("=") for setting in paper.small_settings(name, 3))
    ]
    small = config.load(path, overrides=overrides)
    assert not small.is_pretrained
    assert small.training.max_steps == 3
    assert small.model == config.load(path).model

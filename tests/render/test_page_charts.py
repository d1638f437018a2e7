from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from matese.render import page_charts

HOSTILE = '<script>"&\x1b'


def titles(svg: str) -> list[str]:
    return [str(title.text) for title in ElementTree.fromstring(svg).iter("title")]


@pytest.mark.parametrize("scores", [{}, {"A": []}, {"A": [0.0]}, {"A": [0.0, 0.0], "B": [-25.0]}, {"A": [-1e6]}])
def test_degenerate_histograms_are_well_formed(scores: dict[str, list[float]]) -> None:
    svg = page_charts.histogram(scores, label="score")
    assert "nan" not in svg
    assert len(titles(svg)) == len({(name, value) for name, own in scores.items() for value in own})


def test_histogram_counts_each_score_once() -> None:
    svg = page_charts.histogram({HOSTILE: [0.0, 0.0, -1.0, -0.5, -25.0]}, label="score")
    shown = '<script>"&␛'
    # The scores of our weights end at -25: a bin a point, and one for 0.
    assert titles(svg) == [
        f"{shown}: 1 segment, score -25 to -24",
        f"{shown}: 2 segments, score -1 to 0",
        f"{shown}: 2 segments, score 0",
    ]


@pytest.mark.parametrize(("n", "ticks"), [(1, ["0", "1"]), (9, ["0", "4", "9"]), (25_001, ["0", "12,500", "25,001"])])
def test_counts_on_the_axis_are_whole(n: int, ticks: list[str]) -> None:
    texts = ElementTree.fromstring(page_charts.histogram({"A": [0.0] * n}, label="score")).iter("text")
    assert [text.text for text in texts if text.get("text-anchor") == "end"] == ticks


def test_stacked_bars_fill_their_line() -> None:
    svg = page_charts.stacked(
        {"A": {"x": 0.25, "y": 0.75}, "B": {"x": 1.0, "y": 0.0}}, label="l", classes=["good", "minor"]
    )
    widths = [float(one) for one in re.findall(r'width="([0-9.]+)" height="22"', svg)]
    assert widths[0] + widths[1] == pytest.approx(widths[2] + widths[3], abs=0.2)
    assert widths[1] == pytest.approx(3 * widths[0], abs=0.3)
    assert titles(svg)[1:3] == ["A: x 25.0%", "A: y 75.0%"]


def test_bubbles_say_who_is_better() -> None:
    svg = page_charts.bubbles([(-1.0, 0.0), (-1.0, 0.0), (0.0, -5.0), (0.0, 0.0)], x_label="old", y_label=HOSTILE)
    root = ElementTree.fromstring(svg)
    circles = {str(one.get("class")): one for one in root.iter("circle")}
    assert set(circles) == {"better", "worse", "same"}
    assert float(str(circles["better"].get("r"))) > float(str(circles["worse"].get("r")))
    assert float(str(circles["worse"].get("cy"))) > float(str(circles["same"].get("cy")))
    assert '2 segments: old -1, <script>"&␛ 0' in titles(svg)
    assert titles(page_charts.bubbles([], x_label="a", y_label="b")) == []


def test_bubbles_of_scores_above_0_stay_on_the_chart() -> None:
    svg = page_charts.bubbles([(0.85, 0.91), (0.853, 0.7), (0.2, 1.1)], x_label="old", y_label="new")
    view = [float(value) for value in re.findall(r'viewBox="([^"]+)"', svg)[0].split()]
    places = [(float(x), float(y)) for x, y in re.findall(r'cx="([^"]+)" cy="([^"]+)"', svg)]
    assert len(places) == 3
    assert all(0 < x < view[2] and 0 < y < view[3] for x, y in places)
    assert "old 0.85, new 0.91" in svg

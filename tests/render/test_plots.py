from __future__ import annotations

import re
from pathlib import Path

import pytest

from matese.errors import UsageError
from matese.render import plots
from matese.render.plots import Panel


def drawn(panels: list[Panel], path: Path, columns: int = 3) -> str:
    pytest.importorskip("matplotlib", reason="pip install 'matese[plots]'")
    plots.save(panels, path, columns=columns)
    return path.read_text(encoding="utf-8")


def comments(svg: str) -> str:
    """Returns the texts of a plot; matplotlib repeats none of them elsewhere."""
    return " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg))


@pytest.mark.parametrize(
    "panels",
    [
        [],
        [Panel("t", "x", "y")],
        [Panel("t", "x", "y", [(0.0, 0.0, "A"), (0.0, 0.0, "B")])],
        [Panel("t", "x", "y", lines={f"m{n}": [(1.0, n), (2.0, None), (3.0, n)] for n in range(25)})],
    ],
)
def test_degenerate_plots(panels: list[Panel], tmp_path: Path) -> None:
    assert drawn(panels, tmp_path / "plot.svg").rstrip().endswith("</svg>")


def test_names_are_shown_as_they_are_and_cover_no_other(tmp_path: Path) -> None:
    points = [(0.0, 0.0, "$<C>_a\x1b"), (1.0, 1.0, "far"), *((0.5, 0.5, f"crowded-{n}") for n in range(5))]
    shown = comments(drawn([Panel("title", "x", "y", points)], tmp_path / "plot.svg"))
    assert {"$&lt;C&gt;_a␛", "far", "title"} <= set(shown.split())
    assert shown.count("crowded") == 1


def test_the_ending_is_the_format_and_the_same_plot_the_same_file(tmp_path: Path) -> None:
    panels = [Panel("t", "x", "y", lines={"raters": [(0, 0.5), (1, 0.5)]})]
    assert drawn(panels, tmp_path / "a.svg") == drawn(panels, tmp_path / "b.svg")
    plots.save(panels, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_matplotlib_is_an_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'matese\[plots\]'"):
        plots.save([], tmp_path / "plot.svg")

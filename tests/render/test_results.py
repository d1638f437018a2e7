"""Results as tables, in Python and in notebooks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

import matese
from matese import ErrorSpan, Rating, Segment, SegmentKey, Severity
from matese.render import notebook
from tests.render.test_notebook import Page


def rated(n_errors: int, system: str = "A", rater: str = "anna") -> Rating:
    key = SegmentKey("t", "en-de", system, None, 0)
    return Rating(Segment("Hallo", key=key), rater, (ErrorSpan(0, 5, Severity.MINOR),) * n_errors)


GOLD = [rated(number, system) for number, system in enumerate("ABC")]
RESULTS: dict[str, Callable[[], Any]] = {
    "evaluate": lambda: matese.evaluate(GOLD, GOLD),
    "agreement": lambda: matese.agreement([rated(1), rated(1, rater="ben <b>")]),
    "compare": lambda: matese.compare({"a <b>": GOLD[:1], "b": GOLD[:1]}, sampling=matese.Sampling(bootstrap=0)),
    "correlate": lambda: matese.correlate(
        gold=GOLD, metric={"m <b>": GOLD}, figures=matese.CorrelationFigures(samples=10)
    ),
    "gate": lambda: matese.gate(GOLD[:1], limits=matese.GateLimits(min_score=-1)),
}
TABULAR = [name for name in RESULTS if name != "gate"]


@pytest.mark.parametrize("name", TABULAR)
def test_a_result_is_the_same_tables_in_every_look(name: str) -> None:
    result = RESULTS[name]()
    shown = {look: matese.tables(result, look=look) for look in ("text", "markdown", "latex", "html")}
    n_tables = shown["markdown"].count("|---|")
    assert n_tables > 0
    assert shown["latex"].count("\\toprule") == shown["html"].count("<table>") == n_tables
    assert not any("--all" in text for text in shown.values())
    page = Page(shown["html"])
    assert page.open == []
    assert page.tags <= {"div", "p", "table", "thead", "tbody", "tr", "th", "td"}
    # A paragraph and a table are apart, or Markdown takes the table for text.
    lines = shown["markdown"].splitlines()
    assert all(
        lines[number - 1] == ""
        for number, line in enumerate(lines)
        if line.startswith("| ") and (not lines[number - 1].startswith("|"))
    )


@pytest.mark.parametrize("name", ["evaluate", "agreement"])
def test_all_figures(name: str) -> None:
    result = RESULTS[name]()
    assert len(matese.tables(result, all=True)) > 2 * len(matese.tables(result))


def test_a_gate_has_lines() -> None:
    result = RESULTS["gate"]()
    assert "PASS  score" in matese.tables(result)
    assert "PASS  score" in Page(matese.tables(result, look="html")).text


def test_names_do_not_act_in_html() -> None:
    html = matese.tables(matese.agreement([rated(1), rated(1, rater="a\u202e<script>")]), look="html")
    assert "&lt;script&gt;" in html
    assert "\u202e" not in html
    assert "&lt;U+202E&gt;" in html


def test_what_is_no_result() -> None:
    with pytest.raises(TypeError, match="list: must be the result of evaluate"):
        matese.tables([])  # type: ignore[arg-type]


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    InteractiveShell.clear_instance()
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


@pytest.mark.parametrize("name", RESULTS)
def test_a_notebook_shows_results(name: str, shell: InteractiveShell) -> None:
    result = RESULTS[name]()
    formatter = shell.display_formatter
    assert formatter is not None
    data, _ = formatter.format(result)  # type: ignore[no-untyped-call]
    assert data["text/html"] == matese.tables(result, look="html")
    assert data["text/plain"] == repr(result)
    assert notebook.html(GOLD[0]) == formatter.format(GOLD[0])[0]["text/html"]  # type: ignore[no-untyped-call]

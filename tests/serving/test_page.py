"""The page of the server in a headless Chromium."""

from __future__ import annotations

import csv
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from playwright.sync_api import Page, expect

import matese
from tests import browser
from tests.serving.process import started

pytestmark = browser.needs_chromium
HOSTILE = "<img src=x onerror='window.isRun = true'><script>window.isRun = true</script>"


@pytest.fixture(scope="module")
def address(tiny_model_dir: Path) -> Iterator[str]:
    with started("--model", str(tiny_model_dir), "--max-segments", "4") as (_, url):
        yield url


@pytest.fixture
def page(window: Page, address: str) -> Page:
    with browser.without_problems(window):
        window.goto(address)
        expect(window.locator("#source")).to_be_focused()
        assert window.locator("textarea").evaluate_all("boxes => boxes.map((box) => box.id)")[0] == "source"
    return window


def fill(page: Page, **texts: str) -> None:
    """Replaces the texts of boxes at once, as pasting does."""
    for name, text in texts.items():
        page.fill(f"#{name}", text)


def answer(address: str, hypothesis: str, reference: str) -> Any:
    """Returns the rating that a program gets."""
    question = {"segments": [{"hypothesis": hypothesis, "references": [reference]}]}
    return httpx.post(f"{address}annotate", json=question).json()["ratings"][0]


def test_errors_are_marked_as_one_types(page: Page, address: str) -> None:
    problem = page.locator("#problem")
    with browser.without_problems(page):
        page.keyboard.press("Tab")
        page.keyboard.type("Das ist gut.")
        expect(problem).to_have_text("a reference or a source must be given, too")
        page.click("#reference")
        page.keyboard.type("Das ist schlecht.")
        browser.expect_status(page, "1 segment, ")
        expect(problem).to_be_hidden()
        rating = answer(address, "Das ist gut.", "Das ist schlecht.")
        assert rating["errors"], "the model of the tests marks something"
        assert page.locator("mark").all_text_contents() == [error["text"] for error in rating["errors"]]
        assert page.locator(".row header b").all_inner_texts() == ["line 1"]
        browser.point_at(page, "mark")
        details = page.locator("#details").inner_text()
        assert details.startswith(rating["errors"][0]["severity"].capitalize() + ", confidence ")
        page.keyboard.type("!")
        expect(page.locator(".context p").first).to_have_text("Das ist schlecht.!")


def test_several_segments_and_texts_of_every_kind(page: Page, address: str) -> None:
    texts = [HOSTILE, "der 😀 Text 你好 gut", "שלום ist gut"]
    fill(page, hypothesis="\n".join(texts) + "\n", reference="ein Text\nein Text\nein Text")
    browser.expect_status(page, "3 segments, ")
    shown = page.evaluate(
        "[...document.querySelectorAll('.hypothesis p')].map((box) => [...box.childNodes]"
        ".filter((node) => node.nodeName != 'SUP').map((node) => node.textContent).join(''))"
    )
    assert shown == texts
    marks = [row.locator("mark").all_text_contents() for row in page.locator(".row").all()]
    expected = [[error["text"] for error in answer(address, text, "ein Text")["errors"]] for text in texts]
    assert marks == expected
    assert any(expected[1]), "after a character of two UTF-16 units"
    assert page.evaluate("[window.isRun === undefined, document.images.length]") == [True, 0]
    expect(page.locator(".hypothesis p").nth(2)).to_have_css("direction", "rtl")


def test_example_and_table(page: Page, tmp_path: Path) -> None:
    with browser.without_problems(page):
        page.click("#example")
        browser.expect_status(page, "2 segments, ")
        assert page.locator("#hypothesis").input_value().startswith("Das Museum")
        table = tmp_path / "t.csv"
        table.write_text("target,ref\nDas ist gut.,Das ist schlecht.\nx,y\nder Text,ein Text\n", encoding="utf-8")
        page.set_input_files("#table", table)
        browser.expect_status(page, "3 segments, ")
        assert page.locator("#hypothesis").input_value() == ""
        with page.expect_download() as download:
            page.click("#jsonl")
        assert [rating.segment.hypothesis for rating in matese.read(download.value.path())] == [
            "Das ist gut.",
            "x",
            "der Text",
        ]
        with page.expect_download() as download:
            page.click("#csv")
        assert download.value.suggested_filename == "ratings.csv"
        saved = download.value.path().read_text(encoding="utf-8")
        rows = list(csv.DictReader(saved.removeprefix("\ufeff").splitlines()))
        assert saved.startswith("\ufeff")
        assert [row["reference"] for row in rows] == ["Das ist schlecht.", "y", "ein Text"]
        assert rows[0]["marked errors"].startswith(("Minor: »", "Major: »"))
        assert float(rows[0]["MQM score"]) < 0


def test_problems_are_shown(page: Page) -> None:
    problem = page.locator("#problem")
    fill(page, hypothesis="a\nb", reference="c")
    expect(problem).to_have_text("2 translations and 1 reference: line i of each must be one segment")
    fill(page, hypothesis="a\n" * 5, reference="b\n" * 5)
    expect(problem).to_have_text("5 segments: must be 4 at most in one request")
    fill(page, hypothesis="", reference="")
    expect(problem).to_be_hidden()
    expect(page.locator(".row")).to_have_count(0)


def test_a_server_that_has_ended_is_reported(window: Page, tiny_model_dir: Path) -> None:
    with started("--model", str(tiny_model_dir)) as (process, address):
        window.goto(address)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    fill(window, hypothesis="a", reference="b")
    expect(window.locator("#problem")).to_contain_text("the server does not answer")


def test_a_model_that_marks_nothing_shows_its_scores(window: Page) -> None:
    model = Path(__file__).parents[1] / "model" / "released" / "comet" / "estimator"
    with started("--model", str(model)) as (_, address), browser.without_problems(window):
        window.goto(address)
        window.click("#example")
        browser.expect_status(window, "2 segments, mean overall score \u2212")
        expect(window.locator(".row").first).to_contain_text("expected score \u2212")
        expect(window.locator("#problem")).to_be_hidden()

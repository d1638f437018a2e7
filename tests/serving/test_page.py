"""The page of the server, typed in as a reader does, in a headless Chromium."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from tests import browser
from tests.browser import Browser
from tests.serving.process import started

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(browser.programs() is None, reason="chromium or chromedriver is not installed"),
]
HOSTILE = "<img src=x onerror='window.isRun = true'><script>window.isRun = true</script>"


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    with browser.started() as one:
        yield one


@pytest.fixture(scope="module")
def address(tiny_model_dir: Path) -> Iterator[str]:
    with started("--model", str(tiny_model_dir), "--max-segments", "4") as (_, one):
        yield one


@pytest.fixture
def page(window: Browser, address: str) -> Browser:
    window.open(address)
    window.wait("document.activeElement.id == 'hypothesis'")
    assert window.problems() == []
    return window


def fill(page: Browser, **texts: str) -> None:
    """Puts texts into boxes at once, as pasting does."""
    for name, text in texts.items():
        page.run(
            "const box = document.getElementById(arguments[0]); box.value = arguments[1]; "
            "box.dispatchEvent(new Event('input', {bubbles: true}))",
            name,
            text,
        )


def answer(address: str, hypothesis: str, reference: str) -> Any:
    """Returns the rating that a program gets."""
    question = {"segments": [{"hypothesis": hypothesis, "references": [reference]}]}
    return httpx.post(f"{address}annotate", json=question).json()["ratings"][0]


def wait_for_status(page: Browser, start: str) -> None:
    page.wait(f"document.getElementById('status').textContent.startsWith({start!r})")


def test_errors_are_marked_as_one_types(page: Browser, address: str) -> None:
    page.press(*"Das ist gut.")
    page.wait("document.getElementById('problem').textContent == 'a reference or a source must be given, too'")
    page.click("#reference")
    page.press(*"Das ist schlecht.")
    wait_for_status(page, "1 segment, ")
    assert page.run("return document.getElementById('problem').hidden")
    rating = answer(address, "Das ist gut.", "Das ist schlecht.")
    assert rating["errors"], "the model of the tests marks something"
    assert page.run("return [...document.querySelectorAll('mark')].map((e) => e.textContent)") == [
        error["text"] for error in rating["errors"]
    ]
    assert page.texts(".row header b") == ["line 1"]
    page.point_at("mark")
    assert page.texts("#details")[0].startswith(rating["errors"][0]["severity"].capitalize() + ", confidence ")
    page.press("!")
    page.wait("document.querySelector('.context p').textContent == 'Das ist schlecht.!'")
    assert page.problems() == []


def test_several_segments_and_texts_of_every_kind(page: Browser, address: str) -> None:
    texts = [HOSTILE, "der 😀 Text 你好 gut", "שלום ist gut"]
    fill(page, hypothesis="\n".join(texts) + "\n", reference="ein Text\nein Text\nein Text")
    wait_for_status(page, "3 segments, ")
    shown = page.run(
        "return [...document.querySelectorAll('.hypothesis p')].map((box) => [...box.childNodes]"
        ".filter((node) => node.nodeName != 'SUP').map((node) => node.textContent).join(''))"
    )
    assert shown == texts
    marks = (
        "[...document.querySelectorAll('.row')].map((r) => [...r.querySelectorAll('mark')].map((m) => m.textContent))"
    )
    expected = [[error["text"] for error in answer(address, text, "ein Text")["errors"]] for text in texts]
    assert page.run(f"return {marks}") == expected
    assert any(expected[1]), "behind a character of two UTF-16 units"
    assert page.run("return [window.isRun === undefined, document.images.length]") == [True, 0]
    assert page.run("return getComputedStyle(document.querySelectorAll('.hypothesis p')[2]).direction") == "rtl"


def test_what_is_wrong_is_told(page: Browser) -> None:
    fill(page, hypothesis="a\nb", reference="c")
    told = "document.getElementById('problem').textContent"
    page.wait(f"{told} == '2 translations and 1 reference: line i of each must be one segment'")
    fill(page, hypothesis="a\n" * 5, reference="b\n" * 5)
    page.wait(f"{told} == '5 segments: must be 4 at most in one request'")
    fill(page, hypothesis="", reference="")
    page.wait("document.getElementById('problem').hidden")
    assert page.texts(".row") == []


def test_a_server_that_has_ended_is_told(window: Browser, tiny_model_dir: Path) -> None:
    with started("--model", str(tiny_model_dir)) as (process, address):
        window.open(address)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    fill(window, hypothesis="a", reference="b")
    window.wait("document.getElementById('problem').textContent.startsWith('the server does not answer')")
    window.problems()  # Chromium tells of it, too

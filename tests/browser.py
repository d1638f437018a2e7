"""The system's Chromium, without a window, driven by playwright."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from matese.annotation import Rating
from matese.formats.tables import jsonl

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]
_TIMEOUT = 60.0
"""Seconds that a page may take to reach an expected state: several processes may share a core."""


@contextmanager
def opened(width: int = 1200, height: int = 900) -> Iterator[Page]:
    """Yields an empty page of a browser that lives as long as the body."""
    expect.set_options(timeout=1000 * _TIMEOUT)
    # Containers run as root, which Chromium's sandbox refuses.
    options = {"executable_path": CHROMIUM, "args": ["--no-sandbox"]}
    with sync_playwright() as playwright, playwright.chromium.launch(**options) as browser:  # type: ignore[arg-type]
        page = browser.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(1000 * _TIMEOUT)
        yield page


def write(path: Path, ratings: Iterable[Rating]) -> Path:
    """Writes ratings as JSONL, of which commands make pages."""
    path.write_text("".join(f"{jsonl.dumps(rating)}\n" for rating in ratings), encoding="utf-8")
    return path


@contextmanager
def without_problems(page: Page) -> Iterator[None]:
    """Fails if the page reports an error or a warning while the body runs."""
    problems: list[str] = []

    def listen(event: object) -> None:
        if getattr(event, "type", "error") in ("error", "warning"):
            problems.append(str(event))

    page.on("console", listen)
    page.on("pageerror", listen)
    yield
    page.remove_listener("console", listen)
    page.remove_listener("pageerror", listen)
    assert problems == []


def expect_status(page: Page, start: str) -> None:
    """Waits until the page's line of counts begins like this."""
    expect(page.locator("#status")).to_have_text(re.compile("^" + re.escape(start)))


def wait_for(page: Page, condition: str, seconds: float = _TIMEOUT) -> None:
    """Waits until a JavaScript expression is true. Our pages' policy forbids the `eval` of `Page.wait_for_function`."""
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"never true: {condition}"
        page.wait_for_timeout(50)


def point_at(page: Page, selector: str) -> None:
    """Moves the pointer onto the first such element after scrolling to it: scrolling hides details."""
    page.locator(selector).first.scroll_into_view_if_needed()
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.locator(selector).first.hover()

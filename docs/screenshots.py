"""Takes the screenshots of the documentation from the example translations: `python -m docs.screenshots`.

It needs Chromium and uses the embedded model. Lines 6 to 10 are left out: they are Chinese, and not every machine has a
font for that.
"""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect

from matese.cli import main
from tests import browser
from tests.serving.process import started

PICTURES = Path(__file__).parent / "pictures"
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
WIDTH = 900
HEIGHT = 600
N_TYPED = 3
"""Lines to type into the page of the server."""


def make() -> None:
    """Writes report-light.png, compare.png, compare-segments.png and serve.png."""
    PICTURES.mkdir(exist_ok=True)
    # The pages show file names as given, so run in their folder.
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), browser.opened(WIDTH, HEIGHT) as page:
        make_pages()
        page.emulate_media(color_scheme="light")
        page.goto(Path("report.html").resolve().as_uri())
        page.keyboard.press("n")
        expect(page.locator("#details")).to_be_visible()
        _take(page, "report-light")
        page.goto(Path("compare.html").resolve().as_uri())
        _take(page, "compare")
        browser.point_at(page, "mark")
        _take(page, "compare-segments")
        with started("--model", "mini") as (_, address):
            page.goto(address)
            _type(page)
            _take(page, "serve")


def make_pages() -> None:
    """Writes report.html and compare.html, and the ratings they show, into the current directory."""
    for name in ("src", "ref", "mt", "mt-edited"):
        lines = (EXAMPLES / f"{name}.txt").read_text(encoding="utf-8").splitlines(keepends=True)
        Path(f"{name}.txt").write_text("".join(lines[:5] + lines[10:]), encoding="utf-8")
    for system in ("mt", "mt-edited"):
        texts = ("--src", "src.txt", "--ref", "ref.txt", "--hyp", f"{system}.txt")
        _run("tag", *texts, "--format", "jsonl", "--output", f"{system}.jsonl")
    _run("report", "mt.jsonl", "--output", "report.html", "--title", "Release candidate")
    _run("compare", "mt.jsonl", "mt-edited.jsonl", "--html", "compare.html", "--json", "figures.json")


def _run(*arguments: str) -> None:
    code = main(arguments)
    if code:
        raise SystemExit(code)


def _type(page: Page) -> None:
    for box, name in (("hypothesis", "mt"), ("reference", "ref"), ("source", "src")):
        lines = (EXAMPLES / f"{name}.txt").read_text(encoding="utf-8").splitlines(keepends=True)
        page.fill(f"#{box}", "".join(lines[:N_TYPED]))
    browser.expect_status(page, f"{N_TYPED} segments")
    expect(page.locator("#list")).to_have_attribute("aria-busy", "false")


def _take(page: Page, name: str) -> None:
    page.screenshot(path=PICTURES / f"{name}.png")


if __name__ == "__main__":
    make()

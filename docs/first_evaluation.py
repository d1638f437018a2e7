"""Takes the pictures of docs/first-evaluation.md by doing what the page says: `python -m docs.first_evaluation`.

It needs Chromium and uses the embedded model.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect
from rich.console import Console
from rich.text import Text

from docs.terminal_picture import to_svg
from tests import browser

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
WIDTH = 900
HEIGHT = 640
WIDTHS = (400, 1280)
"""A phone and a desktop."""
TAG = "matese tag --input examples/museum.csv --only-errors"
COLUMNS = 96
"""Width of the terminal."""


def make() -> None:
    """Writes the pictures whose names begin with `first-`, and those of docs/correct.md."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        shutil.copytree(ROOT / "examples", "examples")
        draw("first-tag", TAG)
        run("matese tag --input examples/museum.csv --output museum.jsonl")
        run("matese report museum.jsonl --output museum.html")
        with browser.opened(WIDTH, HEIGHT) as page:
            show(page, "museum.html")
            page.keyboard.press("n")
            expect(page.locator("#details")).to_be_visible()
            take(page, "first-page")
            correct(page)
            draw("first-convert", "matese convert museum.anna.jsonl corrected.csv --before museum.jsonl")
            run("matese tag --input examples/museum-new.csv --output museum-new.jsonl")
            run("matese compare museum.jsonl museum-new.jsonl --html compare.html")
            show(page, "compare.html")
            take(page, "first-compare")
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 800})
                show(page, "museum.html")
                page.evaluate("localStorage.clear()")
                page.reload()
                mark_missing(page)
                take(page, f"correct-{width}")
        draw("first-gate", "matese gate museum-new.jsonl --max-major-per-1k 10 --baseline museum.jsonl")


def correct(page: Page) -> None:
    """Corrects the marks and saves museum.anna.jsonl."""
    mark_missing(page)
    take(page, "first-correct")
    page.keyboard.press("2")  # Major
    for step in range(9):
        scroll(page, step / 8)
        for button in ("'Marks are right'", "'No error'][not(preceding-sibling::button)"):
            found = page.locator(f"xpath=//button[.={button}]")
            while found.count():
                found.first.click()
    expect(page.locator("#progress")).to_have_text("12 of 12 reviewed")
    page.fill("#reviewer", "anna")
    with page.expect_download() as download:
        page.click("#save")
    download.value.save_as(download.value.suggested_filename)


def mark_missing(page: Page) -> None:
    """Chooses a word of a reference to mark it."""
    page.click("#edit")
    scroll(page, 1.0)
    click_word(page, "soups")


def scroll(page: Page, share: float) -> None:
    """Scrolls to this share of the page's height."""
    page.evaluate("(share) => scrollTo(0, share * document.body.scrollHeight)", share)
    page.wait_for_timeout(300)


def click_word(page: Page, word: str) -> None:
    """Clicks the first letters of a word."""
    x, y = page.evaluate(
        """(word) => {
          const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const at = walker.currentNode.data.indexOf(word);
            if (at < 0 || !walker.currentNode.parentElement.checkVisibility()) continue;
            walker.currentNode.parentElement.scrollIntoView({block: "center"});
            const range = new Range();
            range.setStart(walker.currentNode, at);
            range.setEnd(walker.currentNode, at + word.length);
            const box = range.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
          }
        }""",
        word,
    )
    page.mouse.click(x, y)


def show(page: Page, name: str) -> None:
    """Opens a file of the current directory."""
    page.goto(Path(name).resolve().as_uri())


def take(page: Page, name: str) -> None:
    """Writes NAME.png."""
    page.screenshot(path=PICTURES / f"{name}.png")


def draw(name: str, command: str) -> None:
    """Draws what a command prints to a terminal as NAME.svg."""
    (PICTURES / f"{name}.svg").write_text(picture(command), encoding="utf-8")


def picture(command: str) -> str:
    """Returns what a command prints to a terminal, as SVG."""
    console = Console(
        record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor", no_color=False
    )
    console.print(Text(f"$ {command}", style="bold"))
    console.print(Text.from_ansi(run(command)))
    return to_svg(console, " ".join(command.split()[:2]))


def run(command: str) -> str:
    """Returns what a command prints to a terminal; a gate may fail."""
    words = shlex.split(command)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS)}
    environment.pop("NO_COLOR", None)
    ran = subprocess.run(
        [sys.executable, "-m", *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if ran.returncode not in ((0, 1) if words[1] == "gate" else (0,)):
        raise SystemExit(ran.returncode)
    return ran.stdout


if __name__ == "__main__":
    make()

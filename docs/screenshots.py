"""Makes the pictures of the documentation from the example translations, by `python -m docs.screenshots`.

It needs chromium and chromedriver, and uses the embedded model. The lines from Chinese, 6 to 10, are left out: not
every machine has a font for them.
"""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

from matese.cli import main
from tests import browser
from tests.browser import Browser
from tests.serving.process import started

PICTURES = Path(__file__).parent / "pictures"
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SIZE = {"width": 900, "height": 600, "deviceScaleFactor": 1, "mobile": False}
N_TYPED = 3
"""Lines that are typed into the page of the server."""


def make() -> None:
    """Writes report-light.png, report-dark.png, compare.png, compare-segments.png and serve.png."""
    PICTURES.mkdir(exist_ok=True)
    # The pages name their files as they were given: without the folder.
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), browser.started() as window:
        window.devtools("Emulation.setDeviceMetricsOverride", **SIZE)
        make_pages()
        for scheme in ("light", "dark"):
            _open(window, Path("report.html"), scheme)
            window.press("n")
            window.wait("!document.getElementById('details').hidden")
            _take(window, f"report-{scheme}")
        _open(window, Path("compare.html"), "light")
        _take(window, "compare")
        window.point_at("mark")
        _take(window, "compare-segments")
        with started("--model", "mini") as (_, address):
            _open(window, address, "light")
            _type(window)
            _take(window, "serve")


def make_pages() -> None:
    """Writes report.html and compare.html, and what they are made of, into the current directory."""
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


def _open(window: Browser, page: Path | str, scheme: str) -> None:
    window.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    window.open(page)
    window.wait("document.getElementById('status')")


def _type(window: Browser) -> None:
    for box, name in (("hypothesis", "mt"), ("reference", "ref"), ("source", "src")):
        lines = (EXAMPLES / f"{name}.txt").read_text(encoding="utf-8").splitlines(keepends=True)
        window.click(f"#{box}")
        window.run("document.activeElement.value = arguments[0]", "".join(lines[:N_TYPED]))
    window.run("document.activeElement.dispatchEvent(new Event('input', {bubbles: true}))")
    window.wait(f"document.getElementById('status').textContent.startsWith('{N_TYPED} segments')")
    window.wait("document.getElementById('list').getAttribute('aria-busy') == 'false'")


def _take(window: Browser, name: str) -> None:
    (PICTURES / f"{name}.png").write_bytes(window.picture())


if __name__ == "__main__":
    make()

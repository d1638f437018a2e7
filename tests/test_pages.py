"""The pages, clicked and typed in as a reader does, in a headless Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.cli import main
from matese.formats import jsonl
from tests import browser
from tests.browser import Browser

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(browser.programs() is None, reason="chromium or chromedriver is not installed"),
]

MINOR, MAJOR, CRITICAL = Severity.MINOR, Severity.MAJOR, Severity.CRITICAL
HOSTILE = "<script>window.isRun = true</script><img src=x onerror='window.isRun = true'>"
TEXTS: tuple[tuple[str, str, tuple[ErrorSpan, ...]], ...] = (
    ("A", HOSTILE, (ErrorSpan(0, 8, MAJOR, "Accuracy/<b>", 0.87),)),
    ("A", "😀 gut gemacht", (ErrorSpan(2, 5, MINOR), ErrorSpan(4, 13, CRITICAL, "Style"))),
    ("A", "مرحبا بالعالم", (ErrorSpan(0, 5, MINOR),)),
    ("B", "Alles richtig", ()),
    ("B", "", ()),
    ("B", "fertig\u202e\x1b!", (ErrorSpan(6, 7, None),)),
)


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    with browser.started() as one:
        yield one


def write(path: Path, ratings: list[Rating]) -> Path:
    path.write_text("".join(f"{jsonl.dumps(one)}\n" for one in ratings), encoding="utf-8")
    return path


@pytest.fixture
def page(window: Browser, tmp_path: Path) -> Browser:
    ratings = [
        Rating(
            Segment(text, "Quelle", ("Referenz",), SegmentKey(system=system, index=index)),
            "m",
            errors,
            unplaced=(UnplacedError(MAJOR, "Omission"),) if text == "Alles richtig" else (),
        )
        for index, (system, text, errors) in enumerate(TEXTS)
    ]
    report = tmp_path / "report.html"
    assert main(["report", str(write(tmp_path / "a.jsonl", ratings)), "--output", str(report)]) == 0
    window.open(report)
    window.wait("document.querySelector('.row')")
    assert window.problems() == []
    return window


def shown(page: Browser) -> list[int]:
    return [int(row) for row in page.run("return [...document.querySelectorAll('.row')].map((e) => e.dataset.row)")]


def test_hostile_text_is_shown_and_not_run(page: Browser) -> None:
    assert page.run("return document.querySelector('.hypothesis p').textContent").replace("Major", "") == HOSTILE
    assert page.run("return [window.isRun === undefined, document.images.length]") == [True, 0]


def test_severity_is_told_by_underline_and_label(page: Browser) -> None:
    looks = page.run(
        "return [...document.querySelectorAll('mark')]"
        ".map((e) => [e.className, getComputedStyle(e).textDecorationStyle])"
    )
    assert {(name, line) for name, line in looks} == {
        ("major", "solid"),
        ("minor", "dotted"),
        ("critical", "double"),
        ("undecided", "dashed"),
    }
    assert page.texts("sup") == ["Major", "Minor", "Critical", "Minor", "Undecided"]


def test_marks_stand_where_code_points_say(page: Browser) -> None:
    row = "[...document.querySelector('[data-row=\"1\"]').querySelectorAll('mark')]"
    assert page.run(f"return {row}.map((e) => e.textContent)") == ["gu", "t", " gemacht"]
    assert page.run(f"return {row}.map((e) => e.errors.length)") == [1, 2, 1]


def test_details_on_hover_and_by_keyboard(page: Browser) -> None:
    assert page.run("return document.getElementById('details').hidden")
    page.point_at("mark.major")
    assert page.texts("#details") == ["Major Accuracy/<b>, confidence 87 %\n<script>"]
    page.press(browser.ESCAPE)
    assert page.run("return document.getElementById('details').hidden")
    page.press("n", "n", "n")
    page.wait("!document.getElementById('details').hidden")
    assert page.texts("#details") == ["Minor\ngut\nCritical Style\nt gemacht"]
    page.press("p")
    page.wait("document.getElementById('details').innerText == 'Minor\\ngut'")
    page.press("j", "j")
    assert page.run("return document.activeElement.dataset.row") == "3"


def test_search_filters_and_order(page: Browser) -> None:
    page.press("/", *"RICHTIG")
    page.wait("document.getElementById('status').textContent.startsWith('1 of 6 segments')")
    assert shown(page) == [3]
    page.click("button[type=reset]")
    page.wait("document.getElementById('status').textContent.startsWith('6 of 6')")
    page.click("#severities input[value=critical]")
    page.click("#systems input[value=B]")
    page.wait("document.getElementById('status').textContent.startsWith('2 of 6')")
    assert shown(page) == [0, 2]
    page.click("button[type=reset]")
    page.click("#low")
    page.press(*"-5")
    page.wait("document.getElementById('status').textContent.startsWith('5 of 6')")
    assert 1 not in shown(page)
    page.click("button[type=reset]")
    page.run("const s = document.getElementById('sort'); s.value = 'lowest score first'; "
             "s.dispatchEvent(new Event('input', {bubbles: true}))")  # fmt: skip
    page.wait("document.querySelector('.row').dataset.row == '1'")
    assert shown(page) == [1, 0, 3, 2, 4, 5]


def test_texts_run_in_their_direction_and_controls_are_visible(page: Browser) -> None:
    directions = page.run(
        "return [...document.querySelectorAll('.hypothesis p')].map((e) => getComputedStyle(e).direction)"
    )
    assert directions == ["ltr", "ltr", "rtl", "ltr", "ltr", "ltr"]
    texts = page.texts(".hypothesis p")
    assert texts[4] == "(empty)"
    assert texts[5].startswith("fertig<U+202E>")
    assert "␛!" in texts[5]
    assert page.texts(".unplaced p") == ["Major Omission"]


def test_light_and_dark(page: Browser) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    page.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    assert page.run(f"return {colour}") == "rgb(13, 17, 23)"
    page.click("#theme")
    assert page.texts("#theme") == ["Colours: light"]
    assert page.run(f"return {colour}") == "rgb(255, 255, 255)"
    page.devtools("Emulation.setEmulatedMedia", features=[])
    page.click("#theme")
    assert page.run(f"return {colour}") == "rgb(13, 17, 23)"


def test_ten_thousand_segments_are_drawn_as_one_scrolls(window: Browser, tmp_path: Path) -> None:
    words = ["der", "Hund", "und", "die", "Katze", "am", "See"]
    texts = [" ".join(words * (1 + number % 9)) for number in range(10_000)]
    ratings = [
        Rating(Segment(text, key=SegmentKey(system="A", index=number)), "m", (ErrorSpan(0, 3, MINOR),) * (number % 2))
        for number, text in enumerate(texts)
    ]
    report = tmp_path / "many.html"
    assert main(["report", str(write(tmp_path / "many.jsonl", ratings)), "--output", str(report)]) == 0
    window.open(report)
    window.wait("document.querySelector('.row')")
    for share in (0.1, 0.5, 0.9, 1, 0.3):
        window.run(f"window.scrollTo(0, {share} * document.documentElement.scrollHeight)")
        window.wait("[...document.querySelectorAll('.row')].some((e) => { const r = e.getBoundingClientRect(); "
                    "return r.top < innerHeight && r.bottom > 0; })")  # fmt: skip
        assert window.run("return document.querySelectorAll('.row').length") < 120
    # Rows are where they are said to be: one under the other, without gaps, the last at the end of the list.
    window.run("window.scrollTo(0, document.documentElement.scrollHeight)")
    window.wait("[...document.querySelectorAll('.row')].at(-1).dataset.row == '9999'")
    window.run("window.end = (e) => e.getBoundingClientRect().bottom")
    gap = "end(document.getElementById('list')) - end([...document.querySelectorAll('.row')].at(-1))"
    assert window.run(f"return {gap}") == pytest.approx(0, abs=1)
    window.press("n", "n")
    window.wait("document.activeElement.tagName == 'MARK'")
    row = int(window.run("return document.activeElement.closest('.row').dataset.row"))
    assert row > 9900
    assert row % 2 == 1


def test_comparison_shows_what_became_of_errors(window: Browser, tmp_path: Path) -> None:
    texts = (
        ("old", "Er sah Hanna 1999.", ((7, 12, MAJOR), (13, 17, MAJOR))),
        ("new", "Er sah Anna 1999.", ((12, 16, MINOR),)),
    )
    for system, text, spans in texts:
        errors = tuple(ErrorSpan(*span) for span in spans)
        same = Rating(Segment("Gut.", "Good.", key=SegmentKey(system=system, index=0)), "m", ())
        other = Rating(Segment(text, "He saw Anna.", key=SegmentKey(system=system, index=1)), "m", errors)
        write(tmp_path / f"{system}.jsonl", [same, other])
    page = tmp_path / "compare.html"
    files = [str(tmp_path / f"{system}.jsonl") for system, *_ in texts]
    assert main(["compare", *files, "--bootstrap", "20", "--html", str(page)]) == 0
    window.open(page)
    window.wait("document.querySelector('.row')")
    assert window.problems() == []
    assert shown(window)[0] == 1  # the largest difference first; the other may be out of sight
    assert window.texts(".row header")[0].startswith("line 2")
    assert "difference +9" in window.texts(".row header")[0]
    window.point_at("mark.minor")
    assert window.texts("#details") == ["Minor, softened: less severe\n1999"]
    window.click("#changes input[value=softened]")
    window.click("#changes input[value=fixed]")
    window.wait("document.getElementById('status').textContent.startsWith('0 of 2')")
    assert window.run("return document.querySelectorAll('circle.better').length") == 1


def test_print_holds_every_segment_that_filters_leave(page: Browser) -> None:
    page.run(
        "window.addEventListener('beforeprint', () => { window.atPrint = document.querySelectorAll('.row').length })"
    )
    page.click("#severities input[value='no error']")
    page.wait("document.getElementById('status').textContent.startsWith('5 of 6')")
    assert page.print().startswith(b"%PDF-")
    assert page.run("return window.atPrint") == 5

"""The pages in a headless Chromium: what readers see, click and type."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from matese.annotation import (
    ErrorSpan,
    Estimate,
    Explanation,
    Omission,
    Rating,
    Segment,
    SegmentKey,
    Severity,
    TextWeights,
    UnplacedError,
    Votes,
)
from matese.cli import main
from matese.render import explanations
from tests import browser
from tests.browser import write

pytestmark = browser.needs_chromium

MINOR = Severity.MINOR
MAJOR = Severity.MAJOR
CRITICAL = Severity.CRITICAL
HOSTILE = "<script>window.isRun = true</script><img src=x onerror='window.isRun = true'>"
TEXTS: tuple[tuple[str, str, tuple[ErrorSpan, ...]], ...] = (
    ("A", HOSTILE, (ErrorSpan(0, 8, MAJOR, "Accuracy/<b>", 0.87),)),
    ("A", "😀 gut gemacht", (ErrorSpan(2, 5, MINOR), ErrorSpan(4, 13, CRITICAL, "Style"))),
    ("A", "مرحبا بالعالم", (ErrorSpan(0, 5, MINOR),)),
    ("B", "Alles richtig", ()),
    ("B", "", ()),
    ("B", "fertig\u202e\x1b!", (ErrorSpan(6, 7, None),)),
)


def show(window: Page, path: Path) -> None:
    """Opens a page that a command wrote, and waits for its segments."""
    with browser.without_problems(window):
        window.goto(path.as_uri())
        window.wait_for_selector(".row")


@pytest.fixture
def page(window: Page, tmp_path: Path) -> Page:
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
    show(window, report)
    return window


def shown(page: Page) -> list[int]:
    return [int(row) for row in page.evaluate("[...document.querySelectorAll('.row')].map((e) => e.dataset.row)")]


def test_hostile_text_is_shown_and_not_run(page: Page) -> None:
    assert str(page.locator(".hypothesis p").first.text_content()).replace("Major", "") == HOSTILE
    assert page.evaluate("[window.isRun === undefined, document.images.length]") == [True, 0]


def test_severities_differ_by_underline_and_label(page: Page) -> None:
    looks = page.evaluate(
        "[...document.querySelectorAll('mark')].map((e) => [e.className, getComputedStyle(e).textDecorationStyle])"
    )
    assert {(name, line) for name, line in looks} == {
        ("major", "solid"),
        ("minor", "dotted"),
        ("critical", "double"),
        ("undecided", "dashed"),
    }
    assert page.locator("sup").all_inner_texts() == ["Major", "Minor", "Critical", "Minor", "Undecided"]


def test_marks_are_at_their_code_points(page: Page) -> None:
    marks = page.locator('[data-row="1"] mark')
    assert marks.all_inner_texts() == ["gu", "t", " gemacht"]
    assert marks.evaluate_all("marks => marks.map((e) => e.errors.length)") == [1, 2, 1]


def test_details_on_hover_and_by_keyboard(page: Page) -> None:
    details = page.locator("#details")
    expect(details).to_be_hidden()
    browser.point_at(page, "mark.major")
    assert details.inner_text() == "Major Accuracy/<b>, confidence 87 %\n<script>"
    page.keyboard.press("Escape")
    expect(details).to_be_hidden()
    page.keyboard.type("nnn")
    expect(details).to_be_visible()
    assert details.inner_text() == "Minor\ngut\nCritical Style\nt gemacht"
    page.keyboard.press("p")
    browser.wait_for(page, "document.getElementById('details').innerText == 'Minor\\ngut'")
    page.keyboard.type("jj")
    assert page.evaluate("document.activeElement.dataset.row") == "3"


def test_search_filters_and_order(page: Page) -> None:
    page.keyboard.type("/RICHTIG")
    browser.expect_status(page, "1 of 6 segments")
    assert shown(page) == [3]
    page.click("button[type=reset]")
    browser.expect_status(page, "6 of 6")
    page.click("#severities input[value=critical]")
    page.click("#systems input[value=B]")
    browser.expect_status(page, "2 of 6")
    assert shown(page) == [0, 2]
    page.click("button[type=reset]")
    page.fill("#low", "-5")
    browser.expect_status(page, "5 of 6")
    assert 1 not in shown(page)
    page.click("button[type=reset]")
    page.select_option("#sort", "worst first")
    expect(page.locator(".row").first).to_have_attribute("data-row", "1")
    assert shown(page) == [1, 0, 3, 2, 4, 5]


def test_texts_run_in_their_direction_and_controls_are_visible(page: Page) -> None:
    texts = page.locator(".hypothesis p")
    directions = texts.evaluate_all("texts => texts.map((e) => getComputedStyle(e).direction)")
    assert directions == ["ltr", "ltr", "rtl", "ltr", "ltr", "ltr"]
    assert texts.all_inner_texts()[4] == "(empty)"
    assert texts.all_inner_texts()[5].startswith("fertig<U+202E>")
    assert "␛!" in texts.all_inner_texts()[5]
    assert page.locator(".unplaced p").all_inner_texts() == ["Major Omission"]


def test_light_and_dark(page: Page) -> None:
    body = page.locator("body")
    button = page.locator("#theme")
    page.emulate_media(color_scheme="dark")
    expect(body).to_have_css("background-color", "rgb(13, 17, 23)")
    button.click()
    expect(button).to_have_text("Colours: light")
    expect(body).to_have_css("background-color", "rgb(255, 255, 255)")
    page.emulate_media(color_scheme="light")
    button.click()
    expect(body).to_have_css("background-color", "rgb(13, 17, 23)")


def test_ten_thousand_segments_are_drawn_as_one_scrolls(window: Page, tmp_path: Path) -> None:
    words = ["der", "Hund", "und", "die", "Katze", "am", "See"]
    texts = [" ".join(words * (1 + number % 9)) for number in range(10_000)]
    ratings = [
        Rating(Segment(text, key=SegmentKey(system="A", index=number)), "m", (ErrorSpan(0, 3, MINOR),) * (number % 2))
        for number, text in enumerate(texts)
    ]
    report = tmp_path / "many.html"
    assert main(["report", str(write(tmp_path / "many.jsonl", ratings)), "--output", str(report)]) == 0
    show(window, report)
    for share in (0.1, 0.5, 0.9, 1, 0.3):
        window.evaluate("share => window.scrollTo(0, share * document.documentElement.scrollHeight)", share)
        browser.wait_for(
            window,
            "[...document.querySelectorAll('.row')].some((e) => { const r = e.getBoundingClientRect(); "
            "return r.top < innerHeight && r.bottom > 0; })",
        )
        assert window.locator(".row").count() < 120
    # Rows are one below the other without gaps, and the last one is at the end of the list.
    window.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
    browser.wait_for(window, "[...document.querySelectorAll('.row')].at(-1).dataset.row == '9999'")
    end = "(e) => e.getBoundingClientRect().bottom"
    assert window.locator("#list").evaluate(end) == pytest.approx(window.locator(".row").last.evaluate(end), abs=1)
    window.keyboard.type("nn")
    browser.wait_for(window, "document.activeElement.tagName == 'MARK'")
    row = int(window.evaluate("document.activeElement.closest('.row').dataset.row"))
    assert row > 9900
    assert row % 2 == 1


def test_comparison_shows_what_became_of_errors(window: Page, tmp_path: Path) -> None:
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
    show(window, page)
    assert shown(window)[0] == 1  # the largest difference first; the other may be out of sight
    heading = window.locator(".row header").first.inner_text()
    assert heading.startswith("segment 2")
    assert "difference +9" in heading
    browser.point_at(window, "mark.minor")
    assert window.locator("#details").inner_text() == "Minor, less severe\n1999"
    assert window.locator("#changes label").all_inner_texts() == ["fixed", "less severe"]
    window.click("#changes input[value=softened]")
    window.click("#changes input[value=fixed]")
    browser.expect_status(window, "0 of 2")
    assert window.locator("circle.better").count() == 1
    verdict = window.locator(".verdict").inner_text()
    assert verdict.startswith("No significant difference between new and old: new +4.50 points")


def test_a_narrow_page_does_not_overflow_and_its_tables_scroll(window: Page, tmp_path: Path) -> None:
    names = (
        f"a-system-with-a-long-name-and-no-space-in-it{40 * 'x'}",
        "another-system-with-a-name-that-is-as-long",
        "short",
    )
    for system in names:
        errors = (ErrorSpan(3, 6, MAJOR, confidence=0.5), ErrorSpan(7, 12, MINOR, confidence=0.9))
        segment = Segment("Er sah Hanna 1999.", "He saw Anna.", ("Er sah Anna.",), SegmentKey(system=system, index=0))
        write(tmp_path / f"{system}.jsonl", [Rating(segment, "m", errors)])
    page = tmp_path / "compare.html"
    files = [str(tmp_path / f"{system}.jsonl") for system in names]
    assert main(["compare", *files, "--bootstrap", "0", "--html", str(page)]) == 0
    opened = window.context.browser
    assert opened is not None
    with opened.new_page(viewport={"width": 400, "height": 800}) as narrow:
        show(narrow, page)
        assert narrow.evaluate("document.documentElement.scrollWidth") <= 400
        right = "(boxes) => Math.max(...boxes.map((box) => box.getBoundingClientRect().right))"
        controls = narrow.locator(".controls > :not([hidden]), .controls input, .controls select")
        assert controls.evaluate_all(right) <= 400
        tables = narrow.locator(".scroll")
        assert tables.evaluate_all("(boxes) => boxes.some((box) => box.scrollWidth > box.clientWidth)")
        assert "gradient" in tables.first.evaluate("(box) => getComputedStyle(box).backgroundImage")
        assert narrow.locator("caption span").evaluate_all(right) <= 400


def test_words_that_differ_are_framed(window: Page, tmp_path: Path) -> None:
    for system, text in (("old", "Er sah Hanna 1999."), ("new", "Er sah Anna im Jahr 1999.")):
        segments = [
            Segment(text, "He saw Anna in 1999.", ("Er sah Anna.",), SegmentKey(index=index)) for index in (0, 1)
        ]
        errors = (ErrorSpan(4, 9, MAJOR),)
        write(tmp_path / f"{system}.jsonl", [Rating(segment, "m", errors) for segment in segments])
    page = tmp_path / "compare.html"
    files = [str(tmp_path / f"{system}.jsonl") for system in ("old", "new")]
    assert main(["compare", *files, "--bootstrap", "0", "--html", str(page)]) == 0
    show(window, page)
    texts = window.locator(".row").first.locator(".hypothesis")

    def framed() -> list[list[str]]:
        return [texts.nth(at).locator("ins").all_text_contents() for at in (0, 1)]

    assert framed() == [[], []]
    window.select_option("#differences", "systems")
    expect(texts.nth(0).locator("ins")).to_have_count(2)
    assert framed() == [["Ha", "nna"], ["An", "na im Jahr"]]  # the border of an error cuts a word in two
    window.select_option("#differences", "reference")
    expect(texts.nth(1).locator("ins")).to_have_count(1)
    assert framed() == [["Ha", "nna 1999"], [" im Jahr 1999"]]


def test_the_correction_of_a_model_is_shown_with_what_differs(window: Page, tmp_path: Path) -> None:
    rating = Rating(Segment("Das Haus", "A house"), "matese|annotator:m", (), correction="Ein Haus")
    assert main(["report", str(write(tmp_path / "m.jsonl", [rating])), "--output", str(tmp_path / "p.html")]) == 0
    show(window, tmp_path / "p.html")
    expect(window.locator(".line.corrected")).to_have_text("betterEin Haus")


def test_marks_below_the_slider_are_hidden(window: Page, tmp_path: Path) -> None:
    errors = (ErrorSpan(0, 2, MINOR, confidence=0.2), ErrorSpan(3, 6, MAJOR, confidence=0.7), ErrorSpan(7, 9, MAJOR))
    rating = Rating(Segment("Er sah es."), "m", errors)
    page = tmp_path / "report.html"
    assert main(["report", str(write(tmp_path / "a.jsonl", [rating])), "--output", str(page)]) == 0
    show(window, page)
    assert window.locator("mark").all_inner_texts() == ["Er", "sah", "es"]
    window.fill("#certain", "50")
    expect(window.locator("mark")).to_have_count(2)
    assert window.locator("mark").all_inner_texts() == ["sah", "es"]
    assert window.locator("#least").inner_text() == "50 %"
    window.click("button[type=reset]")
    expect(window.locator("mark")).to_have_count(3)


def test_missing_words_are_marked_in_the_context(window: Page, tmp_path: Path) -> None:
    for system, omissions in (("A", (Omission("reference", 0, 3, 8, MAJOR, None, 0.61),)), ("B", ())):
        segment = Segment("Er 😀", "He is not", ("Er nicht",), SegmentKey(system=system, index=0))
        own = (*omissions, Omission("source", None, 6, 9, MINOR, None, 0.2))
        write(tmp_path / f"{system}.jsonl", [Rating(segment, "m", (), omissions=own)])
    page = tmp_path / "report.html"
    files = [str(tmp_path / f"{system}.jsonl") for system in ("A", "B")]
    assert main(["report", *files, "--output", str(page)]) == 0
    show(window, page)
    marks = window.locator(".context mark.missing")
    assert marks.all_inner_texts() == ["not", "nicht"]
    assert window.locator(".context sup").all_inner_texts() == ["Minor missing", "Major missing"]
    browser.point_at(window, "mark.missing.major")
    assert window.locator("#details").inner_text() == "Missing in A, Major, confidence 61 %\nnicht"
    window.keyboard.press("Escape")
    window.fill("#certain", "50")
    expect(marks).to_have_count(1)
    window.click("#systems input[value=A]")
    expect(window.locator("mark")).to_have_count(0)


@pytest.mark.parametrize("width", [360, 1200])
@pytest.mark.parametrize("reference", ["لا تفتح الباب.", "I do not open it."])
def test_the_label_of_a_first_word_stays_on_the_page(window: Page, tmp_path: Path, reference: str, width: int) -> None:
    rating = Rating(Segment("x", None, (reference,)), "m", (), omissions=(Omission("reference", 0, 0, 1, MAJOR),))
    page = tmp_path / "report.html"
    assert main(["report", str(write(tmp_path / "a.jsonl", [rating])), "--output", str(page)]) == 0
    opened = window.context.browser
    assert opened is not None
    with opened.new_page(viewport={"width": width, "height": 900}) as window:
        show(window, page)
        label = window.locator("sup .label").bounding_box()
    assert label is not None
    assert label["x"] >= 0
    assert label["x"] + label["width"] <= width


def test_errors_that_end_at_one_place_share_a_label(window: Page, tmp_path: Path) -> None:
    errors = (ErrorSpan(0, 4, MINOR), ErrorSpan(0, 4, MAJOR, "Style"))
    page = tmp_path / "report.html"
    assert (
        main(
            ["report", str(write(tmp_path / "a.jsonl", [Rating(Segment("Haus"), "m", errors)])), "--output", str(page)]
        )
        == 0
    )
    show(window, page)
    assert window.locator("sup").all_inner_texts() == ["Major +1"]


def test_errors_of_the_source_are_those_of_each_system(window: Page, tmp_path: Path) -> None:
    for system, source_errors in (
        ("A", (ErrorSpan(0, 2, MINOR),)),
        ("B", (ErrorSpan(0, 2, MINOR), ErrorSpan(3, 6, MAJOR))),
    ):
        segment = Segment("He is", "Er ist", (), SegmentKey(system=system, index=0))
        write(tmp_path / f"{system}.jsonl", [Rating(segment, "m", (), source_errors)])
    page = tmp_path / "report.html"
    files = [str(tmp_path / f"{system}.jsonl") for system in ("A", "B")]
    assert main(["report", *files, "--output", str(page)]) == 0
    show(window, page)
    assert window.locator("sup").all_inner_texts() == ["Minor", "Major"]
    for _ in range(2):
        window.keyboard.press("n")
    assert window.locator("#details").inner_text() == "In the source, by the ratings of B, Major\nist"
    window.click("#systems input[value=B]")
    expect(window.locator("mark")).to_have_count(1)


def test_scores_are_rounded_as_in_the_terminal(window: Page, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    ratings = [Rating(Segment("Haus"), "m", (), estimate=Estimate(-4.655, "mqm"))]
    assert main(["report", str(write(tmp_path / "a.jsonl", ratings)), "--output", str(page)]) == 0
    show(window, page)
    assert f"{-4.655:.2f}" == "-4.66"
    assert "expected score \u22124.66" in window.locator(".row header").inner_text()


def test_details_never_cover_their_error(window: Page, tmp_path: Path) -> None:
    text = " ".join(["wort"] * 200)
    segments = [Segment(text, key=SegmentKey(index=index)) for index in range(3)]
    ratings = [Rating(one, "m", (ErrorSpan(0, 300, MAJOR), ErrorSpan(700, 900, MINOR))) for one in segments]
    page = tmp_path / "report.html"
    assert main(["report", str(write(tmp_path / "a.jsonl", ratings)), "--output", str(page)]) == 0
    show(window, page)
    for key in "nnnn":
        window.keyboard.press(key)
        error, details = (window.locator(name).bounding_box() for name in ("mark:focus", "#details"))
        assert error is not None
        assert details is not None
        assert details["y"] >= error["y"] + error["height"] or details["y"] + details["height"] <= error["y"]


def test_each_system_has_a_mean_of_its_own(page: Page) -> None:
    browser.expect_status(page, "6 of 6 segments, mean score A −4, B −1.67")
    page.click("#systems input[value=B]")
    browser.expect_status(page, "3 of 6 segments, mean score A −4")


def test_print_has_every_segment_that_filters_select(page: Page) -> None:
    page.evaluate("window.addEventListener('beforeprint', () => "
                  "{ window.atPrint = document.querySelectorAll('.row').length })")  # fmt: skip
    page.click("#severities input[value='no error']")
    browser.expect_status(page, "5 of 6")
    assert page.pdf().startswith(b"%PDF-")
    assert page.evaluate("window.atPrint") == 5


def test_ratings_without_spans_are_filtered_and_ordered_by_their_overall_score(window: Page, tmp_path: Path) -> None:
    given = [
        Rating(Segment(text, key=SegmentKey(index=index)), "m", None, estimate=Estimate(value, "comet"))
        for index, (text, value) in enumerate((("eins", 0.75), ("zwei", 0.25), ("drei", 0.5)))
    ]
    report = tmp_path / "report.html"
    assert main(["report", str(write(tmp_path / "a.jsonl", given)), "--output", str(report)]) == 0
    show(window, report)
    browser.expect_status(window, "3 of 3 segments, mean overall score 0.5")
    window.select_option("#sort", "worst first")
    window.fill("#high", "0.6")
    browser.expect_status(window, "2 of 3 segments, mean overall score 0.38")
    expect(window.locator(".row").first).to_contain_text("expected score 0.25")


def test_a_heat_map_beside_the_spans(window: Page, tmp_path: Path) -> None:
    segment = Segment("😀 gut gemacht", None, ("well done",))
    error = ErrorSpan(2, 5, MINOR, confidence=0.5, votes=Votes(0.8, 0.25))
    rating = Rating(segment, "m", (error,), estimate=Estimate(-2.0, "mqm", -3.0, -1.0))
    weights = (
        TextWeights("hypothesis", None, ((0, 1), (2, 5), (6, 13)), (0.1, 4.5, -2.0)),
        TextWeights("reference", 0, ((0, 4), (5, 9)), (1.0, 0.5)),
    )
    path = tmp_path / "heat.html"
    path.write_text(explanations.page("mt", [Explanation(rating, "lime", weights)]), encoding="utf-8")
    show(window, path)
    shades = window.evaluate(
        "[...document.querySelectorAll('[class^=heat]')].map((one) => [one.className, one.textContent])"
    )
    assert shades == [["heat4", "gut"], ["heat1", "well"]]
    label = window.locator("mark").first.get_attribute("aria-label")
    assert label is not None
    assert "marked by 80 % of the predictions, another severity in 25 % of these" in label
    assert "expected score −2 [−3, −1]" in str(window.locator(".row header").text_content())


def test_the_table_of_a_summary_fits_the_page_and_keeps_its_names(window: Page, tmp_path: Path) -> None:
    for system in ("before", "afterwards"):
        ratings = [
            Rating(
                Segment("Das ist neu.", "That is new.", key=SegmentKey(system=system, lang_pair="en-de", index=index)),
                "anna",
                (ErrorSpan(0, 3, MAJOR),) if index % 2 else (),
            )
            for index in range(9)
        ]
        write(tmp_path / f"{system}.jsonl", ratings)
    files = [str(tmp_path / f"{system}.jsonl") for system in ("before", "afterwards")]
    page = tmp_path / "summary.html"
    assert main(["report", *files, "--summary", "--output", str(page)]) == 0
    window.goto(page.as_uri())
    name = window.locator("tbody th").last
    expect(name).to_have_text("afterwards")
    assert name.evaluate("(name) => name.clientHeight") < 60
    assert window.locator("section").first.evaluate("(box) => box.scrollWidth - box.clientWidth") == 0

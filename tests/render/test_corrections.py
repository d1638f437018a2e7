"""Pages that people correct, in a headless Chromium: marks, words, progress, and the ratings that are saved."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import httpx2 as httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

import matese
from matese.annotation import ErrorSpan, Estimate, Omission, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.cli import main
from matese.formats.corrections import edits, marked
from matese.formats.tables import jsonl
from matese.text.ranges import Utf16Text
from tests import browser
from tests.browser import write
from tests.serving.process import started

pytestmark = browser.needs_chromium

NEUTRAL, MINOR, MAJOR, CRITICAL = Severity
PLAIN = Rating(
    Segment("Er sah Hanna 1999.", "He saw Anna in 1999.", ("Er sah Anna im Jahr 1999.",), SegmentKey(index=0)),
    "matese|model:m",
    (ErrorSpan(7, 12, MAJOR, "Accuracy", 0.9), ErrorSpan(13, 17, MINOR, None, 0.3)),
    estimate=Estimate(-4.0, "mqm"),
)
ODD = Rating(Segment("😀 cafe\u0301 👍🏽 gut\x1b!", "cafe\u0301", (), SegmentKey(index=1)), "m", ())
ARABIC = Rating(Segment("مرحبا بالعالم هذا", "Hello world", (), SegmentKey(index=2)), "m", ())
FREE = Rating(Segment("Gut.", "Good.", (), SegmentKey(index=3)), "m", (), unplaced=(UnplacedError(MAJOR, "Omission"),))


def show(window: Page, path: Path, ratings: list[Rating], *more: list[Rating]) -> None:
    """Opens the page of ratings, by one system or several, and begins to correct it."""
    files = [str(write(path / f"{name}.jsonl", own)) for name, own in zip("ab", (ratings, *more), strict=False)]
    page = path / "page.html"
    assert main(["report", *files, "--output", str(page)]) == 0
    with browser.without_problems(window):
        window.goto(page.as_uri())
        window.evaluate("localStorage.clear()")
        window.reload()
        window.click("#edit")
        expect(window.locator("#progress")).to_have_text(f"0 of {len(ratings) * (1 + len(more)):,} reviewed")


def save(window: Page, path: Path, name: str = "anna") -> list[Rating]:
    """Returns the ratings that the page saves."""
    window.fill("#reviewer", name)
    with window.expect_download() as download:
        window.click("#save")
    file = path / download.value.suggested_filename
    download.value.save_as(file)
    return list(jsonl.read(file))


def marks(ratings: list[Rating]) -> list[list[tuple[str, Severity | None, str | None]]]:
    return [
        [(one.segment.hypothesis[e.start : e.end], e.severity, e.category) for e in one.errors or ()] for one in ratings
    ]


def push(window: Page, name: str, number: int = 0) -> None:
    window.get_by_role("button", name=name, exact=True).nth(number).click()


def drag(window: Page, box: str, first: str, last: str) -> None:
    """Selects from the beginning of some letters to the end of others, which are shown in a text, as a finger does."""
    window.evaluate(
        """([box, first, last]) => {
          const find = (letters) => {
            const walker = document.createTreeWalker(document.querySelector(box), NodeFilter.SHOW_TEXT);
            while (walker.nextNode()) {
              const at = walker.currentNode.data.indexOf(letters);
              if (at >= 0) return [walker.currentNode, at];
            }
          };
          const [start, from] = find(first), [end, to] = find(last);
          getSelection().setBaseAndExtent(start, from, end, to + last.length);
        }""",
        [box, first, last],
    )
    expect(window.locator("#editor")).to_be_visible()


def test_the_keyboard_alone(window: Page, tmp_path: Path) -> None:
    show(window, tmp_path, [PLAIN, ARABIC, FREE])
    press = window.keyboard.press
    with browser.without_problems(window):
        for key in ("j", "n", "3", "c"):  # the first mark becomes critical and gets a category
            press(key)
        window.keyboard.insert_text("Style")
        press("Enter")
        expect(window.locator("mark.critical")).to_be_focused()
        for key in ("n", "x"):  # the second goes
            press(key)
        for key in ("ArrowRight", "ArrowRight", "Shift+ArrowRight", "1"):
            press(key)
        expect(window.locator("mark.minor")).to_be_focused()
        for key in ("k", "ArrowUp", "ArrowRight", "2"):  # a word of the source is missing
            press(key)
        expect(window.locator("mark.missing")).to_have_text("saw")
        press("m")
        window.keyboard.insert_text("Name?")
        press("Escape")
        for key in ("Enter", "ArrowLeft", "0"):  # right to left: the first word
            press(key)
        for key in ("j", "o"):
            press(key)
        expect(window.locator("#progress")).to_have_text("3 of 3 reviewed")
        press("Control+s")
        expect(window.locator("#reviewer")).to_be_focused()
        window.keyboard.insert_text("anna")
        with window.expect_download() as download:
            press("Control+s")
        ratings = list(jsonl.read(download.value.path()))
    assert marks(ratings) == [
        [("sah Hanna", MINOR, None), ("Hanna", CRITICAL, "Style")],
        [("مرحبا", NEUTRAL, None)],
        [],
    ]
    assert ratings[0].omissions == (Omission("source", None, 3, 6, MAJOR),)
    assert [rating.segment.extra for rating in ratings] == [{"comment": "Name?"}, {"comment": None}, {"comment": None}]
    assert all(rating.rater == "anna" and rating.estimate is None and not rating.unplaced for rating in ratings)
    assert {error.confidence for rating in ratings for error in rating.errors or ()} == {None}


def test_a_translation_is_corrected_and_goes_back_into_the_file(window: Page, tmp_path: Path) -> None:
    po = tmp_path / "fr.po"
    text = 'msgid ""\nmsgstr "Language: de\\n"\n\n#. Title\nmsgctxt "menu"\nmsgid "A river"\nmsgstr "Ein Volga Fluss"\n'
    po.write_text(text, encoding="utf-8")
    page = tmp_path / "page.html"
    assert main(["report", str(po), "--output", str(page)]) == 0
    with browser.without_problems(window):
        window.goto(page.as_uri())
        window.evaluate("localStorage.clear()")
        window.reload()
        expect(window.locator(".context p").nth(1)).to_have_text("menu\nTitle")
        window.click("#edit")
        drag(window, ".hypothesis p", "Fluss", "Fluss")
        push(window, "1 Minor")
        drag(window, ".hypothesis p", "Volga", "Volga")
        push(window, "2 Major")
        push(window, "Correct the translation")
        window.keyboard.press("Escape")
        expect(window.locator(".correction")).to_have_count(0)
        push(window, "Correct the translation")
        window.locator(".correction").fill("Ein breiter Wolga Fluss")
        window.keyboard.press("Control+Enter")
        expect(window.locator(".corrected p")).to_have_text("Ein breiter Wolga Fluss")
        expect(window.locator(".corrected ins")).to_have_text(["breiter Wolga"])
        window.reload()
        expect(window.locator(".corrected p")).to_have_text("Ein breiter Wolga Fluss")
        push(window, "Correct again")
        window.locator(".correction").fill("Ein Volga Fluss")
        window.keyboard.press("Control+Enter")
        expect(window.locator(".corrected")).to_have_count(0)
        push(window, "Undo")
        expect(window.locator(".corrected")).to_have_count(1)
        (rating,) = save(window, tmp_path)
    assert rating.segment.hypothesis == "Ein Volga Fluss"
    assert rating.segment.extra == {"context": "menu\nTitle", "corrected": "Ein breiter Wolga Fluss"}
    reviewed = write(tmp_path / "reviewed.jsonl", [rating])
    copy = tmp_path / "copy.po"
    assert main(["convert", str(reviewed), str(copy), "--template", str(po)]) == 0
    assert 'msgstr "Ein breiter Wolga Fluss"' in copy.read_text(encoding="utf-8")
    assert "Minor error: »Fluss« [18..23]" in copy.read_text(encoding="utf-8")


def test_what_is_corrected_is_an_error_that_the_reader_grades(window: Page, tmp_path: Path) -> None:
    unmarked = Rating(Segment("Die Volga ist lang.", "The Volga is not long.", key=SegmentKey(index=0)), "m", ())
    show(window, tmp_path, [unmarked])
    with browser.without_problems(window):
        push(window, "Correct the translation")
        window.locator(".correction").fill("Die Wolga ist nicht lang.")
        window.keyboard.press("Control+Enter")
        expect(window.locator(".done")).to_have_text("✓ Reviewed: 2 errors, 2 undecided")
        push(window, "No error")
        expect(window.locator("#progress")).to_have_text("1 of 1 reviewed, 2 undecided, not in the score")
        push(window, "Major", 1)
        (rating,) = save(window, tmp_path)
        assert marks([rating]) == [[("Volga", None, None)]]
        assert rating.unplaced == (UnplacedError(MAJOR, words="nicht"),)
        push(window, "Preference")
        expect(window.locator(".done")).to_have_text("✓ Reviewed: 2 errors")
        (rating,) = save(window, tmp_path)
        assert marks([rating]) == [[("Volga", NEUTRAL, None)]]
        assert marked(rating) == rating
        push(window, "Correct again")  # marks that are decided stay, others are those of the new correction
        window.locator(".correction").fill("Das Wolga ist nicht lang.")
        window.keyboard.press("Control+Enter")
        (rating,) = save(window, tmp_path)
    assert marks([rating]) == [[("Die", None, None), ("Volga", NEUTRAL, None)]]
    assert rating.unplaced == (UnplacedError(MAJOR, words="nicht"),)


def test_the_page_and_python_find_the_same_stretches(window: Page, tmp_path: Path) -> None:
    show(window, tmp_path, [PLAIN])
    for text, other in (
        ("", "a"),
        ("Ein Volga Fluss", "Ein breiter Wolga Fluss"),
        ("a b a b a", "b a b b"),
        ("我们都留下了。", "我们留下来了！"),
        ("snake_case: 12,5 %\n", "snake_case: 12.5 %\n\n"),
        ("café 👍🏽 gut", "café 👍 gut"),
    ):
        found = window.evaluate("([a, b]) => edits(a, b)", [text, other])
        units = Utf16Text(text).to_unit
        expected = [{"start": units(e.start), "end": units(e.end), "words": e.text} for e in edits(text, other)]
        assert found == expected, text


def test_what_a_correction_loses_or_invents_must_be_confirmed(window: Page, tmp_path: Path) -> None:
    coded = Rating(Segment("{name} hat %d Dateien.", "{name} has %d files.", key=SegmentKey(index=0)), "m", ())
    show(window, tmp_path, [coded])
    box = window.locator(".correction")
    warning = window.locator(".warning")
    push(window, "Correct the translation")
    expect(warning).to_be_hidden()
    box.fill("Er hat %s Dateien.")
    expect(warning).to_contain_text("{name} is lost. %d is lost. %s is not in the source.")
    window.keyboard.press("Control+Enter")
    expect(window.locator("#progress")).to_have_text("0 of 1 reviewed")
    box.fill("{name} besitzt %d Dateien.")
    expect(warning).to_be_hidden()
    box.fill("Sie besitzt %d Dateien.")
    push(window, "Keep it so")
    expect(window.locator(".corrected p")).to_have_text("Sie besitzt %d Dateien.")
    (rating,) = save(window, tmp_path)
    assert rating.segment.extra == {"corrected": "Sie besitzt %d Dateien."}


def test_inline_codes_are_shown_and_can_be_placed(window: Page, tmp_path: Path) -> None:
    text = """<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a"
 source-language="en" target-language="de" datatype="plaintext"><body><trans-unit id="1">
<source>Press <x id="OK" equiv-text="[OK]"/> <g id="b">here</g></source>
<target>Hier drücken</target></trans-unit></body></file></xliff>"""
    path = tmp_path / "a.xlf"
    path.write_text(text, encoding="utf-8")
    page = tmp_path / "page.html"
    assert main(["report", str(path), "--output", str(page)]) == 0
    with browser.without_problems(window):
        window.goto(page.as_uri())
        window.evaluate("localStorage.clear()")
        window.reload()
        expect(window.locator(".context p").first).to_have_text("Press [OK] <g b>here</g b>")
        expect(window.locator(".code")).to_have_text(["[OK]", "<g b>", "</g b>"])
        window.click("#edit")
        push(window, "Correct the translation")
        box = window.locator(".correction")
        expect(window.locator(".warning")).to_contain_text("<x OK> is lost. <g b> is lost. </g b> is lost.")
        box.evaluate("(box) => box.setSelectionRange(5, 5)")
        push(window, "Insert <x OK>")
        box.evaluate("(box) => box.setSelectionRange(0, 4)")
        push(window, "Insert <g b>…</g b>")
        expect(box).to_have_value("<g b>Hier</g b> <x OK>drücken")
        expect(window.locator(".warning")).to_be_hidden()
        window.keyboard.press("Control+Enter")
        (rating,) = save(window, tmp_path)
    reviewed = write(tmp_path / "reviewed.jsonl", [rating])
    copy = tmp_path / "copy.xlf"
    assert main(["convert", str(reviewed), str(copy), "--template", str(path)]) == 0
    target = '<target><g id="b">Hier</g> <x id="OK" equiv-text="[OK]"/>drücken</target>'
    assert target in copy.read_text(encoding="utf-8")
    again = next(iter(matese.read(copy)))
    assert (again.segment.hypothesis, again.rater, again.errors) == ("Hier drücken", "anna", ())


def test_a_low_expected_score_alone_is_no_reason_to_distrust(window: Page, tmp_path: Path) -> None:
    show(window, tmp_path, [replace(FREE, unplaced=(), estimate=Estimate(-5.25, "mqm"))])
    expect(window.locator(".row")).not_to_contain_text("expected score is")


def test_touch_at_400_pixels(window: Page, tmp_path: Path) -> None:
    opened = window.context.browser
    assert opened is not None
    with opened.new_page(viewport={"width": 400, "height": 800}, has_touch=True) as window:
        show(window, tmp_path, [PLAIN, FREE])
        editor = window.locator("#editor")
        with browser.without_problems(window):
            window.locator("mark.major").evaluate("(mark) => scrollBy(0, mark.getBoundingClientRect().bottom - 650)")
            window.locator("mark.major").tap()
            box = editor.bounding_box()
            assert box is not None
            assert (box["x"], box["width"], box["y"] + box["height"]) == (0, 400, 800)
            assert window.locator("mark.major").evaluate("(mark) => mark.getBoundingClientRect().bottom") < box["y"]
            assert all(one.bounding_box()["height"] >= 40 for one in editor.locator("fieldset button").all())  # type: ignore[index]
            editor.locator("button.minor").tap()
            expect(window.locator("mark.major")).to_have_count(0)
            window.locator("mark.minor").first.tap()
            editor.get_by_text("Remove").tap()
            drag(window, ".row .hypothesis p", "Er", "sah")
            editor.locator("button.critical").tap()
            window.get_by_role("button", name="No error").nth(1).tap()
            expect(window.locator("#progress")).to_have_text("2 of 2 reviewed")
            assert window.evaluate("document.documentElement.scrollWidth") <= 400
            ratings = save(window, tmp_path)
    assert marks(ratings) == [[("Er sah", CRITICAL, None), ("1999", MINOR, None)], []]


@pytest.mark.parametrize(
    ("rating", "first", "last", "expected"),
    [
        (PLAIN, "r sa", "r sa", "r sa"),
        (PLAIN, " sah ", " sah ", "sah"),
        (ODD, "caf", "cafe", "cafe\u0301"),  # not a letter without its accent
        (ODD, "\ud83d\udc4d", "\ud83d\udc4d", "👍🏽"),  # nor a thumb without its colour
        (ODD, "gut", "␛", "gut\x1b"),  # shown as a picture
        (ARABIC, "بالعالم", "هذا", "بالعالم هذا"),
    ],
)
def test_any_letters_become_a_mark(
    window: Page, tmp_path: Path, *, rating: Rating, first: str, last: str, expected: str
) -> None:
    show(window, tmp_path, [rating])
    push(window, "No error")
    to_utf16 = [text.encode("utf-16", "surrogatepass").decode("utf-16") for text in (first, last)]
    drag(window, ".row .hypothesis p", *to_utf16)
    window.keyboard.press("2")
    assert marks(save(window, tmp_path)) == [[(expected, MAJOR, None)]]


def pull(window: Page, first: str, last: str, key: str | None = None) -> str:
    """Drags the mouse from the middle of the first letter to the middle of the last one; returns what is highlighted.

    The letters are those of a translation, of which each is there once.
    """
    text = window.locator(".row .hypothesis p").first
    text.evaluate("(text) => text.scrollIntoView({ block: 'center' })")  # the bar covers the bottom
    points = text.evaluate(
        """(text, letters) => letters.map((letter) => {
          const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const at = walker.currentNode.data.indexOf(letter);
            if (at < 0) continue;
            const range = new Range();
            range.setStart(walker.currentNode, at);
            range.setEnd(walker.currentNode, at + letter.length);
            const { left, top, width, height } = range.getBoundingClientRect();
            return [left + 0.45 * width, top + height / 2];
          }
        })""",
        [first, last],
    )
    if key:
        window.keyboard.down(key)
    window.mouse.move(*points[0])
    window.mouse.down()
    window.mouse.move(*points[1], steps=4)
    browser.wait_for(window, "CSS.highlights.has('chosen')")
    highlighted: str = window.evaluate("[...CSS.highlights.get('chosen')].join('')")
    window.mouse.up()
    if key:
        window.keyboard.up(key)
    return highlighted


@pytest.mark.parametrize(
    ("hypothesis", "first", "last", "key", "expected"),
    [
        ("Der Zug hält oft.", "u", "ä", None, "Zug hält"),
        ("Der Zug hält oft.", "ä", "u", None, "Zug hält"),  # backwards
        ("Der Zug hält oft.", "D", "e", None, "Der"),
        ("Der Zug hält oft.", "f", ".", None, "oft"),
        ("Der Zug hält oft.", "Z", "ä", "Alt", "Zug h"),
        ("cafe\u0301 👍🏽 gut", "f", "u", None, "cafe\u0301 👍🏽 gut"),
        ("مرحبا بالعالم هذا", "ح", "ع", None, "مرحبا بالعالم"),
    ],
)
def test_the_mouse_chooses_whole_words(
    window: Page, tmp_path: Path, *, hypothesis: str, first: str, last: str, key: str | None, expected: str
) -> None:
    show(window, tmp_path, [Rating(Segment(hypothesis), "m", ())])
    chosen = window.locator("#editor q")
    with browser.without_problems(window):
        assert pull(window, first, last, key) == expected
        expect(chosen).to_have_text(f"{expected}")
        window.wait_for_timeout(400)  # longer than a selection waits until it is read
        assert window.evaluate("getSelection().toString()") == expected
        window.keyboard.press("2")
    assert marks(save(window, tmp_path)) == [[(expected, MAJOR, None)]]


def test_words_that_are_chosen_are_not_dragged_themselves(window: Page, tmp_path: Path) -> None:
    show(window, tmp_path, [Rating(Segment("Der Zug hält oft."), "m", ())])
    for last, expected in (("ä", "Zug hält"), ("D", "Der Zug"), ("f", "Zug hält oft")):
        assert pull(window, "u", last) == expected
        expect(window.locator("#editor q")).to_have_text(expected)


THREE = Rating(Segment("one two three four"), "m", tuple(ErrorSpan(at, at + 3, MINOR) for at in (0, 4, 8)))


def test_n_goes_on_where_a_mark_was_removed(window: Page, tmp_path: Path) -> None:
    show(window, tmp_path, [THREE])
    window.locator(".row").focus()
    for key in "nnxn":
        window.keyboard.press(key)
    expect(window.locator("mark:focus")).to_have_text("thr")


def test_a_comment_is_shown_to_readers(window: Page, tmp_path: Path) -> None:
    commented = replace(FREE, segment=replace(FREE.segment, extra={"comment": "The verb?"}))
    show(window, tmp_path, [commented])
    expect(window.get_by_text("The verb?")).to_have_count(0)
    window.click("#edit")
    expect(window.get_by_text("The verb?")).to_be_visible()
    window.reload()
    expect(window.get_by_text("The verb?")).to_be_visible()


def test_a_click_chooses_a_word_and_undo_takes_it_back(window: Page, tmp_path: Path) -> None:
    show(window, tmp_path, [PLAIN])
    before = window.locator("mark").all_inner_texts()
    window.locator(".hypothesis p").click(position={"x": 30, "y": 16})
    expect(window.locator("#editor q")).to_have_text("sah")
    window.fill("#editor input", "Fluency/Grammar")
    window.click("#editor button.major")
    expect(window.locator("#progress")).to_have_text("1 of 1 reviewed")
    assert window.locator("mark").all_inner_texts() == ["sah", *before]
    for _ in range(2):  # the second has nothing to take back
        window.keyboard.press("Control+z")
        expect(window.locator("#progress")).to_have_text("0 of 1 reviewed")
    assert window.locator("mark").all_inner_texts() == before
    assert window.locator("#told").inner_text() == "Nothing to undo."


def test_progress_is_kept_and_what_is_not_reviewed_is_left_out(window: Page, tmp_path: Path) -> None:
    show(window, tmp_path, [PLAIN, ODD, FREE])
    window.locator(".comment").nth(1).fill("what?")
    push(window, "Marks are right")
    window.fill("#reviewer", "anna")
    window.keyboard.press("Tab")
    window.reload()
    expect(window.locator("#progress")).to_have_text("1 of 3 reviewed")
    assert window.locator(".comment").nth(1).input_value() == "what?"
    assert window.locator("#reviewer").input_value() == "anna"
    (rating,) = save(window, tmp_path)
    assert rating.segment == PLAIN.segment
    assert [(e.start, e.end, e.severity, e.category) for e in rating.errors or ()] == [
        (e.start, e.end, e.severity, e.category) for e in PLAIN.errors or ()
    ]
    assert "2 translations not reviewed are left out (1 comment with them)" in window.locator("#told").inner_text()
    for shown, count in (("open", 2), ("reviewed", 1), ("comment", 1), ("all", 3)):
        window.select_option("#reviewed", shown)
        browser.expect_status(window, f"{count} of 3")


def test_marks_that_the_slider_hides_are_not_confirmed(window: Page, tmp_path: Path) -> None:
    show(window, tmp_path, [PLAIN])
    window.fill("#certain", "50")
    expect(window.locator("mark")).to_have_count(1)
    push(window, "Marks are right")
    assert marks(save(window, tmp_path)) == [[("Hanna", MAJOR, "Accuracy")]]


def test_words_that_one_of_several_systems_lacks(window: Page, tmp_path: Path) -> None:
    segment = Segment("Er sah 😀.", "He saw Anna.", ("😀 Er sah Anna.",), SegmentKey(index=0))
    show(window, tmp_path, [Rating(segment, "m", ())], [Rating(segment, "m", ())])
    window.locator(".context p").last.click(position={"x": 85, "y": 12})
    expect(window.locator("#editor q")).to_have_text("Anna")
    window.select_option("#editor select", "1")
    window.click("#editor button.major")
    (rating,) = save(window, tmp_path)
    assert rating.segment.key is not None
    assert (rating.segment.key.system, rating.omissions) == ("b", (Omission("reference", 0, 9, 13, MAJOR),))


def test_only_some_of_two_thousand_segments_are_drawn(window: Page, tmp_path: Path) -> None:
    words = ["der", "Hund", "und", "die", "Katze", "am", "See"]
    ratings = [
        Rating(Segment(" ".join(words * (1 + i % 9)), "dog", (), SegmentKey(index=i)), "m", (ErrorSpan(0, 3, MINOR),))
        for i in range(2000)
    ]
    show(window, tmp_path, ratings)
    assert window.locator(".row").count() < 120
    window.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
    browser.wait_for(window, "[...document.querySelectorAll('.row')].at(-1).dataset.row == '1999'")
    push(window, "No error", -1)
    ratings = save(window, tmp_path)
    assert ratings[-1].segment.key == SegmentKey(index=1999)
    assert ratings[-1].errors == ()


PO = """msgid ""
msgstr ""
"Language: de\\n"
"Content-Type: text/plain; charset=UTF-8\\n"

msgid "Delete 😀 file"
msgstr "Lösche 😀 Datei"

msgid "Open"
msgstr "Öffnen"
"""


def test_round_trip_into_the_files_that_people_have(window: Page, tmp_path: Path) -> None:
    po = tmp_path / "de.po"
    csv = tmp_path / "t.csv"
    po.write_text(PO, encoding="utf-8")
    csv.write_text("source,target,owner\nOpen,Öffnen 😀 jetzt,kim\n", encoding="utf-8")
    for given, out, options in ((po, "out.po", ("--template", str(po))), (csv, "out.csv", ())):
        show(window, tmp_path, list(matese.read(given)))
        drag(window, ".row .hypothesis p", "😀", "Datei" if given == po else "jetzt")
        window.keyboard.press("3")
        window.locator(".comment").first.fill("why?")
        save(window, tmp_path)
        (saved,) = tmp_path.glob("*.anna.jsonl")
        target = tmp_path / out
        assert main(["convert", str(saved), str(target), *options]) == 0
        saved.unlink()
        (back,) = [rating for rating in matese.read(target) if rating.errors is not None]
        assert back.rater == "anna"
        assert marks([back]) == [[("😀 Datei" if given == po else "😀 jetzt", CRITICAL, None)]]
    assert back.segment.extra == {"owner": "kim", "comment": "why?"}


def test_rules_of_accessibility(window: Page, tmp_path: Path) -> None:
    show(window, tmp_path, [PLAIN, ARABIC], [PLAIN, FREE])
    window.click("summary:has-text('Keys')")

    def broken() -> list[str]:
        return [f"{one['id']}: {one['nodes'][0]['html']}" for one in Axe().run(window).response["violations"]]

    try:
        for scheme in ("light", "dark"):
            window.emulate_media(color_scheme=scheme)
            assert broken() == []
            window.locator("mark").first.click()
            assert broken() == []
            drag(window, ".row .context p", "He", "saw")
            assert broken() == []
            window.keyboard.press("1")
            window.set_viewport_size({"width": 400, "height": 800})
            assert broken() == []
            window.set_viewport_size({"width": 1200, "height": 900})
    finally:
        window.emulate_media(color_scheme="light")


def test_the_server_saves_in_one_file(window: Page, tmp_path: Path) -> None:
    given = write(tmp_path / "given.jsonl", [PLAIN, FREE])
    saved = tmp_path / "given.reviewed.jsonl"
    before = given.read_bytes()
    with started(str(given)) as (_, address):
        with browser.without_problems(window):
            window.goto(address)
            window.evaluate("localStorage.clear()")
            window.fill("#reviewer", "anna")
            window.keyboard.press("Tab")
            push(window, "Marks are right")
            window.locator(".comment").first.fill("why?")
            expect(window.locator("#told")).to_have_text(
                "Saved 1 rating in given.reviewed.jsonl. 1 translation not reviewed is left out."
            )
            browser.wait_for(window, "document.getElementById('told').textContent.startsWith('Saved')")
            window.wait_for_timeout(1000)
            window.evaluate("localStorage.clear()")
            window.reload()
            expect(window.locator("#progress")).to_have_text("1 of 2 reviewed")
            assert window.locator(".comment").first.input_value() == "why?"
            assert window.locator("#reviewer").input_value() == "anna"
        line = saved.read_text(encoding="utf-8")
        assert json.loads(line)["comment"] == "why?"
        other = jsonl.dumps(Rating(Segment("x"), "eve", ()))
        kind = {"Content-Type": "application/jsonl"}
        for body, headers, code in (
            (line, {"Content-Type": "text/plain"}, 415),
            (line, kind | {"Host": "evil.example"}, 400),
            (other, kind, 422),
            (line + line, kind, 422),
            ("{", kind, 422),
            (b"\xff", kind, 422),
            (line, kind | {"If-Match": '"another"'}, 412),
            (line, kind, 200),  # of a script, which shows nothing that could be out of date
        ):
            assert httpx.post(f"{address}ratings", content=body, headers=headers).status_code == code
        assert saved.read_text(encoding="utf-8") == line
        push(window, "Review again")
        browser.wait_for(window, "document.getElementById('told').textContent.startsWith('Saved 0')")
        assert saved.read_text(encoding="utf-8") == ""
        window.reload()
        expect(window.locator("#progress")).to_have_text("0 of 2 reviewed")
    assert given.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["given.jsonl", "given.reviewed.jsonl"]


def test_a_finding_that_a_reader_accepts_is_written_for_the_gate(window: Page, tmp_path: Path) -> None:
    found = Rating(Segment("15 Dateien", "17 files", key=SegmentKey(index=0)), "matese|checks:all", ())
    found = replace(found, errors=(ErrorSpan(0, 2, MAJOR, "Number", rule="numbers"),))
    given = write(tmp_path / "given.jsonl", [found])
    accepted = tmp_path / "matese-accepted.jsonl"
    with started(str(given)) as (_, address), browser.without_problems(window):
        window.goto(address)
        window.evaluate("localStorage.clear()")
        window.fill("#reviewer", "anna")
        window.locator("mark").click()
        push(window, "Accept: no error")
        expect(window.locator("#told")).to_have_text("Saved 1 rating in given.reviewed.jsonl.")
        (line,) = map(json.loads, accepted.read_text(encoding="utf-8").splitlines())
        assert (line["rule"], line["words"], line["who"]) == ("numbers", "15", "anna")
        push(window, "Undo")
        expect(window.locator("#told")).to_have_text(re.compile("^Saved 0 ratings"))
    assert accepted.read_text(encoding="utf-8") == ""


def test_what_the_server_has_not_saved_is_kept_until_it_has(window: Page, tmp_path: Path) -> None:
    given = write(tmp_path / "given.jsonl", [PLAIN, FREE])
    saved = tmp_path / "given.reviewed.jsonl"
    told = window.locator("#told")
    with started(str(given)) as (_, address):
        window.goto(address)
        window.evaluate("localStorage.clear()")
        window.reload()
        push(window, "Marks are right")
        expect(window.locator("#unnamed")).to_be_visible()
        window.fill("#reviewer", "anna")
        window.keyboard.press("Tab")
        expect(window.locator("#unnamed")).to_be_hidden()
        expect(told).to_have_text(re.compile("^Saved 1"))
    window.locator("mark.major").click()
    push(window, "3 Critical")
    expect(told).to_have_text(re.compile("^Not saved"))
    with started(str(given), "--port", address.rstrip("/").rpartition(":")[2]), browser.without_problems(window):
        window.reload()
        expect(window.locator("mark.critical")).to_have_count(1)
        expect(told).to_have_text(re.compile("^Saved 1"))
        assert marks(list(jsonl.read(saved)))[0][0] == ("Hanna", CRITICAL, "Accuracy")
        assert window.evaluate("Object.keys(localStorage)") == ["matese:reviewer"]


def test_pages_do_not_undo_what_another_page_has_saved(window: Page, tmp_path: Path) -> None:
    given = write(tmp_path / "given.jsonl", [PLAIN, ODD, FREE])
    saved = tmp_path / "given.reviewed.jsonl"
    opened = window.context.browser
    assert opened is not None
    with started(str(given)) as (_, address), opened.new_page() as other:
        window.goto(address)
        window.evaluate("localStorage.clear()")
        other.goto(address)
        for page, name, numbers in ((window, "anna", (0, 1)), (other, "ben", (1, 2))):
            page.fill("#reviewer", name)
            page.keyboard.press("Tab")
            for number in numbers:
                page.locator(".row").nth(number).get_by_role("button", name="No error").click()
            expect(page.locator("#told")).to_have_text(
                re.compile("^Saved 2" if page is window else "^Not saved: another")
            )
        other.locator(".row").nth(1).locator(".comment").fill("mine")
        expect(other.locator("#told")).to_have_text(re.compile("^Not saved: another"))
        assert [rating.segment for rating in jsonl.read(saved)] == [PLAIN.segment, ODD.segment]
        other.reload()
        expect(other.locator("#progress")).to_have_text("3 of 3 reviewed")
        expect(other.locator("#told")).to_have_text(re.compile("^Saved 3.* 1 translation that you changed"))
        assert [rating.segment.extra for rating in jsonl.read(saved)] == [None, None, None]

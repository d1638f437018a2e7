from __future__ import annotations

import re
from html.parser import HTMLParser

from matese.annotation import ErrorSpan, Omission, Overall, Rating, Segment, Severity, UnplacedError
from matese.render import notebook

MINOR = Severity.MINOR
MAJOR = Severity.MAJOR


class Page(HTMLParser):
    """What a browser would make of it: balanced tags, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_texts_are_escaped_and_whole() -> None:
    text = "<script>a & b</script> 😀 \"'"
    html = notebook.html(Rating(Segment(text, text, (text,)), text, (ErrorSpan(0, 8, MAJOR, "<b>"),)))
    page = Page(html)
    assert page.open == []
    assert page.tags == {"div", "span", "mark", "sub"}
    assert page.text.replace("major <b>", "").count(text) == 4


def test_what_would_reorder_the_page_is_shown() -> None:
    html = notebook.html(Rating(Segment("a\u202eb\n\x1bc"), "r\u2066", (ErrorSpan(0, 2, MAJOR, "x\u202e"),)))
    assert Page(html).text == "hypothesis a<U+202E>major x<U+202E>b\n␛cscore -5rater r<U+2066>"


def test_severities_are_told_by_name_and_line() -> None:
    spans = [ErrorSpan(i, i + 1, severity) for i, severity in enumerate((None, *Severity))]
    html = notebook.html(Rating(Segment("abcde"), None, tuple(spans)))
    assert re.findall(r"<sub>(\w+)</sub>", html) == ["undecided", "neutral", "minor", "major", "critical"]
    assert len(set(re.findall(r"border-bottom:[^\"]+", html))) == 5
    assert "color:inherit" in html


def test_missing_words_are_marked_in_their_text() -> None:
    omissions = (
        Omission("source", None, 0, 3, MAJOR, "Accuracy/Omission", 0.61),
        Omission("reference", 1, 0, 1, MINOR),
    )
    html = notebook.html(Rating(Segment("a", "not b", ("c", "d")), None, (), omissions=omissions))
    assert (
        Page(html).text
        == "source notmajor missing Accuracy/Omission 61% bhypothesis areference 1 creference 2 dminor missingscore -6"
    )
    assert html.count("border:2px dashed") == 2
    assert "border-bottom" not in html


def test_overlapping_spans_and_what_has_no_place() -> None:
    errors = (ErrorSpan(0, 5, MINOR, "Style", 0.25), ErrorSpan(2, 5, MAJOR))
    rating = Rating(
        Segment("ab cd"), "me", errors, unplaced=(UnplacedError(MAJOR, "Omission"),), overall=Overall(70, "esa")
    )
    page = Page(notebook.html(rating))
    expected = [
        "hypothesis ab cdminor Style 25%major",
        "score -11",
        "without a place major Omission",
        "overall (esa) 70",
        "rater me",
    ]
    assert page.text == "".join(expected)
    assert "errors not annotated" in Page(notebook.html(Rating(Segment(""), None, None))).text


def test_a_list_shows_its_mean_score_and_a_common_rater_once() -> None:
    ratings = [Rating(Segment("ab"), "anna", (ErrorSpan(0, 1, MAJOR),)), Rating(Segment("c"), "anna", ())]
    text = Page(notebook.html_list(ratings)).text
    assert text.count("anna") == 1
    assert text.endswith("mean score of 2 ratings -2.5rater anna")
    others = [ratings[0], Rating(Segment("c"), "ben", None)]
    assert (
        Page(notebook.html_list(others)).text
        == "hypothesis amajorbscore -5rater annahypothesis cerrors not annotatedrater ben"
    )

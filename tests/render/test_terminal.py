import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from matese import mqm
from matese.annotation import (
    ErrorSpan,
    Estimate,
    Omission,
    Overall,
    Rating,
    Segment,
    SegmentKey,
    Severity,
    UnplacedError,
)
from matese.render import terminal
from matese.render.labels import show

MINOR = Severity.MINOR
MAJOR = Severity.MAJOR
SIGNATURE = "matese|model:mini@1a2b3c4d|version:0.1.0"


def rating(hypothesis: str, *errors: ErrorSpan, references: tuple[str, ...] = (), source: str | None = None) -> Rating:
    segment = Segment(hypothesis, source, references, SegmentKey(system="mt", index=2))
    return Rating(segment, SIGNATURE, errors, estimate=Estimate(-3.456, "mqm"))


def drawn(rating: Rating, width: int = 40) -> str:
    return terminal.draw(rating, width=width).plain


def with_escapes(text: Text, **options: bool) -> str:
    console = Console(file=io.StringIO(), force_terminal=True, color_system="standard", soft_wrap=True, **options)  # type: ignore[arg-type]
    with console.capture() as capture:
        console.print(text, end="")
    return capture.get()


@pytest.mark.parametrize(
    ("text", "spans", "expected"),
    [
        ("", [], ""),
        ("abc", [], "abc"),
        ("abc", [ErrorSpan(0, 3, MAJOR)], "[[abc]]"),
        ("abc", [ErrorSpan(0, 1, MINOR), ErrorSpan(1, 3, MAJOR)], "[a][[bc]]"),
        ("abc", [ErrorSpan(0, 2, MINOR, confidence=0.5), ErrorSpan(1, 3, MAJOR, confidence=1.0)], "[a[[b]₅₀c]]₁₀₀"),
        ("abc", [ErrorSpan(0, 3, MINOR), ErrorSpan(1, 2, MAJOR)], "[a[[b]]c]"),
        ("abc", [ErrorSpan(0, 3, MINOR, confidence=0.5), ErrorSpan(1, 3, MAJOR, confidence=1.0)], "[a[[bc]]₁₀₀]₅₀"),
        ("abc", [ErrorSpan(0, 3, MINOR, confidence=0.5), ErrorSpan(0, 3, MAJOR, confidence=1.0)], "[[[abc]₅₀]]₁₀₀"),
        ("abc", [ErrorSpan(0, 3, MINOR), ErrorSpan(0, 1, MAJOR)], "[[[a]]bc]"),
        ("a  b", [ErrorSpan(1, 3, MINOR)], "a[  ]b"),
        ("abc", [ErrorSpan(0, 1, Severity.CRITICAL), ErrorSpan(1, 2, Severity.NEUTRAL)], "[[[a]]]{b}c"),
        ("abc", [ErrorSpan(0, 1, None)], "{?a?}bc"),
        ("a\x1bb\tc", [ErrorSpan(2, 4, MAJOR)], "a␛[[b␉]]c"),
        ("e\u0301e", [ErrorSpan(1, 2, MINOR)], "e[◌\u0301]e"),
        ("a👩‍👩‍👧b", [ErrorSpan(1, 6, MINOR, confidence=0.004)], "a[👩‍👩‍👧]₀b"),
    ],
)
def test_marks(text: str, spans: list[ErrorSpan], expected: str) -> None:
    assert terminal.mark_spans(text, spans).plain == expected


def test_marks_do_not_depend_on_order() -> None:
    spans = [ErrorSpan(0, 2, MINOR), ErrorSpan(1, 3, MAJOR), ErrorSpan(0, 2, MAJOR)]
    assert terminal.mark_spans("abc", spans) == terminal.mark_spans("abc", spans[::-1])


spans = st.builds(
    lambda start, n, severity: ErrorSpan(start, start + n, severity),
    st.integers(0, 5),
    st.integers(1, 3),
    st.sampled_from(Severity),
)


@given(st.text(st.sampled_from("ab \x1b\u202e中é"), min_size=8, max_size=12), st.lists(spans, max_size=5))
def test_without_marks_the_text_is_what_it_was(text: str, errors: list[ErrorSpan]) -> None:
    plain = terminal.mark_spans(text, errors).plain
    assert plain.translate(dict.fromkeys(map(ord, "[]{}"))) == show(text)


def test_block() -> None:
    hypothesis = "Das Museum ist montags geöffnet."
    result = rating(
        hypothesis,
        ErrorSpan(23, 31, MAJOR, confidence=0.81),
        references=("Das Museum ist montags geschlossen.",),
        source="The museum is closed on Mondays.",
    )
    assert drawn(result) == (
        "mt, segment 3   score -5   expected score -3.46\n"
        "  src  The museum is closed on Mondays.\n"
        "  hyp  Das Museum ist montags\n"
        "       [[geöffnet]]₈₁.\n"
        "  ref  Das Museum ist montags\n"
        "       geschlossen.\n"
    )


def test_several_references_align() -> None:
    assert drawn(rating("a", references=("b", "c"), source="d")) == (
        "mt, segment 3   score 0   expected score -3.46\n  src    d\n  hyp    a\n  ref 1  b\n  ref 2  c\n"
    )


@pytest.mark.parametrize(
    ("hypothesis", "shown"), [("", "(empty)"), ("  ", "(blank)"), ("\u3000", "(blank)"), ("\t", "␉")]
)
def test_blank_hypothesis(hypothesis: str, shown: str) -> None:
    assert drawn(rating(hypothesis)).splitlines()[1] == f"  hyp  {shown}"
    assert not hypothesis or "[" in drawn(rating(hypothesis, ErrorSpan(0, 1, MINOR)))


def test_human_rating() -> None:
    segment = Segment("ab cd", "xy", key=SegmentKey(system="Online-A", document="news.1", index=4))
    errors = (ErrorSpan(0, 2, MAJOR, "Accuracy/Mistranslation"), ErrorSpan(3, 5, None))
    result = Rating(
        segment,
        "rater1",
        errors,
        source_errors=(ErrorSpan(0, 1, MINOR),),
        unplaced=(UnplacedError(MAJOR, "Accuracy/Omission"),),
        overall=Overall(71, "esa"),
    )
    assert terminal.draw(result, width=90, weights=mqm.MATESE).plain == (
        "Online-A, news.1, segment 5   score -11   esa 71.00\n"
        "  src  [x]y\n"
        "  hyp  [[ab]] {?cd?}\n"
        "  err  ab: Major Accuracy/Mistranslation; Major Accuracy/Omission (no place)\n"
    )


def test_missing_words_are_marked_in_their_text() -> None:
    segment = Segment("Er kommt.", "He is not coming.", ("Er kommt nicht.", "Er 😀 kommt nicht."))
    omissions = (
        Omission("source", None, 6, 9, MAJOR, "Accuracy/Omission", 0.61),
        Omission("reference", 0, 9, 14, MINOR),
        Omission("reference", 1, 11, 16, None, confidence=0.2),
    )
    result = Rating(segment, "m", (), source_errors=(ErrorSpan(0, 9, MINOR),), omissions=omissions)
    assert drawn(result, 90) == (
        "score -7\n"
        "  src    [He is [[-not-]]₆₁] coming.\n"
        "  hyp    Er kommt.\n"
        "  ref 1  Er kommt [-nicht-].\n"
        "  ref 2  Er 😀 kommt {?-nicht-?}₂₀.\n"
        "  err    not: Major Accuracy/Omission (missing)\n"
    )
    pairs = [(Omission("source", None, 0, 1, severity), ErrorSpan(0, 1, severity)) for severity in (MAJOR, MINOR)]
    styles = [terminal.mark_spans("a", [one]).spans[1].style for pair in pairs for one in pair]
    assert len(set(styles)) == 4


def test_rating_without_spans_or_key() -> None:
    assert drawn(Rating(Segment("ab"), None, None, overall=Overall(0.5, "0-1"))) == "0-1 0.50\n  hyp  ab\n"


def test_weights_make_the_score() -> None:
    marked = rating("a", ErrorSpan(0, 1, MINOR, "Fluency/Punctuation"))
    assert "score -0.1 " in terminal.draw(marked, width=80, weights=mqm.GOOGLE).plain


def test_nothing_in_a_text_acts_on_the_terminal() -> None:
    hypothesis = "\x1b[2J\x9b31m [red]a[/red] :smile: \x07\r\u202e"
    escapes = with_escapes(
        terminal.draw(rating(hypothesis, ErrorSpan(9, 11, MINOR), references=(hypothesis,)), width=99)
    )
    # Every escape sequence is one that sets a style, and none of them is from the text.
    assert all(part.split("m")[0].replace(";", "").isdigit() for part in escapes.split("\x1b[")[1:])
    plain = Text.from_ansi(escapes).plain
    assert "␛[2J<U+009B>31m [red]a[/red] :smile: ␇␍<U+202E>" in plain


def test_severities_differ_in_form_without_colour() -> None:
    for options in ({}, {"no_color": True}):
        escapes = {
            severity: with_escapes(terminal.mark_spans("a", [ErrorSpan(0, 1, severity)]), **options)
            for severity in (MAJOR, MINOR)
        }
        assert "\x1b[1" in escapes[MAJOR]
        assert "\x1b[4" in escapes[MINOR]
        assert ("41" in escapes[MAJOR]) == (not options)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("שלום, עולם!", ["\u2067שלום, עולם!\u2069"]),
        ("Er sagte שלום.", ["\u2066Er sagte שלום.\u2069"]),
        ("אבג דהו זחט", ["\u2067אבג דהו\u2069", "\u2067זחט\u2069"]),
        ("12 אבג", ["\u206712 אבג\u2069"]),
        ("Straße", ["Straße"]),
    ],
)
def test_direction_of_a_text_is_its_own(text: str, expected: list[str]) -> None:
    width = 7 + (8 if len(expected) > 1 else 20)
    lines = drawn(rating("x", references=(text,)), width).splitlines()[2:]
    assert [line[7:] for line in lines] == expected


def test_legend() -> None:
    missing = "\n[[-Words-]]  missing in the translation"
    assert terminal.legend().plain == f"[[Major]]₈₀  [Minor]₄₀  with the confidence in %; dim below 25{missing}"
    assert terminal.legend(has_confidence=False).plain == f"[[Major]]  [Minor]  {missing}"
    styles = [
        terminal.mark_spans("ab", [ErrorSpan(0, 1, Severity.MAJOR, confidence=p)]).spans[1].style for p in (0.2, 0.25)
    ]
    assert styles == ["bold white on red dim", "bold white on red"]


def test_table() -> None:
    assert terminal.table(["system", "score"], [["mt\x1b", "-1.25"], ["系统", "0"]]).plain == (
        "system  score\nmt␛     -1.25\n系统        0\n"
    )
    assert terminal.table(["a", "b"], []).plain == "a  b\n"


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (None, "a   bb  cc\nxy   1   2\n"),
        (10, "a   bb  cc\nxy   1   2\n"),
        (9, "a   bb\nxy   1\n\na   cc\nxy   2\n"),
        (1, "a   bb\nxy   1\n\na   cc\nxy   2\n"),
    ],
)
def test_a_table_that_is_too_wide_is_divided(width: int | None, expected: str) -> None:
    assert terminal.table(["a", "bb", "cc"], [["xy", "1", "2"]], width).plain == expected

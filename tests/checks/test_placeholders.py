from __future__ import annotations

import pytest

from matese.annotation import ErrorSpan, Segment, SegmentKey
from matese.checks import addresses, placeholders
from matese.checks.rule import Texts


def found(source: str, hypothesis: str, pair: str = "en-de") -> tuple[list[str], list[str]]:
    """What is lost, as it stands in the source, and what is invented, as it stands in the hypothesis."""
    errors = list(placeholders.find(Texts(Segment(hypothesis, source, key=SegmentKey(lang_pair=pair)))))
    lost = [source[error.start : error.end] for error in errors if not isinstance(error, ErrorSpan)]
    return lost, [hypothesis[error.start : error.end] for error in errors if isinstance(error, ErrorSpan)]


@pytest.mark.parametrize(
    ("source", "hypothesis"),
    [
        ("", ""),
        ("50% discount, 5 % off, 5 %, 100%", "50 % Rabatt"),
        ("%s of %d", "%d von %s"),
        ("%s of %d", "%2$d von %1$s"),
        ("%1$s sent %2$d", "%2$d von %1$s"),
        ("up to %d%% of %@", "%2$@: bis %1$d%%"),
        ("Page %1 of %L2", "Seite %1 von %L2"),
        ("<0>Read</0> <1/>", "<1/> <0>Lesen</0>"),
        ("{ $user } has { -term }", "{-term} hat {$user}"),
        ("{{count}} of ${total} at %{place}", "%{place}: ${ total } von {{ count }}"),
        ("See $t(home.title)", "Siehe $t( home.title )"),
        ("{1>bold<1}", "{1>fett<1}"),
        ('<a href="en">x</a>', '<a href="de">y</a>'),
        ("R&amp;D {as it is said}", "R&D {wie man sagt}"),
        ("a < b and c > d", "kleiner"),
        ("{price, number, currency}", "{price, number, percent}"),
        # What users are asked to fill in; formats of dates; formats of values.
        ("git add <file>... <<original>>", "git add <Datei>... <<Original>>"),
        ("%I:%M %p", "%H:%M"),
        ("%d%% of files done, {0:.2f} {name!r} {{ n|upper }}", "%%%d, {0:,.1f} {name} {{ n | upper }}"),
        ("\\text[pi]", "\\text{pi}"),
        ("%1$s is here", "%1$s está aquí: %1$s"),
        # Messages in ICU's syntax: their texts are translated, and languages have other plural forms.
        ("{n, plural, one {file} other {files}}", "{n, plural, one {Datei} other {Dateien}}"),
        ("{n, plural, one {# file} other {# files}}", "{n, plural, one {x} few {y} many {z} other {v}}"),
    ],
)
def test_nothing_is_lost(source: str, hypothesis: str) -> None:
    assert found(source, hypothesis) == ([], [])


@pytest.mark.parametrize(
    ("source", "hypothesis", "lost", "invented"),
    [
        ("%s and %s", "%s", ["%s"], []),
        ("%s sent %d", "%1$s", ["%d"], []),
        ("%(name)s {0} %1$d", "", ["%(name)s", "{0}", "%1$d"], []),
        ("%1 of %2", "1% von %2", ["%1"], []),
        ("<b>x</b><br/>", "<b>y</b>", ["<br/>"], []),
        ("<0>x</0>", "y", ["<0>", "</0>"], []),
        ("Hi {user}", "Hallo {usuario}", ["{user}"], ["{usuario}"]),
        ("Hi { $user }", "Hallo", ["{ $user }"], []),
        ("$t(a.b)", "$t(a.c)", ["$t(a.b)"], ["$t(a.c)"]),
        ("Hi", "Hallo {name}", [], ["{name}"]),
        ("{1>bold<1}", "fett", ["{1>", "<1}"], []),
        ("Size: {0:.2f} MB {total:,} {!r}", "MB", ["{0:.2f}", "{total:,}", "{!r}"], []),
        ("%'d of %*d %<PRIu32>", "von", ["%'d", "%*d", "%<PRIu32>"], []),
        ("{{#if x}}Yes{{/if}}", "Ja", ["{{#if x}}", "{{/if}}"], []),
        ("Press <key>F1</key>, <b>now", "F1", ["<key>", "</key>", "<b>"], []),
        ("Deleted %s", "%s gelöscht aus %s", [], ["%s"]),
        ("Deleting %d files", "%d archivos en %s", [], ["%s"]),
        ("{n, plural, one {# file} other {# files}}", "Dateien", ["{n, plural, one {"], []),
        ("{n, plural, one {file} other {{who}}}", "{n, plural, other {er}}", ["{who}"], []),
    ],
)
def test_lost_and_invented(source: str, hypothesis: str, lost: list[str], invented: list[str]) -> None:
    assert found(source, hypothesis) == (lost, invented)


@pytest.mark.parametrize(
    ("source", "hypothesis", "lost", "wrong"),
    [
        # A message that ICU cannot read: without "other", and without a brace.
        ("{n, plural, one {# file} other {# files}}", "{n, plural, one {# Datei}}", [], None),
        ("{n, plural, one {# file} other {# files}}", "{n, plural, one {# Datei} weitere {# Dateien}}", [], None),
        ("{n, plural, one {# file} other {# files}}", "{n, plural, one {# Datei} other {# Dateien}", [], None),
        ("{n, plural, one {# file} other {# files}", "{n, plural, one {# Datei} other {# Dateien}", [], []),
        ("{n, plural, other {# files}}", "{n, plural, =0 {nichts} viele {x} other {# Dateien}}", [], ["viele"]),
        ("{g, select, male {his} other {their}}", "{g, select, er {sein} other {deren}}", ["male"], ["er"]),
    ],
)
def test_messages(source: str, hypothesis: str, lost: list[str], wrong: list[str] | None) -> None:
    assert found(source, hypothesis) == (lost, [hypothesis] if wrong is None else wrong)


@pytest.mark.parametrize(
    ("kinds", "source", "hypothesis", "n_errors"),
    [
        ((), "Deleting all", "%s löschen", 0),  # may be text
        (("printf",), "Deleting all", "%s löschen", 1),
        (("printf",), "Deleting %d", "Löschen", 1),
        (("no-printf",), "100 %d", "100", 0),
        (("no-braces",), "Use {name} %d", "Nimm %d", 0),
        (("braces",), "Use {name}", "Nimm es", 1),
    ],
)
def test_kinds_that_the_file_declares(kinds: tuple[str, ...], source: str, hypothesis: str, n_errors: int) -> None:
    segment = Segment(hypothesis, source, key=SegmentKey(lang_pair="en-de"), placeholder_kinds=kinds)
    assert len(list(placeholders.find(Texts(segment)))) == n_errors


def test_per_cent_signs_before_the_number_are_no_placeholders() -> None:
    assert found("%50 indirim", "50% off", "tr-en") == ([], [])
    assert found("50% off", "%50 indirim", "en-tr") == ([], [])


@pytest.mark.parametrize(
    ("source", "hypothesis", "lost"),
    [
        ("", "", []),
        ("See https://example.org/help.", "Siehe https://example.org/help!", []),
        ("See https://example.org/en/help/", "Siehe https://example.org/de/help", []),
        ("See http://www.example.org", "Siehe example: https://example.org/", []),
        ("Ask A@example.org", "Fragen Sie a@example.org", []),
        ("See https://example.org/help", "Siehe https://example.org/hilfe", ["https://example.org/help"]),
        ("Ask a.b@pets.org, please", "Fragen Sie", ["a.b@pets.org"]),
        ("Write to you@example.com", "Schreiben Sie an sie@exemple.com", []),
        (
            "https://example.org/docs/v2/install",
            "https://example.org/docs/v3/install",
            ["https://example.org/docs/v2/install"],
        ),
        ("https://en.wikipedia.org/wiki/Cat", "https://de.wikipedia.org/wiki/Katze", []),
        ("https://example.org/intro_en.html", "https://example.org/intro_de.html", []),
        ("https://example.org/english/docs", "https://example.org/german/docs", []),
        ("https://example.org/zero/1.0/", "https://example.org/zero/1.0/deed.de", []),
        ("twice www.example.org www.example.org", "www.example.org", ["www.example.org"]),
        ("@home and a @ b", "zu Hause", []),
        ("https://example.org/anglais/a", "https://example.org/a", ["https://example.org/anglais/a"]),
        ("https://example.org/english/a", "https://example.org/deutsch/a", []),
        ("https://example.org/englisch/a", "https://example.org/german/a", []),
    ],
)
def test_addresses(source: str, hypothesis: str, lost: list[str]) -> None:
    omissions = addresses.find(Texts(Segment(hypothesis, source, key=SegmentKey(lang_pair="en-de"))))
    assert [source[omission.start : omission.end] for omission in omissions] == lost

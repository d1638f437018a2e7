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
        # Messages in ICU's syntax: their texts are translated, and languages have other plural forms.
        ("{n, plural, one {file} other {files}}", "{n, plural, one {Datei} other {Dateien}}"),
        ("{n, plural, one {# file} other {# files}}", "{n, plural, one {x} few {y} many {z} other {v}}"),
        ("{sex, select, male {his {n} dog} other {their {n} dog}}", "{sex, select, other {{n} Hund}}"),
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
        ("{n, plural, one {# file} other {# files}}", "Dateien", ["{n, plural, one {"], []),
        ("{n, plural, one {file} other {{who}}}", "{n, plural, other {er}}", ["{who}"], []),
    ],
)
def test_lost_and_invented(source: str, hypothesis: str, lost: list[str], invented: list[str]) -> None:
    assert found(source, hypothesis) == (lost, invented)


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
        ("Ask a.b@example.org, please", "Fragen Sie", ["a.b@example.org"]),
        ("twice www.example.org www.example.org", "www.example.org", ["www.example.org"]),
        ("@home and a @ b", "zu Hause", []),
    ],
)
def test_addresses(source: str, hypothesis: str, lost: list[str]) -> None:
    omissions = addresses.find(Texts(Segment(hypothesis, source)))
    assert [source[omission.start : omission.end] for omission in omissions] == lost

"""PO files as gettext's tools and translators write them."""

from __future__ import annotations

import codecs
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from matese.annotation import ErrorSpan, Rating, Severity, UnplacedError
from matese.checks import checker, placeholders
from matese.checks.rule import Texts
from matese.errors import FormatError
from matese.formats.format import ReadOptions, WriteOptions
from matese.formats.localisation import translation_files
from tests.formats import reading
from tests.formats.localisation.noting import noted

HEADER = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
OPEN = 'msgid "Open"\nmsgstr "Offen"\n'
MAJOR = Severity.MAJOR
ARABIC = "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5);"


def read(folder: Path, text: str | bytes, **options: Any) -> tuple[list[Rating], list[str]]:
    path = folder / "texts.po"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return reading.read(path, **options)


@pytest.mark.parametrize(
    ("plural_forms", "numbers", "singular"),
    [
        (None, [0], None),
        (None, [0, 1], 0),
        ("nplurals=INTEGER; plural=EXPRESSION;", [0, 1], 0),
        ("nplurals=2; plural=n/0;", [0, 1], 0),
        ("nplurals=1; plural=0;", [0], None),
        ("nplurals = 1; plural = 0", [0], None),
        ("nplurals=2; plural=n != 1;", [0, 1], 0),
        ("nplurals=2; plural=n == 1;", [0, 1], 1),
        ("nplurals=2; plural=n != 1;", [0], 0),
        ("nplurals=2; plural=n != 1;", [1, 0], 0),
        (ARABIC, [0, 1, 2, 3, 4, 5], 1),
        (ARABIC, [5, 2], None),
    ],
)
def test_the_source_of_a_plural_form(
    tmp_path: Path, plural_forms: str | None, numbers: list[int], singular: int | None
) -> None:
    stated = f'"Plural-Forms: {plural_forms}\\n"\n' if plural_forms else ""
    forms = "".join(f'msgstr[{number}] "form {number}"\n' for number in numbers)
    ratings, _ = read(tmp_path, f'{HEADER}{stated}\n{OPEN}\nmsgid "one"\nmsgid_plural "many"\n{forms}')
    texts = [(rating.segment.hypothesis, rating.segment.source) for rating in ratings[1:]]
    assert texts == [(f"form {number}", "one" if number == singular else "many") for number in sorted(numbers)]


@pytest.mark.parametrize(
    ("plural_forms", "lacking"),
    [
        (None, [0, 1, 2, 3, 4, 5]),
        (ARABIC, [0, 1, 2]),
        ("nplurals=6; plural=n < 4 ? n : n < 9 ? 4 : 5;", [0, 1, 2, 3]),
        ("nplurals=6; plural=n%10==1 && n%100!=11 ? 0 : 1;", [2, 3, 4, 5]),
    ],
)
def test_a_form_for_one_number_may_leave_it_out(tmp_path: Path, plural_forms: str | None, lacking: list[int]) -> None:
    stated = f'"Plural-Forms: {plural_forms}\\n"\n' if plural_forms else ""
    forms = "".join(f'msgstr[{number}] "form"\n' for number in range(6))
    entry = f'msgid "%d file in %s"\nmsgid_plural "%d files in %s"\n{forms}'
    ratings, _ = read(tmp_path, f'{HEADER}{stated}\n{entry}\nmsgid "%d"\nmsgstr "x"\n')
    assert [number for number, rating in enumerate(ratings) if rating.segment.may_lack == ("%d",)] == lacking
    lost = [len(checker.check(rating.segment).omissions) for rating in ratings]
    assert lost == [1 if number in lacking else 2 for number in range(6)] + [1]


def test_the_only_form_must_have_the_number(tmp_path: Path) -> None:
    entry = 'msgid "%d file"\nmsgid_plural "%d files"\nmsgstr[0] "form"\n'
    (rating,), _ = read(tmp_path, f'{HEADER}"Plural-Forms: nplurals=1; plural=0;\\n"\n\n{entry}')
    assert len(checker.check(rating.segment).omissions) == 1


def test_notes_are_of_the_form_with_their_number(tmp_path: Path) -> None:
    forms = 'msgid "one"\nmsgid_plural "many"\nmsgstr[1] "viele"\nmsgstr[0] "eins"\n'
    note = '# [matese form 1] "ann"\n# Major error: »viele« [0..5]\n'
    ratings, issues = read(tmp_path, note + forms)
    assert ([rating.errors for rating in ratings], issues) == ([None, (ErrorSpan(0, 5, MAJOR),)], [])


@pytest.mark.parametrize(
    ("charset", "escaped", "text"),
    [
        ("UTF-8", r"gr\303\274n", "grün"),
        ("UTF-8", r"gr\xc3\xbcn", "grün"),
        ("UTF-8", 'gr\\303"\n"\\274n', "grün"),
        ("UTF-8", 'gr" "ün" "\\" \\"', 'grün" "'),  # strings that follow each other are one
        ("UTF-8", 'a "grün" b', 'a "grün" b'),
        ("ISO-8859-1", r"gr\374n\t\"\x41\\x41\0411", 'grün\t"A\\x41!1'),
    ],
)
def test_escapes_are_bytes_of_the_charset(tmp_path: Path, charset: str, escaped: str, text: str) -> None:
    header = HEADER.replace("UTF-8", charset)
    (rating,), _ = read(tmp_path, f'{header}\nmsgid "green"\nmsgstr "{escaped}"\n')
    assert rating.segment.hypothesis == text


def test_escapes_that_are_no_text(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"texts\.po:5: the text cannot be decoded"):
        read(tmp_path, f'{HEADER}\nmsgid "green"\nmsgstr "gr\\374n"\n')


@pytest.mark.parametrize("text", [f"{HEADER}\n{OPEN}", OPEN])
def test_a_byte_order_mark_stays_first(tmp_path: Path, text: str) -> None:
    raw = codecs.BOM_UTF8 + text.encode()
    (rating,), _ = read(tmp_path, raw)
    rated = replace(rating, rater="ann", errors=(ErrorSpan(0, 5, MAJOR),))
    assert rated.segment.hypothesis == "Offen"
    assert noted(tmp_path / "texts.po", [rated]).startswith(codecs.BOM_UTF8)


@pytest.mark.parametrize(
    ("language", "pair"),
    [("sr@latin", "en-sr_Latn"), ("ca@valencia", "en-ca_valencia"), ("de_AT.UTF-8@euro", "en-de_AT"), ("?", None)],
)
def test_locales_with_a_modifier(tmp_path: Path, language: str, pair: str | None) -> None:
    (rating,), _ = read(tmp_path, f'{HEADER}"Language: {language}\\n"\n\n{OPEN}')
    assert (rating.segment.key and rating.segment.key.lang_pair) == pair
    if pair:
        assert ReadOptions(lang_pair=f"en-{language}").lang_pair == pair


FUZZY = f'#, c-format, fuzzy\n#| msgid "Print"\nmsgid "Delete"\nmsgstr "Drucken"\n\n{OPEN}'


def test_a_fuzzy_entry_has_no_finished_translation(tmp_path: Path) -> None:
    (rating,), issues = read(tmp_path, f"{HEADER}\n{FUZZY}")
    assert (rating.segment.hypothesis, rating.segment.key and rating.segment.key.index) == ("Offen", 1)
    assert issues == ["5: skipped, unit whose translation is not finished"]
    (blank, _), _ = read(tmp_path, f"{HEADER}\n{FUZZY}", untranslated=True)
    assert (blank.segment.source, blank.segment.hypothesis) == ("Delete", "")
    rated = f'# [matese] "ann" (translations without a note have no errors)\n{HEADER}\n{FUZZY}'
    (blank, free), _ = read(tmp_path, rated, untranslated=True)
    assert (blank.unplaced, free.all_errors) == ((UnplacedError(MAJOR, "Non-translation"),), ())
    translation_files.save([free], tmp_path / "noted.po", WriteOptions(template=tmp_path / "texts.po"))


@pytest.mark.parametrize("flags", ["", "#, fuzzy\n", '#~| msgid "x"\n'])
def test_notes_of_an_obsolete_entry(tmp_path: Path, flags: str) -> None:
    note = '# [matese] "ann"\n# Major error: »weg« [0..3]\n'
    gone = '#~ msgid "gone"\n#~ msgstr "weg"\n'
    ratings, issues = read(tmp_path, f"{OPEN}\n{note}{flags}{gone}\n{OPEN.replace('Open', 'Shop')}")
    assert [(rating.segment.source, rating.errors) for rating in ratings] == [("Open", None), ("Shop", None)]
    assert issues == ["4: skipped, note of a text that is no longer used"]
    assert read(tmp_path, f"{OPEN}\n# old\n{flags}{gone}")[1] == []


FREE = '# [matese] "ann" (translations without a note have no errors)\n'
FORMS = 'msgid "one"\nmsgid_plural "many"\nmsgstr[0] "eins"\n'


@pytest.mark.parametrize("header", [HEADER, FREE + HEADER])
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('# [matese] "ann"\n# Majr error: »Offen«\n' + OPEN, "line of a note"),
        ('# [matese: "ann"]\n' + OPEN, "line of a note"),
        ('# [matese form 0] "ann"\n# Major error: »Offen«\n' + OPEN, "note of another plural form"),
        ('# [matese] "ann"\n# Major error: »eins«\n' + FORMS, "note of another plural form"),
        ('# [matese form 1] "ann"\n# Major error: »eins«\n' + FORMS, "note of another plural form"),
    ],
)
def test_what_is_not_understood_is_never_free_of_errors(tmp_path: Path, header: str, text: str, reason: str) -> None:
    ratings, issues = read(tmp_path, f"{header}\n{text}")
    assert {rating.errors for rating in ratings} == {None}
    (issue,) = issues
    assert re.fullmatch(rf"!\d+: ignored, {reason}", issue)


def test_another_note_in_the_header(tmp_path: Path) -> None:
    _, issues = read(tmp_path, f'{FREE}{FREE.replace("ann", "bob")}# [matese] "x"\n{HEADER}\n{OPEN}')
    assert [issue.partition(": ")[2] for issue in issues] == ["ignored, note in the header of the file"] * 2


@pytest.mark.parametrize(
    ("stated", "kinds"),
    [
        ("", []),
        ('"Language: fr\\n"\n', ["assumed,"]),
        ('"Language: fr\\n"\n"X-Source-Language: de\\n"\n', []),
    ],
)
def test_the_source_language_is_assumed(tmp_path: Path, stated: str, kinds: list[str]) -> None:
    _, issues = read(tmp_path, f"{HEADER}{stated}\n{OPEN}")
    assert [issue.split()[1] for issue in issues] == kinds
    assert reading.read(tmp_path / "texts.po", lang_pair="de-fr")[1] == []


@pytest.mark.parametrize("line", ["#. A button. max-length: 4", "#, max-length:4"])
def test_limits_of_length_are_read(tmp_path: Path, line: str) -> None:
    (rating,), _ = read(tmp_path, f"{HEADER}\n{line}\n{OPEN}")
    (error,) = checker.check(rating.segment).errors or ()
    assert (error.start, error.end, error.rule) == (4, 5, "length")


@pytest.mark.parametrize(
    ("flag", "target", "kinds"),
    [
        ("", "Zu %d", []),
        ("#, c-format\n", "Zu %d", ["Addition"]),
        ("#, no-python-format\n", "Zu 1", []),
        ("#, no-python-brace-format\n", "Zu {x}", []),
        ("#, python-brace-format\n", "Zu {x}", ["Addition"]),
    ],
)
def test_flags_say_which_placeholders_a_message_has(tmp_path: Path, flag: str, target: str, kinds: list[str]) -> None:
    text = f'{flag}msgid "By one"\nmsgstr "{target}"\n'
    (rating,), _ = read(tmp_path, text)
    errors = placeholders.find(Texts(rating.segment))
    assert [(error.category or "").split("/")[1] for error in errors] == kinds

"""Corrected translations in XLIFF and PO files: only what differs changes, and the marks go with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese.annotation import ErrorSpan, Omission, Rating, Segment, Severity, UnplacedError
from matese.errors import InputError
from matese.formats import corrections, writing
from matese.formats.format import ReadOptions, WriteOptions
from matese.formats.localisation import translation_files
from matese.formats.tables.headings import CORRECTED

XLIFF = """<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" source-language="en"
 target-language="de" datatype="plaintext"><body><trans-unit id="1"><source>x</source>\r
<target>{}</target><note>For the menu</note></trans-unit></body></file></xliff>"""
PO = """msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\n"

# by hand
#. Title of the menu
msgctxt "menu"
msgid "A river"
{}

msgid "Second"
msgstr "Zweiter"
"""
MAJOR = Severity.MAJOR
MINOR = Severity.MINOR


def written(path: Path, text: str, correction: str | None, *errors: ErrorSpan, rater: str = "anna") -> str:
    """Returns a file with the first translation corrected, and no notes if there are no errors."""
    path.write_bytes(text.encode())
    first, *rest = translation_files.read(path, ReadOptions(report=lambda issue: None))
    segment = replace(first.segment, extra={**(first.segment.extra or {}), CORRECTED: correction})
    ratings = [Rating(segment, rater, errors), *(Rating(rating.segment, rater, ()) for rating in rest)]
    copy = path.with_name("copy")
    translation_files.save(ratings, copy, WriteOptions(template=path))
    return copy.read_bytes().decode()


@pytest.mark.parametrize(
    ("target", "correction", "expected"),
    [
        ("Die Volga.", "Die Wolga.", "Die Wolga."),
        ("Klick <g id='1'>hier</g>.", "Drück dort.", "Drück <g id='1'>dort</g>."),
        ("<g id='1'>A<x id='2'/></g>", "A B", "<g id='1'>A B<x id='2'/></g>"),
        ("A &amp; B", "A & B < C", "A &amp; B &lt; C"),
        ("A &amp; B", "C", "C"),
        ("<![CDATA[<b>a</b>]]>", "<b>a & b</b>", "<![CDATA[<b>a & b</b>]]>"),
        ("a\r\nb 😀 c", "a\nb 😀 d", "a\r\nb 😀 d"),
        ("a<mrk mtype='x-sdl-deleted'>weg</mrk> b", "a c", "a<mrk mtype='x-sdl-deleted'>weg</mrk> c"),
        ("a b", "a <i>b</i>", "a &lt;i&gt;b&lt;/i&gt;"),
    ],
)
def test_inline_codes_of_xliff_stay(tmp_path: Path, target: str, correction: str, expected: str) -> None:
    text = written(tmp_path / "a.xlf", XLIFF.format(target), correction)
    before, _, rest = text.partition("<target>")
    corrected_target, _, after = rest.partition("</target>")
    assert corrected_target == expected
    assert before.endswith("<source>x</source>\r\n")
    assert after.endswith("<note>For the menu</note></trans-unit></body></file></xliff>")
    ElementTree.fromstring(text)


@pytest.mark.parametrize("correction", ["a\x01", "a\ud800"])
def test_what_xml_cannot_hold_is_refused(tmp_path: Path, correction: str) -> None:
    with pytest.raises(InputError, match="XML cannot hold"):
        written(tmp_path / "a.xlf", XLIFF.format("b"), correction)


@pytest.mark.parametrize(
    ("field", "correction", "expected"),
    [
        ('msgstr "Ein Fluss"', "Ein Strom", 'msgstr "Ein Strom"'),
        ('msgstr ""\n"Ein "\n"Fluss"', 'Ein "Strom" \\', 'msgstr ""\n"Ein "\n"\\"Strom\\" \\\\"'),
        ('msgstr "Ein\\n"\n"Fluss\\n"', "Ein\nStrom\n", 'msgstr "Ein\\n"\n"Strom\\n"'),
        # Lines that stay keep their escapes, and one that is gone leaves no empty one.
        ('msgstr ""\n"gr\\303\\274n "\n"rot "\n"blau"', "grün gelb", 'msgstr ""\n"gr\\303\\274n "\n"gelb"'),
        ('msgstr ""\n"A "\n"B"', "Ganz A B C", 'msgstr ""\n"Ganz A "\n"B C"'),
        ('msgstr ""\n"A "\n"B"', "A\nB", 'msgstr ""\n"A\\n"\n"B"'),
    ],
)
def test_only_the_string_of_po_changes(tmp_path: Path, field: str, correction: str, expected: str) -> None:
    text = written(tmp_path / "a.po", PO.format(field), correction)
    lines = text.splitlines()
    assert [line for line in lines if not line.startswith("# ")] == [
        line for line in PO.format(expected).splitlines() if not line.startswith("# ")
    ]
    assert "# by hand" in lines
    assert any(line.startswith("# Comment: Corrected from: ") for line in lines)


def test_marks_move_with_the_edit_and_none_is_lost(tmp_path: Path) -> None:
    errors = (ErrorSpan(4, 9, MAJOR, "Name"), ErrorSpan(14, 19, MINOR))
    text = written(tmp_path / "a.po", PO.format('msgstr "Die Volga ist lange."'), "Die Wolga hier ist lange.", *errors)
    assert "# Minor error: »lange« [19..24]" in text
    assert "# Comment: Corrected: »Volga« was marked as Major Name" in text
    again = next(iter(translation_files.read(tmp_path / "copy")))
    assert again.segment.hypothesis == "Die Wolga hier ist lange."
    assert again.errors == (ErrorSpan(19, 24, MINOR),)


@pytest.mark.parametrize(
    ("source", "target", "correction", "missing", "left"),
    [
        ("%d files", "Dateien", "%d Dateien", ["%d"], []),
        ("%d files", "Dateien", "Alle Dateien", ["%d"], ["%d"]),
        ("%d of %d files", "Dateien", "%d Dateien", ["%d", "%d"], ["%d"]),
        ("%d of %d files", "%d Dateien", "Die %d Dateien", ["%d"], ["%d"]),
        ("%d of %d files", "%d Dateien", "%d von %d Dateien", ["%d"], []),
        ("1,200.5 files", "Dateien", "1.200,5 Dateien", ["1,200.5"], []),
        ("12 files", "Dateien", "112 Dateien", ["12"], ["12"]),
        ("Anna waits", "Wartet", "Annas Hund wartet", ["Anna"], ["Anna"]),
        ("Anna waits", "Wartet", "Anna wartet", ["Anna"], []),
    ],
)
def test_what_the_correction_adds_is_no_longer_missing(
    source: str, target: str, correction: str, missing: Sequence[str], left: Sequence[str]
) -> None:
    at = 0
    omissions = []
    for words in missing:
        start = source.index(words, at)
        at = start + len(words)
        omissions.append(Omission("source", None, start, at, MAJOR, "Accuracy/Omission", rule="placeholders"))
    rating = Rating(Segment(target, source), "anna", (), omissions=tuple(omissions))
    corrected = corrections.applied(rating, correction)
    assert [omission.words(corrected.segment) for omission in corrected.omissions] == left
    comment = corrections.comment_of(corrected.segment)
    assert comment.count("was marked as missing, Major Accuracy/Omission") == len(missing) - len(left)


@pytest.mark.parametrize(
    ("correction", "missing", "left"),
    [
        ("Es ist nicht lang", [(6, 9)], []),  # the source's words are not those of the target
        ("Es ist nicht lang", [(6, 9), (10, 14)], ["long"]),
        ("Es ist lang", [(6, 9)], ["not"]),
        ("Es ist keine", [(6, 9)], []),
        ("Es war lang", [(6, 9)], []),
    ],
)
def test_words_of_the_source_that_the_correction_adds_elsewhere(
    correction: str, missing: Sequence[tuple[int, int]], left: Sequence[str]
) -> None:
    omissions = tuple(Omission("source", None, start, end, MAJOR) for start, end in missing)
    rating = Rating(Segment("Es ist lang", "It is not long"), "anna", (), omissions=omissions)
    corrected = corrections.applied(rating, correction)
    assert [omission.words(corrected.segment) for omission in corrected.omissions] == left


@pytest.mark.parametrize(
    ("correction", "rater", "errors", "expected"),
    [
        (None, "anna", (), []),
        ("Die Volga ist lang", "anna", (), []),
        ("Die Wolga ist lang", "anna", (), ["Volga"]),
        ("Die Wolga ist lang", "anna", (ErrorSpan(4, 9, MINOR),), []),
        ("Die Wolga ist sehr lang", "anna", (ErrorSpan(4, 9, MINOR),), ["+sehr"]),
        ("Die ist lang", "anna", (), [" Volga"]),
        ("Die Volga  ist lang", "anna", (), [" "]),
        ("Die Volga ist lang ", "anna", (), ["+"]),
        ("Die Wolga ist lang", None, None, []),  # a table of translations, which nobody has rated
        ("Die Wolga ist lang", "anna", None, ["Volga"]),
        ("Die Wolga ist lang", "matese|model:m", (), []),
    ],
)
def test_what_a_person_has_changed_is_marked(
    correction: str | None, rater: str | None, errors: tuple[ErrorSpan, ...] | None, expected: Sequence[str]
) -> None:
    text = "Die Volga ist lang"
    rating = Rating(Segment(text, extra={CORRECTED: correction}), rater, errors)
    marked = corrections.marked(rating)
    added = [error for error in marked.all_errors if error.severity is None]
    assert [
        text[error.start : error.end] if isinstance(error, ErrorSpan) else f"+{getattr(error, 'words', None) or ''}"
        for error in added
    ] == expected
    assert corrections.marked(marked) == marked
    assert bool(marked.all_errors) == (bool(expected) or bool(errors))


def test_corrections_alone_go_back_without_notes(tmp_path: Path) -> None:
    path = tmp_path / "a.po"
    ours = '# [matese] "matese|model:m"\n# Major error: »Volga« [4..9]\n'
    path.write_text(PO.format('msgstr "Die Volga"').replace("# by hand\n", f"# by hand\n{ours}"), encoding="utf-8")
    (first, second) = translation_files.read(path)
    segment = replace(first.segment, extra={CORRECTED: "Die Wolga"})
    copy = tmp_path / "copy.po"
    how = WriteOptions(template=path, corrections_only=True)
    translation_files.save([corrections.marked(Rating(segment, "anna", ())), second], copy, how)
    assert copy.read_text(encoding="utf-8") == PO.format('msgstr "Die Wolga"')


@pytest.mark.parametrize("corrections_only", [True, False])
@pytest.mark.parametrize("rater", [None, "matese|model:m"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("po", PO.format('msgstr "{}"')),
        ("xliff", XLIFF.format("{}")),
        ("srt", "1\n00:00:01,000 --> 00:00:03,000\n{}\n"),
        ("i18n-json", '{{"a": "{}"}}'),
    ],
)
def test_what_nobody_has_rated_is_corrected_without_notes(
    tmp_path: Path, name: str, text: str, rater: str | None, *, corrections_only: bool
) -> None:
    (tmp_path / "en.json").write_text('{"a": "A river"}', encoding="utf-8")
    path = tmp_path / "de.json"
    path.write_bytes(text.format("Ein Fluss").encode())
    segment = replace(
        next(iter(translation_files.read(path, ReadOptions(lambda issue: None)))).segment, extra={CORRECTED: "Strom"}
    )
    copy = tmp_path / "copy"
    how = WriteOptions(template=path, corrections_only=corrections_only or name in ("srt", "i18n-json"))
    losses = writing.write([Rating(segment, rater, None)], copy, name, how)
    assert copy.read_bytes().decode() == text.format("Strom")
    assert sum(losses.values()) == (rater is not None)


def test_a_copy_in_which_nothing_is_corrected_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.po"
    path.write_text(PO.format('msgstr "Ein Fluss"'), encoding="utf-8")
    segment = replace(next(iter(translation_files.read(path))).segment, extra={"comment": "Why?"}, line=7)
    told: list[str] = []
    for corrections_only in (True, False):
        how = WriteOptions(template=path, corrections_only=corrections_only, report=told.append)
        writing.write([Rating(segment, None, None)], tmp_path / "copy", "po", how)
    assert told == ["0 translations corrected", "1 comment on translations that nobody has rated, left out"]
    edited = Rating(replace(segment, hypothesis="Strom"), None, None)
    with pytest.raises(InputError, match=r"\(row 7 of the ratings\) is not the target of .*into a column 'corrected'"):
        writing.write([edited], tmp_path / "copy", "po", WriteOptions(template=path))


def test_only_findings_of_rules_without_a_place_are_mended() -> None:
    rule = UnplacedError(MAJOR, "Accuracy/Omission", "%d", rule="placeholders")
    by_person = UnplacedError(MINOR, None, "%d")
    rating = Rating(Segment("Dateien"), "anna", (), unplaced=(rule, by_person))
    assert corrections.applied(rating, "%d Dateien").unplaced == (by_person,)


def test_the_corrected_file_may_be_the_template_again(tmp_path: Path) -> None:
    first = written(tmp_path / "a.po", PO.format('msgstr "Ein Fluss"'), "Ein Strom")
    (tmp_path / "a.po").write_text(first, encoding="utf-8")
    ratings = list(translation_files.read(tmp_path / "a.po"))
    again = tmp_path / "again"
    translation_files.save(ratings, again, WriteOptions(template=tmp_path / "a.po"))
    assert again.read_text(encoding="utf-8") == first


def test_two_corrections_of_one_translation_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.po"
    path.write_text(PO.format('msgstr "Ein Fluss"'), encoding="utf-8")
    segment = next(iter(translation_files.read(path))).segment
    ratings = [
        Rating(replace(segment, extra={CORRECTED: text}), name, ())
        for name, text in (("anna", "Strom"), ("ben", "Bach"))
    ]
    with pytest.raises(InputError, match="2 corrected translations"):
        translation_files.save(ratings, tmp_path / "copy", WriteOptions(template=path))


def test_the_context_of_a_unit_is_read(tmp_path: Path) -> None:
    for name, text, expected in (
        ("a.po", PO.format('msgstr "Ein Fluss"'), "menu\nTitle of the menu\nby hand"),
        ("a.xlf", XLIFF.format("b"), "For the menu"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
        rating = next(iter(translation_files.read(tmp_path / name)))
        assert (rating.segment.extra or {})[translation_files.CONTEXT] == expected


@given(st.text("ab 😀\n", max_size=12), st.text("ab 😀\n", max_size=12))
def test_edits_make_the_other_text(text: str, new_text: str) -> None:
    made = text
    for edit in reversed(corrections.edits(text, new_text)):
        made = made[: edit.start] + edit.text + made[edit.end :]
    assert made == new_text

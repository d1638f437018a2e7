"""XLIFF as translation tools write it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.checks import checker, length
from matese.errors import FormatError, InputError
from matese.formats.format import WriteOptions
from matese.formats.localisation import translation_files
from tests.formats import reading
from tests.formats.localisation.noting import noted

MAJOR = Severity.MAJOR
NOTE = '[matese] "ann"\nMajor error: »offen« [14..19]'
FREE = '[matese] "ann" (translations without a note have no errors)'
SHOP = "<source>The shop is closed.</source><target>Der Laden ist offen.</target>"


def xliff_1(units: str, *, header: str = "", more: str = "") -> str:
    return f"""<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"{more}><file original="a"
 source-language="en" target-language="de" datatype="plaintext">{header}<body>{units}</body></file></xliff>"""


def xliff_2(units: str, *, header: str = "") -> str:
    return f"""<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en" trgLang="de">
<file id="f">{header}{units}</file></xliff>"""


def read(folder: Path, text: str, **options: Any) -> tuple[list[Rating], list[str]]:
    path = folder / "texts.xlf"
    path.write_text(text, encoding="utf-8")
    ratings, notes = reading.read(path, **options)
    return ratings, [re.sub(r"\d+: ", "", note) for note in notes]


SEGMENT = f"<segment>{SHOP}</segment>"
TWO = f"{SEGMENT}<segment><source>Good.</source><target>Gut.</target></segment>"


@pytest.mark.parametrize(
    ("notes", "segments", "rated"),
    [
        (f'<notes><note category="matese" id="matese-0-0">{NOTE}</note></notes>', TWO, 0),
        (f'<notes><note category="matese">{NOTE}</note></notes>', SEGMENT, 0),
        (f'<notes><note id="n">Sign</note><note id="matese-1-0">{NOTE.replace("offen", "Gut")}</note></notes>', TWO, 1),
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_notes_before_and_after_the_segments(
    tmp_path: Path, notes: str, segments: str, rated: int, *, is_first: bool
) -> None:
    ratings, _ = read(tmp_path, xliff_2(f"<unit id='1'>{notes + segments if is_first else segments + notes}</unit>"))
    assert [index for index, rating in enumerate(ratings) if rating.errors] == [rated]


@pytest.mark.parametrize("notes", ["<notes><note>Sign</note></notes>", "<notes/>", ""])
def test_notes_are_added_after_the_segments(tmp_path: Path, notes: str) -> None:
    ratings, _ = read(tmp_path, xliff_2(f"<unit id='1'>{TWO}{notes}</unit>"))
    marks = (ErrorSpan(0, 3, MAJOR),)
    rated = [replace(rating, rater=f"r{number}", errors=marks) for number, rating in enumerate(ratings)]
    noted(tmp_path / "texts.xlf", rated)


@pytest.mark.parametrize(
    "target", ["", " ", "\n  ", "<x id='1'/>", '<mrk mtype="seg" mid="1"/> <mrk mtype="seg" mid="2"/>', "\u3000"]
)
def test_a_target_of_white_space_is_no_translation(tmp_path: Path, target: str) -> None:
    blank = f'<trans-unit id="1"><source>Good.</source><target>{target}</target></trans-unit>'
    text = xliff_1(blank + f'<trans-unit id="2">{SHOP}</trans-unit>')
    (rating,), issues = read(tmp_path, text)
    assert (rating.segment.key and rating.segment.key.index, issues) == (1, ["skipped, unit without a translation"])
    assert [rating.segment.hypothesis for rating in read(tmp_path, text, untranslated=True)[0]] == [
        "",
        "Der Laden ist offen.",
    ]


def with_state(version: int, state: str) -> str:
    """A file with two units, the first of them in a state; one rater has rated all."""
    stated = f'state="{state}"'
    if version == 1:
        unit = f"<trans-unit id='1'>{SHOP.replace('<target', f'<target {stated}')}</trans-unit>"
        return xliff_1(f"{unit}<trans-unit id='2'>{SHOP}</trans-unit>", header=f"<header><note>{FREE}</note></header>")
    units = f"<unit id='1'><segment {stated}>{SHOP}</segment></unit><unit id='2'>{SEGMENT}</unit>"
    return xliff_2(units, header=f"<notes><note>{FREE}</note></notes>")


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("state", ["new", "needs-translation", "needs-l10n", "needs-adaptation", "initial"])
def test_unfinished_translations(tmp_path: Path, version: int, state: str) -> None:
    (finished,), issues = read(tmp_path, with_state(version, state))
    assert (finished.errors, issues) == ((), ["skipped, unit whose translation is not finished"])
    (blank, _), _ = read(tmp_path, with_state(version, state), untranslated=True)
    assert (blank.segment.hypothesis, blank.unplaced) == ("", (UnplacedError(MAJOR, "Non-translation"),))


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("state", ["translated", "reviewed", "final", "signed-off", "needs-review-translation"])
def test_finished_translations(tmp_path: Path, version: int, state: str) -> None:
    ratings, issues = read(tmp_path, with_state(version, state))
    assert ([rating.errors for rating in ratings], issues) == ([(), ()], [])


@pytest.mark.parametrize("version", [1, 2])
def test_an_unknown_state(tmp_path: Path, version: int) -> None:
    ratings, issues = read(tmp_path, with_state(version, "x-odd"))
    assert ([rating.errors for rating in ratings], issues) == ([None, ()], ["!ignored, unknown state"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<target", "<target state='needs-review-translation' state-qualifier='rejected-grammar'"),
        ("<trans-unit", "<trans-unit m:status='Rejected'"),
        ("</target>", "</target><s:seg-defs><s:seg id='1' conf='RejectedTranslation'/></s:seg-defs>"),
    ],
)
def test_a_rejected_translation_is_never_free_of_errors(tmp_path: Path, old: str, new: str) -> None:
    units = "".join(f"<trans-unit id='{number}'>{SHOP}</trans-unit>" for number in range(2)).replace(old, new, 1)
    more = ' xmlns:m="urn:memoq" xmlns:s="urn:sdl"'
    ratings, issues = read(tmp_path, xliff_1(units, header=f"<header><note>{FREE}</note></header>", more=more))
    assert ([rating.errors for rating in ratings], issues) == ([None, ()], ["!ignored, rejected translation"])


@pytest.mark.parametrize("header", ["", f"<header><note>{FREE}</note></header>"])
def test_a_unit_with_two_targets(tmp_path: Path, header: str) -> None:
    units = f"<trans-unit id='1'>{SHOP}<target state='odd'>Das Geschäft</target></trans-unit>"
    (rating,), issues = read(tmp_path, xliff_1(units, header=header))
    assert (rating.segment.hypothesis in SHOP, rating.errors) == (True, None)
    assert issues == ["!ignored, further translation of a unit"]


@pytest.mark.parametrize(
    ("unit", "reason"),
    [
        (f"<unit id='1'><notes><note>[matese] \"ann\"\nodd</note></notes>{SEGMENT}</unit>", "line of a note"),
        (f"<unit id='1'><notes><note>{NOTE}</note></notes>{TWO}</unit>", "note of no segment"),
        (f"<unit id='1'><notes><note id='matese-7-0'>{NOTE}</note></notes>{TWO}</unit>", "note of no segment"),
    ],
)
@pytest.mark.parametrize("header", ["", f"<notes><note>{FREE}</note></notes>"])
def test_what_is_not_understood_is_never_free_of_errors(tmp_path: Path, unit: str, reason: str, header: str) -> None:
    ratings, issues = read(tmp_path, xliff_2(unit, header=header))
    assert {rating.errors for rating in ratings} == {None}
    assert issues[0] == f"!ignored, {reason}"
    assert {issue.removeprefix("!") for issue in issues} == {f"ignored, {reason}"}


DELETED = '<mrk mtype="x-sdl-deleted" s:revid="1">Das <g id="1">alte</g> </mrk>'


@pytest.mark.parametrize(
    "target",
    [
        f'{DELETED}<mrk mtype="x-sdl-added" s:revid="2">Der </mrk><g id="3">Laden</g>.',
        '<mrk mtype="seg" mid="1">Der <mrk mtype="x-sdl-feedback-deleted">x</mrk>Laden.</mrk>',
        "<s:ins>Der</s:ins><s:del>Das</s:del> Laden.",
        'Der <mrk mtype="x-sdl-comment">Laden</mrk>.',
    ],
)
def test_text_that_a_tracked_change_deletes(tmp_path: Path, target: str) -> None:
    unit = f'<trans-unit id="1"><source>The shop.</source><target>{target}</target></trans-unit>'
    (rating,), _ = read(tmp_path, xliff_1(unit, more=' xmlns:s="urn:tool"'))
    assert rating.segment.hypothesis == "Der Laden."
    noted(tmp_path / "texts.xlf", [replace(rating, rater="ann", errors=(ErrorSpan(4, 9, MAJOR),))])


@pytest.mark.parametrize("namespace", ["TOOL: https://example.org/tool", "a b  c", "ü\t|", ""])
def test_namespaces_of_any_form(tmp_path: Path, namespace: str) -> None:
    unit = f'<trans-unit id="1" t:x="1">{SHOP}<t:target>x</t:target></trans-unit>'
    more = f' xmlns:t="{namespace or "t"}"'
    (rating,), _ = read(tmp_path, xliff_1(unit, more=more))
    assert rating.segment.hypothesis == "Der Laden ist offen."


HEAD_1 = '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">'
FILE_1 = '<file original="a" source-language="en" target-language="{}" datatype="plaintext"><body>{}</body></file>'
HEAD_2 = '<xliff xmlns="urn:oasis:names:tc:xliff:document:{0}" version="{0}" srcLang="en" trgLang="de">'
# A target of XLIFF 1.2 or 2, and the text that people read.
TARGETS = {
    "1.2": [
        ("Ein Haus.", "Ein Haus."),
        ("Ein <g id='1'>Ha<g id='2'>us</g></g>.", "Ein Haus."),
        ("<g id='1'/><x id='2'/>Ein<bx id='3'/> Haus<ex id='4'/>.", "Ein Haus."),
        ("<g id='1'><x id='2'/></g>\n<g id='3'>Haus</g>", "\nHaus"),
        ("<ph id='1'>%s</ph> Haus <bpt id='2'>&lt;b></bpt>da<ept id='2'>&lt;/b></ept>", " Haus da"),
        ("<it id='1' pos='open'>[<sub>alt</sub>]</it>Haus", "Haus"),
        ("Ein <mrk mtype='seg' mid='0'>Haus</mrk><!-- ein Haus --> da", "Ein Haus da"),
        ("😀<x id='1'/>👩‍👧 <g id='2'>Haus</g>", "😀👩‍👧 Haus"),
        ("\u200fשלום <g id='1'>עולם</g>\u202b", "\u200fשלום עולם\u202b"),
        ("  zwei\tHaus  &#10;&#13;&amp;lt; ]]&gt;", "  zwei\tHaus  \n\r&lt; ]]>"),
        ("<![CDATA[<b>Haus</b>]]>", "<b>Haus</b>"),
    ],
    "2.0": [
        ("Ein <pc id='1'>Ha<pc id='2'>us</pc></pc>.", "Ein Haus."),
        ("<pc id='1'><ph id='2'/></pc>\n<pc id='3'>Haus</pc>", "\nHaus"),
        ("Ein <ph id='1' dataRef='d'/><sc id='2'/>Haus<ec startRef='2'/>.", "Ein Haus."),
        ("Ein <mrk id='1' type='term'>Haus</mrk><sm id='2' type='comment'/>!<em startRef='2'/>", "Ein Haus!"),
        ("<cp hex='0001'/>😀 <pc id='1'>Haus</pc>", "😀 Haus"),
    ],
}
TARGETS["2.1"] = TARGETS["2.2"] = TARGETS["2.0"]
CASES = [(version, *case) for version, cases in TARGETS.items() for case in cases]


def with_target(version: str, target: str) -> str:
    texts = f"<source>A <ph id='0'/>tree</source>\n<target>{target}</target>"
    if version == "1.2":
        texts = texts.replace("ph id='0'", "x id='0'")
        unit = f"<trans-unit id='1'>{texts}<alt-trans><target>x</target></alt-trans></trans-unit>"
        return f"<!-- first -->\n{HEAD_1}<?pi do?>{FILE_1.format('de', unit)}</xliff>"
    unit = f"<unit id='1'><originalData><data id='d'>&lt;br/></data></originalData><segment>{texts}</segment></unit>"
    return f"{HEAD_2.format(version)}<file id='f'>{unit}</file></xliff>"


@pytest.mark.parametrize(("version", "target", "text"), CASES)
def test_markup_is_no_text_and_stays_as_it_was(tmp_path: Path, version: str, target: str, text: str) -> None:
    path = tmp_path / "texts.xlf"
    path.write_text(with_target(version, target), encoding="utf-8", newline="")
    (rating,) = translation_files.read(path)
    assert rating.segment == Segment(text, "A tree", key=SegmentKey(lang_pair="en-de", index=0))
    start = max(text.find("Haus"), 0)
    errors = (ErrorSpan(0, len(text), None), ErrorSpan(start, start + 4, Severity.MAJOR))
    rated = replace(rating, rater='"\ufffe\x01<é', errors=errors)
    noted(path, [rated])


def test_notes_stand_where_the_schema_wants_them(tmp_path: Path) -> None:
    path = tmp_path / "texts.xlf"
    module = "<m:metadata xmlns:m='urn:oasis:names:tc:xliff:metadata:2.0'/>"
    text = with_target("2.0", "Haus").replace("<originalData>", f"{module}<originalData>")
    path.write_text(text, encoding="utf-8")
    (rating,) = translation_files.read(path)
    copy = noted(path, [replace(rating, errors=(ErrorSpan(0, 1, None),))]).decode()
    assert copy.index("<notes>") < copy.index("<unit") < copy.index("metadata") < copy.rindex("<notes>")
    assert copy.rindex("<notes>") < copy.index("<originalData>") < copy.index("<segment>")


def test_each_file_of_xliff_1_says_its_languages(tmp_path: Path) -> None:
    path = tmp_path / "texts.xlf"
    unit = "<trans-unit id='1'><source>tree</source><target>x</target></trans-unit>"
    files = FILE_1.format("de", unit) + FILE_1.format("fr-CA", unit) + FILE_1.format("", unit)
    path.write_text(f"{HEAD_1}{files}</xliff>", encoding="utf-8")
    ratings = list(translation_files.read(path))
    assert [(rating.segment.key or SegmentKey()).lang_pair for rating in ratings] == ["en-de", "en-fr_CA", None]
    noted(path, [replace(rating, errors=()) for rating in ratings])


PERFECT = "pm0f3a9c1e-1b2c-4d5e-8f90-0123456789ab"


@pytest.mark.parametrize(
    ("target", "lost"),
    [
        # Trados cuts a code where a tracked change begins or ends: it is one code.
        (
            '<g id="3" s:end="false">der </g><mrk mtype="x-sdl-added"><g id="3" s:start="false" s:end="false">neue</g>'
            '</mrk><g id="3" s:start="false"> Laden</g>.<x id="4"/>',
            0,
        ),
        # Of a translation of an older version, the codes have other ids.
        (f'<g id="{PERFECT}">der Laden</g>.<x id="4"/>', 0),
        (f'<g id="{PERFECT}">der Laden</g>.', 1),
        (f'<x id="{PERFECT}"/>der Laden.', 1),
        ('<g id="7">der Laden</g>.<x id="4"/>', 1),
    ],
)
def test_inline_codes_of_trados(tmp_path: Path, target: str, lost: int) -> None:
    source = 'In <g id="3">the shop</g>.<x id="4"/>'
    unit = (
        f'<trans-unit id="1"><source>{source}</source><seg-source><mrk mtype="seg" mid="1">{source}</mrk></seg-source>'
        f'<target><mrk mtype="seg" mid="1">In {target}</mrk></target>'
        '<s:seg-defs><s:seg id="1" conf="ApprovedSignOff"/></s:seg-defs></trans-unit>'
    )
    (rating,), issues = read(tmp_path, xliff_1(unit, more=' xmlns:s="urn:sdl"'))
    assert issues == []
    assert len(checker.check(rating.segment).unplaced) == lost


@pytest.mark.parametrize(
    ("attributes", "version", "limit"),
    [
        ('maxwidth="20" size-unit="char"', "1.2", 20),
        ('maxwidth="20"', "1.2", None),  # pixels
        ('xmlns:slr="urn:oasis:names:tc:xliff:sizerestriction:2.0" slr:sizeRestriction="0,20"', "2.0", 20),
    ],
)
def test_limits_of_length_are_read(tmp_path: Path, attributes: str, version: str, limit: int | None) -> None:
    if version == "1.2":
        text = xliff_1(f'<trans-unit id="a" {attributes}>{SHOP}</trans-unit>')
    else:
        text = xliff_2(f'<unit id="a" {attributes}><segment>{SHOP}</segment></unit>')
    (rating,), _ = read(tmp_path, text)
    assert length.limit(rating.segment.extra) == limit


ISSUES = """<trans-unit id="1"><source>The <x id="2"/>cat</source><target>Die <mqm:startIssue type="Grammar"
 severity="minor" note="a &amp; b" agent="anna" id="7"/>ist<mqm:endIssue id="7"/> <x id="2"/>da</target></trans-unit>"""
OF_TRANSLATE5 = ' xmlns:mqm="http://www.qt21.eu/mqm"'


def test_errors_of_translate5_are_ratings_of_its_agents(tmp_path: Path) -> None:
    (rating,), reports = read(tmp_path, xliff_1(ISSUES, more=OF_TRANSLATE5))
    assert (rating.rater, rating.segment.hypothesis, reports) == ("anna", "Die ist da", [])
    assert rating.errors == (ErrorSpan(4, 7, Severity.MINOR, "Grammar", reason="a & b"),)
    path = tmp_path / "texts.xlf"
    assert noted(path, [replace(rating, rater="ben")], [rating]).count(b"mqm:") == 2
    written = tmp_path / "again.xlf"
    translation_files.save([rating], written, WriteOptions(template=path))
    assert written.read_bytes() == path.read_bytes(), "the file has this rating"
    with pytest.raises(FormatError, match="has no end") as raised:
        read(tmp_path, xliff_1(ISSUES.replace('<mqm:endIssue id="7"/>', ""), more=OF_TRANSLATE5))
    assert raised.value.line == 3


@pytest.mark.parametrize(
    ("corrected", "expected"),
    [
        ("<pc b>Hier drücken</pc b>", '<s:pc id="b">Hier <s:pc id="a">drücken</s:pc></s:pc>'),
        ("Hier <pc b></pc b>drücken", 'Hier <s:pc id="b"></s:pc><s:pc id="a">drücken</s:pc>'),
        ("Hier <pc b>drücken", None),
        ("Hier</pc b> <pc b>drücken", None),
    ],
)
def test_a_correction_places_codes_around_words(tmp_path: Path, corrected: str, expected: str | None) -> None:
    path = tmp_path / "a.xlf"
    target = 'Hier <s:pc id="a">drücken</s:pc>'
    source = 'Press <s:pc id="a">x</s:pc> <s:pc id="b"/>'
    text = xliff_2(f"<unit id='1'><segment><source>{source}</source><target>{target}</target></segment></unit>")
    for name in ("xliff", "file", "unit", "segment", "source", "target"):
        text = re.sub(rf"(</?)({name})\b", r"\1s:\2", text)
    path.write_text(text.replace("xmlns=", "xmlns:s="), encoding="utf-8")
    (plain,) = translation_files.read(path)
    rating = Rating(replace(plain.segment, extra={"corrected": corrected}), "anna", ())
    how = WriteOptions(template=path, corrections_only=True)
    if expected is None:
        with pytest.raises(InputError, match="both tags of an inline code"):
            translation_files.save([rating], tmp_path / "copy.xlf", how)
        assert not (tmp_path / "copy.xlf").exists()
        return
    translation_files.save([rating], tmp_path / "copy.xlf", how)
    written = (tmp_path / "copy.xlf").read_text(encoding="utf-8")
    assert f"<s:target>{expected}</s:target>" in written

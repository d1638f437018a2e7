"""Inline markup of XLIFF: no part of any text, offsets survive it, and a file with notes holds all else as it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from matese.annotation import ErrorSpan, Segment, SegmentKey, Severity
from matese.formats.format import WriteOptions
from matese.formats.localisation import translation_files
from tests.formats.localisation.test_translation_files import without_notes

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


def xliff(version: str, target: str) -> str:
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
    path.write_text(xliff(version, target), encoding="utf-8", newline="")
    (rating,) = translation_files.read(path)
    assert rating.segment == Segment(text, "A tree", key=SegmentKey(lang_pair="en-de", index=0))
    start = max(text.find("Haus"), 0)
    errors = (ErrorSpan(0, len(text), None), ErrorSpan(start, start + 4, Severity.MAJOR))
    rated = replace(rating, rater='"\ufffe\x01<é', errors=errors)
    translation_files.save([rated], tmp_path / "noted.xlf", WriteOptions(template=path))
    assert list(translation_files.read(tmp_path / "noted.xlf")) == [rated]
    assert without_notes((tmp_path / "noted.xlf").read_bytes()) == path.read_bytes()


def test_notes_stand_where_the_schema_wants_them(tmp_path: Path) -> None:
    path = tmp_path / "texts.xlf"
    module = "<m:metadata xmlns:m='urn:oasis:names:tc:xliff:metadata:2.0'/>"
    text = xliff("2.0", "Haus").replace("<originalData>", f"{module}<originalData>")
    path.write_text(text, encoding="utf-8")
    (rating,) = translation_files.read(path)
    rated = replace(rating, errors=(ErrorSpan(0, 1, None),))
    translation_files.save([rated], tmp_path / "noted.xlf", WriteOptions(template=path))
    noted = (tmp_path / "noted.xlf").read_text(encoding="utf-8")
    assert noted.index("<notes>") < noted.index("<unit") < noted.index("metadata") < noted.rindex("<notes>")
    assert noted.rindex("<notes>") < noted.index("<originalData>") < noted.index("<segment>")


def test_each_file_of_xliff_1_says_its_languages(tmp_path: Path) -> None:
    path = tmp_path / "texts.xlf"
    unit = "<trans-unit id='1'><source>tree</source><target>x</target></trans-unit>"
    files = FILE_1.format("de", unit) + FILE_1.format("fr-CA", unit) + FILE_1.format("", unit)
    path.write_text(f"{HEAD_1}{files}</xliff>", encoding="utf-8")
    ratings = list(translation_files.read(path))
    assert [(rating.segment.key or SegmentKey()).lang_pair for rating in ratings] == ["en-de", "en-fr_CA", None]
    noted = [replace(rating, errors=()) for rating in ratings]
    translation_files.save(noted, tmp_path / "noted.xlf", WriteOptions(template=path))
    assert list(translation_files.read(tmp_path / "noted.xlf")) == noted

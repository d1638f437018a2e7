"""Terms of lists: which files are read, and what lacks its translation."""

from __future__ import annotations

from pathlib import Path

import pytest

from matese.annotation import ErrorSpan, Segment, SegmentKey, UnplacedError
from matese.checks import checker, terms
from matese.errors import FormatError

TABLE = """source,target,forbidden,do not translate,case sensitive,part of speech
file,Datei|Dateien,File,,,noun
file system,Dateisystem,,,,noun
Cloud Drive,,,yes,,
US,USA,,,yes,
settings,Einstellungen,,,,noun
"""
TBX = """<?xml version="1.0"?>
<martif type="TBX-Basic" xml:lang="en"><text><body>
<termEntry id="1">
<langSet xml:lang="en-US"><tig><term>file</term></tig><tig><term/></tig></langSet>
<langSet xml:lang="de"><tig><term>Datei</term></tig>
<tig><term>File</term><termNote type="administrativeStatus">deprecatedTerm-admn-sts</termNote></tig></langSet>
</termEntry>
</body></text></martif>
"""
TBX_3 = """<tbx type="TBX-Min" xmlns="urn:iso:std:iso:30042:ed-2"
 xmlns:min="http://www.tbxinfo.net/ns/min"><text><body>
<conceptEntry id="1">
<langSec xml:lang="en"><termSec><term>file</term></termSec></langSec>
<langSec xml:lang="de"><termSec><term>Datei</term></termSec>
<termSec><term>File</term>
<min:administrativeStatus>deprecatedTerm-admn-sts</min:administrativeStatus></termSec></langSec>
</conceptEntry></body></text></tbx>
"""


def found(path: Path, source: str, hypothesis: str, *references: str, pair: str | None = "en-de") -> list[str]:
    """The terms that lack a translation, and the forbidden translations after a minus."""
    segment = Segment(hypothesis, source, references, SegmentKey(lang_pair=pair))
    errors = checker.check(segment, [terms.rule(path)]).all_errors
    return [
        f"-{hypothesis[error.start : error.end]}" if isinstance(error, ErrorSpan) else source[error.start : error.end]
        for error in errors
        if not isinstance(error, UnplacedError)
    ]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "terms.csv").write_text(TABLE, encoding="utf-8")
    return tmp_path / "terms.csv"


@pytest.mark.parametrize(
    ("source", "hypothesis", "expected"),
    [
        ("", "", []),
        ("Save the file.", "Die Datei sichern.", []),
        ("Save the FILE.", "Das Dokument sichern.", ["FILE"]),
        ("Save the profile.", "Das Profil sichern.", []),  # another word
        ("Save the file.", "Das File sichern.", ["-File"]),
        ("Save the file.", "Sichert das Profil.", ["file"]),
        # Inflected, and in compounds.
        ("the settings", "in den Einstellungen", []),
        ("the settings", "die Grundeinstellung", []),
        ("the settings", "die Optionen", ["settings"]),
        # Of a term in another one, the longer counts.
        ("the file system", "das Dateisystem", []),
        ("the file system", "das FS", ["file system"]),
        ("in the US", "in den USA", []),
        ("tell us", "sag es uns", []),
        ("Open Cloud Drive", "Wolkenlaufwerk öffnen", ["Cloud Drive"]),
        ("Open Cloud Drive", "Cloud Drive öffnen", []),
    ],
)
def test_terms_of_a_table(table: Path, source: str, hypothesis: str, expected: list[str]) -> None:
    assert found(table, source, hypothesis) == expected
    assert found(table, source, hypothesis, pair=None) == expected


def test_a_reference_that_does_without_a_term_is_right(table: Path) -> None:
    assert found(table, "Save the file.", "Das Dokument.", "Dokument sichern.") == []
    assert found(table, "Save the file.", "Das Dokument.", "Datei sichern.") == ["file"]


def test_irregular_forms_are_those_of_lemmas(tmp_path: Path) -> None:
    pytest.importorskip("simplemma")
    path = tmp_path / "t.tsv"
    path.write_text("mouse\tMaus\ngo\tgehen\n", encoding="utf-8")
    assert found(path, "Go to the mouse.", "Er ging zu den Mäusen.") == []


@pytest.mark.parametrize("text", [TBX, TBX_3])
def test_tbx_of_any_dialect(tmp_path: Path, text: str) -> None:
    path = tmp_path / "terms.tbx"
    path.write_text(text, encoding="utf-8")
    assert found(path, "Save the file.", "Die Datei sichern.") == []
    assert found(path, "Save it.", "Sichern.") == []
    assert found(path, "Save the file.", "Das Dokument sichern.", pair="en_GB-de_AT") == ["file"]
    assert found(path, "Save the file.", "Das File sichern.") == ["-File"]
    assert found(path, "Die Datei", "The document", pair="de-en") == ["Datei"]
    assert found(path, "Le fichier", "Das Dokument", pair="fr-de") == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "holds no term"),
        ("source,target\n", "holds no term"),
        ("en,de,comment\nfile,Datei,x\n", "terms.csv:1: no column is named source"),
        ("term,traduction\nfile,fichier\n", "terms.csv:1: no column says what is allowed"),
        ("<martif><text></text></martif>", "holds no term"),
        ("<martif>\n<text>", "terms.csv:2: not TBX"),
        ('<!DOCTYPE a [<!ENTITY x "y">]><martif>&x;</martif>', "not TBX: declares an entity"),
    ],
)
def test_files_that_are_no_lists(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "terms.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=problem):
        terms.read(path)


def test_the_signature_names_the_list(table: Path) -> None:
    before = terms.rule(table).variant
    table.write_text(TABLE + "user,Benutzer,,,,\n", encoding="utf-8")
    assert before.startswith("@")
    assert terms.rule(table).variant != before

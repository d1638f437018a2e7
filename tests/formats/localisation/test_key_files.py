"""Android's strings.xml, JSON and ARB by keys, .xcstrings: what is read, and that only changed values change."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from matese.annotation import Rating
from matese.errors import FormatError, InputError
from matese.formats import detection, source_files, writing
from matese.formats.format import ReadOptions, WriteOptions
from matese.formats.row_issues import IssueCounts, RowIssue
from matese.formats.tables.headings import CORRECTED

SOURCE_XML = r"""<?xml version="1.0" encoding="utf-8"?>
<resources xmlns:xliff="urn:oasis:names:tc:xliff:document:1.2">
  <string name="title">It\'s new &amp; good</string>
  <string name="hello">Hello <xliff:g id="n" example="a > b">%1$s</xliff:g>, <b>you</b>!</string>
  <string name="html"><![CDATA[<i>A & B</i>]]></string>
  <string name="quoted">"two  spaces"</string>
  <string name="fixed" translatable="false">X</string>
  <string name="none"/>
  <plurals name="files"><item quantity="one">%d file</item><item quantity="other">%d files</item></plurals>
  <string-array name="days"><item>Mon</item><item>Tue</item></string-array>
</resources>
"""
TARGET_XML = r"""<?xml version="1.0" encoding="utf-8"?>
<resources xmlns:xliff="urn:oasis:names:tc:xliff:document:1.2">
  <!-- by <string name="x">hand</string> -->
  <string name="title">Es ist\n neu  &amp;
    gut</string>
  <string name="hello">Hallo <xliff:g id="n" example="a > b">%1$s</xliff:g>, <b>du</b>!</string>
  <string name="html"><![CDATA[<i>A & B</i>]]></string>
  <string name="quoted">"zwei  Leerzeichen"</string>
  <string name="none"/>
  <plurals name="files"><item quantity="few">%d Dateien</item><item quantity="other">%d Dateien</item></plurals>
  <string-array name="days"><item>Mo</item><item>Di</item></string-array>
</resources>
"""
JSON = {
    "title": "17 files",
    "menu": {"open": "Open {{name}}", "list": ["A", "B"]},
    "n": 1,
    "f_one": "a",
    "f_other": "b",
}
TARGET_JSON = (
    '{\r\n\t"title" : "15 \\u00c4pfel",\r\n  "menu": {"open": "\\"Öffne\\"", "list": ["A", "B"]}, "f_few": "drei"}\r\n'
)


def put(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode(errors="surrogateescape"))


def read(path: Path) -> list[Rating]:
    return list(detection.read(path, ReadOptions(report=lambda issue: None)))


def pairs(ratings: Sequence[Rating]) -> list[tuple[str | None, str]]:
    return [(rating.segment.source, rating.segment.hypothesis) for rating in ratings]


def corrected(path: Path, texts: dict[int, str]) -> str:
    """Returns the copy of a file in which a person has corrected some of its texts, by their order."""
    ratings = [
        replace(rating, rater="anna", errors=(), segment=replace(rating.segment, extra={CORRECTED: texts.get(number)}))
        for number, rating in enumerate(read(path))
    ]
    copy = path.with_name(f"copy{path.suffix}")
    form = detection.detect(path)
    writing.write(ratings, copy, form, WriteOptions(template=path, corrections_only=True))
    return copy.read_bytes().decode()


def test_android(tmp_path: Path) -> None:
    put(tmp_path, {"values/strings.xml": SOURCE_XML, "values-pt-rBR/strings.xml": TARGET_XML})
    path = tmp_path / "values-pt-rBR" / "strings.xml"
    ratings = read(path)
    tag = '<xliff:g id="n" example="a > b">%1$s</xliff:g>'
    assert pairs(ratings) == [
        ("It's new & good", "Es ist\n neu & gut"),
        (f"Hello {tag}, <b>you</b>!", f"Hallo {tag}, <b>du</b>!"),
        ("<i>A & B</i>", "<i>A & B</i>"),
        ("two  spaces", "zwei  Leerzeichen"),
        ("%d files", "%d Dateien"),
        ("%d files", "%d Dateien"),
        ("Mon", "Mo"),
        ("Tue", "Di"),
    ]
    assert ratings[0].segment.key is not None
    assert (ratings[0].segment.key.lang_pair, ratings[0].segment.line) == ("en-pt_BR", 4)
    assert corrected(path, {}) == TARGET_XML
    copy = corrected(
        path, {0: 'Das ist\'s & "gut"', 1: f"He {tag}, <b>Sie</b> < 3!", 2: "<i>A & C</i>", 3: "zwei'  l", 7: "@Di"}
    )
    expected = TARGET_XML.replace("Es ist\\n neu  &amp;\n    gut", 'Das ist\\\'s &amp; \\"gut\\"')
    expected = expected.replace("Hallo <xliff", "He <xliff").replace("<b>du</b>!", "<b>Sie</b> &lt; 3!")
    expected = expected.replace("<i>A & B</i>", "<i>A & C</i>").replace('"zwei  Leerzeichen"', '"zwei\'  l"')
    assert copy == expected.replace("<item>Di</item>", "<item>\\@Di</item>")
    (tmp_path / "values-pt-rBR" / "strings.xml").write_bytes(copy.encode())
    assert [rating.segment.hypothesis for rating in read(path)][:4] == [
        'Das ist\'s & "gut"',
        f"He {tag}, <b>Sie</b> < 3!",
        "<i>A & C</i>",
        "zwei'  l",
    ]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("names", ["en/app.json de/app.json", "en.json de.json", "src/app_en-US.arb src/app_de.arb"])
def test_json(tmp_path: Path, names: str, mark: str) -> None:
    source, target = names.split()
    put(tmp_path, {source: json.dumps(JSON), target: mark + TARGET_JSON})
    ratings = read(tmp_path / target)
    assert pairs(ratings) == [
        ("17 files", "15 Äpfel"),
        ("Open {{name}}", '"Öffne"'),
        ("A", "A"),
        ("B", "B"),
        ("b", "drei"),  # the source has no such plural form
    ]
    key = ratings[0].segment.key
    assert key is not None
    assert key.lang_pair in ("en-de", "en_US-de")
    assert ratings[1].segment.label == "text menu.open"
    assert corrected(tmp_path / target, {}) == mark + TARGET_JSON
    changed = mark + TARGET_JSON.replace("15 \\u00c4pfel", "17 \\u00c4pfel").replace(
        '\\"Öffne\\"', '\\"Öffne {{name}}\\"'
    )
    assert corrected(tmp_path / target, {0: "17 Äpfel", 1: '"Öffne {{name}}"'}) == changed


@pytest.mark.parametrize(
    ("name", "files", "missing"),
    [
        ("de.json", {"en.json": '{"a": "A", "b": "B", "n": ""}', "de.json": '{"a": "A"}'}, ["text b"]),
        ("de.json", {"en.json": '{"m": {"a": "A", "b": "B"}}', "de.json": "{}"}, ["text m.a", "text m.b"]),
        ("ja.json", {"en.json": '{"n_one": "a", "n_other": "b"}', "ja.json": '{"n_other": "x"}'}, []),
        ("ru.json", {"en.json": '{"n": {"one": "a", "other": "b"}}', "ru.json": '{"n": {"few": "x"}}'}, []),
        ("ru.json", {"en.json": '{"n": "a", "n_plural": "b"}', "ru.json": '{"n_0": "x", "n_1": "y"}'}, []),
        ("de.json", {"en.json": '{"step_1": "A", "step_2": "B"}', "de.json": '{"step_1": "A"}'}, ["text step_2"]),
        ("de.json", {"en.json": '{"x": {"message": "a", "description": "b"}}', "de.json": "{}"}, ["text x.message"]),
        ("de.json", {"en.json": '{"": "a"}', "de.json": "{}"}, ["text "]),
        ("de-AT.json", {"en.json": '{"a": "A"}', "de.json": '{"a": "A"}', "de-AT.json": "{}"}, []),
        ("de-AT.json", {"en.json": '{"a": "A"}', "de-AT.json": "{}"}, ["text a"]),
        ("en-GB.json", {"en.json": '{"a": "A"}', "en-GB.json": "{}"}, []),
        ("zh-TW.json", {"en.json": '{"a": "A"}', "zh-Hant.json": '{"a": "A"}', "zh-TW.json": "{}"}, []),
        (
            "app_de_AT.arb",
            {"app_en.arb": '{"a": "A"}', "other_de.arb": '{"a": "A"}', "app_de_AT.arb": '{"@@locale": "de_AT"}'},
            ["text a"],
        ),
        (
            "l/de-AT/app.json",
            {"l/en/app.json": '{"a": "A"}', "l/de/app.json": '{"a": "A"}', "l/de-AT/app.json": "{}"},
            [],
        ),
        ("zh-TW.json", {"en.json": '{"a": "A"}', "zh-CN.json": '{"a": "A"}', "zh-TW.json": "{}"}, ["text a"]),
        ("zh-Hant.json", {"en.json": '{"a": "A"}', "zh-Hans.json": '{"a": "A"}', "zh-Hant.json": "{}"}, ["text a"]),
        ("de.json", {"en.json": '{"s_one": "A", "s_two": "B"}', "de.json": '{"s_one": "A"}'}, ["text s_two"]),
        ("de.json", {"en.json": '{"a": "1.2", "b": "@:a", "c": "%d x"}', "de.json": "{}"}, ["text c"]),
        (
            "values-de/strings.xml",
            {
                "values/strings.xml": '<resources xmlns:tools="t"><string name="a">@string/b</string>'
                '<string name="b" tools:ignore="Typos,MissingTranslation">B</string></resources>',
                "values-de/strings.xml": "<resources/>",
            },
            [],
        ),
        (
            "values-es-rMX/strings.xml",
            {
                "values/strings.xml": SOURCE_XML,
                "values-es/strings.xml": "<resources/>",
                "values-es-rMX/strings.xml": "<resources/>",
            },
            [],
        ),
        (
            "values-de/strings.xml",
            {"values/strings.xml": SOURCE_XML, "values-de/strings.xml": TARGET_XML.replace("<item>Di</item>", "")},
            ["text days.1"],
        ),
    ],
)
def test_texts_of_the_source_without_translation(
    tmp_path: Path, name: str, files: dict[str, str], missing: list[str]
) -> None:
    put(tmp_path, files)
    issues: list[RowIssue] = []
    blank = list(detection.read(tmp_path / name, ReadOptions(issues.append, untranslated=True, may_be_empty=True)))
    assert [rating.segment.label for rating in blank if not rating.segment.hypothesis] == missing
    issues.clear()
    translated = list(detection.read(tmp_path / name, ReadOptions(issues.append, may_be_empty=True)))
    assert len(translated) == len(blank) - len(missing)
    assert sum(issue.kind == "skipped" for issue in issues) == len(missing)


def test_texts_that_the_source_lacks_are_counted(tmp_path: Path) -> None:
    put(tmp_path, {"en.json": '{"a": "A", "n_other": "B"}', "de.json": '{"a": "A", "b": "B", "n_few": "C"}'})
    counts = IssueCounts()
    list(detection.read(tmp_path / "de.json", ReadOptions(counts)))
    assert [message.partition(": ")[2] for message in counts.messages()][1:] == [
        f"1 text not in {tmp_path / 'en.json'}, without which most rules cannot run: b"
    ]


def test_arb_says_what_texts_are_for(tmp_path: Path) -> None:
    source = '{"@@locale": "en", "a": "A", "@a": {"description": "A button", "placeholders": {"x": {"type": "int"}}}}'
    put(tmp_path, {"app_en.arb": source, "app_de.arb": '{"@@locale": "de", "a": "B"}'})
    (rating,) = read(tmp_path / "app_de.arb")
    assert (rating.segment.hypothesis, rating.segment.extra) == ("B", {"context": "A button"})


def test_string_catalogues(tmp_path: Path) -> None:
    def unit(value: str, state: str = "translated") -> dict[str, object]:
        return {"stringUnit": {"state": state, "value": value}}

    def plural(one: str, other: str) -> dict[str, object]:
        return {"variations": {"plural": {"one": unit(one), "other": unit(other)}}}

    strings = {
        "Open %@": {"comment": "menu", "localizations": {"de": unit("Öffnen"), "fr": unit("Ouvrir", "new")}},
        "n_files": {"localizations": {"en": plural("%d file", "%d files"), "de": plural("eine", "viele")}},
        "empty": {},
    }
    text = json.dumps({"sourceLanguage": "en", "strings": strings, "version": "1.0"}, ensure_ascii=False, indent=2)
    put(tmp_path, {"L.xcstrings": text})
    path = tmp_path / "L.xcstrings"
    ratings = read(path)
    assert pairs(ratings) == [("Open %@", "Öffnen"), ("%d file", "eine"), ("%d files", "viele")]
    assert (ratings[0].segment.extra, ratings[1].segment.may_lack) == ({"context": "menu"}, ("%d",))
    assert corrected(path, {0: "Öffne %@"}) == text.replace("Öffnen", "Öffne %@")


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        (
            "de.json",
            '{"a": "x", "b": {"c": "1"},\n "a": "y"}',
            r"/de\.json:2: has the key a again, after line 1: must be",
        ),
        ("de.json", '{"a": "x",\n}', r"/de\.json:2: not JSON"),
        ("de.json", '{"a": \n"\udcf6"}', r"/de\.json:2: byte 0xf6 at position 1 is not UTF-8; the file may be windows"),
        ("en.json", '{"a": "A",\n}', r"/en\.json:2: not JSON"),
        ("values/strings.xml", "<resources>\n<", r"/values/strings\.xml:2: not XML.*Android"),
        ("values-de/strings.xml", "<resources><string name='a'>x</resources>", "mismatched tag.*Android"),
        ("values-de/strings.xml", "<!DOCTYPE resources><resources/>", "document type"),
        ("de.json", '{"a":' * 9999 + "1" + "}" * 9999, "nested too deeply"),
        ("xx/other.json", '{"a": "x"}', "not known by the names"),
        ("values/strings.xml", "<resources><string name='a'>x</string></resources>", "not known by the names"),
    ],
)
def test_bad_files(tmp_path: Path, name: str, text: str, problem: str) -> None:
    put(tmp_path, {"en.json": '{"a": "A"}', "values/strings.xml": SOURCE_XML, name: text})
    with pytest.raises(FormatError, match=problem):
        read(tmp_path / name)


@pytest.mark.parametrize(
    ("source", "text", "target"),
    [("en.json", '{"a": "x",\n}', "de.json"), ("values/strings.xml", "<resources>\n<", "values-de/strings.xml")],
)
def test_a_bad_source_is_named(tmp_path: Path, source: str, text: str, target: str) -> None:
    put(tmp_path, {source: text, target: '{"a": "B"}' if target == "de.json" else TARGET_XML})
    with pytest.raises(FormatError, match=rf"/{source}:2: not "):
        read(tmp_path / target)


def test_marks_are_not_lost_in_silence(tmp_path: Path) -> None:
    put(tmp_path, {"en.json": '{"a": "A"}', "de.json": '{"a": "B"}'})
    path = tmp_path / "de.json"
    (rating,) = read(path)
    with pytest.raises(InputError, match="can hold no notes: give --corrections-only"):
        writing.write([replace(rating, errors=())], tmp_path / "copy.json", "i18n-json", WriteOptions(template=path))
    assert not (tmp_path / "copy.json").exists()


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("app/values-b+sr+Latn/strings.xml", "app/values/strings.xml"),
        ("locales/de/a/app.json", None),
        ("messages.de.json", "messages.en.json"),
        ("de/translation.json", "en-GB/translation.json"),
        ("en.json", None),
    ],
)
def test_the_source_is_found_by_names(tmp_path: Path, path: str, source: str | None) -> None:
    for name in ("app/values/strings.xml", "messages.en.json", "en-GB/translation.json"):
        put(tmp_path, {name: "{}"})
    path_of_source = source_files.source_of(tmp_path / path)
    assert path_of_source == (None if source is None else str(tmp_path / source))


def test_strings_that_are_not_formatted(tmp_path: Path) -> None:
    text = '<resources><string name="a">%d</string><string name="b" formatted="false">%d</string></resources>'
    put(tmp_path, {"values/strings.xml": text, "values-de/strings.xml": text})
    ratings = read(tmp_path / "values-de/strings.xml")
    assert [rating.segment.placeholder_kinds for rating in ratings] == [("printf",), ("no-printf",)]

"""XLIFF and PO."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from matese.annotation import ErrorSpan, Omission, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.errors import FormatError, InputError
from matese.formats import detection, writing
from matese.formats.format import ReadOptions, WriteOptions
from matese.formats.localisation import translation_files
from tests.formats.localisation.noting import noted, without_notes

XLIFF_1 = """<?xml version="1.0"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" source-language="en"
 target-language="de" datatype="plaintext"><body>
<trans-unit id="1"><source>B</source></trans-unit>
<trans-unit id="2"><source>A <g id="1">tree</g><x id="2"/>.</source>
<target>Ein <g id="1">Haus 😀</g><x id="2"/> <ph id="3">%s</ph>da.</target><note>old</note></trans-unit>
</body></file></xliff>"""
XLIFF_2 = """<?xml version="1.0"?>
<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en" trgLang="de"><file id="f1">
<unit id="1"><segment><source>A <pc id="1">tree</pc><ph id="2"/>.</source>
<target>Ein <pc id="1">Haus</pc><ph id="2"/>.</target></segment>
<segment><source>Two</source><target>Zwei</target></segment></unit></file></xliff>"""
PO = """msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"

# old
msgid "A tree %s\\n"
msgstr "Ein Haus %s\\n"

msgid "one"
msgid_plural "many"
msgstr[0] "eins"
msgstr[1] "viele"
"""
FILES = {"xliff": [(XLIFF_1, "Ein Haus 😀 da."), (XLIFF_2, "Ein Haus.")], "po": [(PO, "Ein Haus %s\n")]}
CASES = [(name, text, hypothesis) for name, files in FILES.items() for text, hypothesis in files]


def put(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def read(path: Path) -> list[Rating]:
    return list(detection.read(path, ReadOptions(report=lambda note: None)))


@pytest.mark.parametrize(("name", "text", "hypothesis"), CASES)
def test_notes_are_written_and_read_and_nothing_else_changes(
    tmp_path: Path, name: str, text: str, hypothesis: str
) -> None:
    path = put(tmp_path / "texts", text)
    assert detection.detect(path) == name
    first, *rest = read(path)
    assert (first.segment.hypothesis, first.errors) == (hypothesis, None)
    errors = (ErrorSpan(0, 3, None), ErrorSpan(4, 8, Severity.MAJOR, 'St"yle'))
    unplaced = (UnplacedError(Severity.MINOR, "x"),)
    rated = replace(
        first, rater="mé\n", errors=errors, source_errors=(ErrorSpan(0, 1, Severity.MINOR),), unplaced=unplaced
    )
    rated = replace(rated, omissions=(Omission("source", None, 2, 6, Severity.MAJOR, "Accuracy/Omission", 0.61),))
    free = replace(first, errors=())
    copy = noted(path, [rated, free], rest).decode()
    missing = "missing in the translation (Accuracy/Omission): »tree« (confidence 61 %)"
    assert f"Major error, {missing}" in copy
    assert copy.find("<notes>") <= copy.find("<segment>")


GETTEXT = """# Translators
msgid ""
msgstr ""
"Language: de_AT\\n"
"Content-Type: text/plain; charset=ISO-8859-1\\n"

#: src/a.c:12
#| msgid "old"
msgctxt "menu"
msgid "Open"
msgstr "Öffnen"
# no blank line before
msgid ""
"two\\n"
"lines"
msgstr ""
"zwei\\n"
"Zeilen"


#, c-format
msgid "one \\"file\\""
msgid_plural "%d files"
msgstr[0] "eine Datei"
msgstr[1] "%d Dateien"

msgid "untranslated"
msgstr ""

#~ msgid "gone"
#~ msgstr "weg"
"""


@pytest.mark.parametrize("encoded", [GETTEXT, GETTEXT.replace("\n", "\r\n"), GETTEXT.rstrip()])
def test_po_comes_back_byte_for_byte(tmp_path: Path, encoded: str) -> None:
    path = tmp_path / "texts.po"
    path.write_bytes(encoded.encode("latin-1"))
    ratings = read(path)
    texts = [
        ("Open", "Öffnen"),
        ("two\nlines", "zwei\nZeilen"),
        ('one "file"', "eine Datei"),
        ("%d files", "%d Dateien"),
    ]
    assert [rating.segment for rating in ratings] == [
        Segment(target, source, key=SegmentKey(lang_pair="en-de_AT", index=index))
        for index, (source, target) in enumerate(texts)
    ]
    (french, *_) = detection.read(path, ReadOptions(lang_pair="fr-de"))
    assert french.segment.key == SegmentKey(lang_pair="fr-de_AT", index=0)
    rated = [replace(rating, rater="m", errors=(ErrorSpan(0, 4, Severity.MAJOR, None, 0.44),)) for rating in ratings]
    copy = noted(path, rated)
    assert "# Major error: »%d D« (confidence 44 %) [0..4]".encode("latin-1") in copy


@pytest.mark.parametrize("text", [XLIFF_1, XLIFF_2, PO])
def test_one_rater_of_all_units_is_named_once_and_error_free_units_have_no_note(tmp_path: Path, text: str) -> None:
    path = put(tmp_path / "texts", text)
    marks = (ErrorSpan(0, 3, Severity.MAJOR),)
    rated = [replace(rating, rater="m|x", errors=() if number else marks) for number, rating in enumerate(read(path))]
    copy = noted(path, rated).decode()
    assert (copy.count("m|x"), copy.count("[matese]"), copy.count("Major error")) == (1, 2, 1)
    again = [replace(rating, rater="again") for rating in rated]
    translation_files.save(again, tmp_path / "twice", WriteOptions(template=tmp_path / "noted"))
    assert sorted(map(repr, read(tmp_path / "twice"))) == sorted(map(repr, rated + again))


def test_what_is_not_to_be_translated(tmp_path: Path) -> None:
    text = XLIFF_1.replace("</body>", "<group translate='no'>{}</group></body>").replace('id="2">', 'id="2" {}>')
    unit = "<trans-unit id='9' {}><source>A</source><target>B</target></trans-unit>"
    for attributes, targets in (("", ["Ein Haus 😀 da."]), ("translate='yes'", ["Ein Haus 😀 da.", "B"])):
        path = put(tmp_path / "texts", text.replace('id="2" {}>', 'id="2">').replace("{}", unit.format(attributes)))
        assert [rating.segment.hypothesis for rating in read(path)] == targets
    no = put(tmp_path / "no", XLIFF_2.replace("<unit id", '<unit translate="no" id'))
    with pytest.raises(FormatError, match="holds no rating"):
        read(no)


SDL = """\ufeff<?xml version="1.0" encoding="utf-8"?>
<xliff xmlns:sdl="http://sdl.com/FileTypes/SdlXliff/1.0"
 xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2" sdl:version="2.0"><file original='a'
 source-language='en-US' target-language='de-DE' datatype='x-sdl'>
<header><sdl:cxts><note>x</note></sdl:cxts></header><body>
<trans-unit id='7'><source>A tree</source><seg-source><mrk mtype='seg' mid='1'>A tree</mrk></seg-source>
<target><mrk mtype='seg' mid='1'>Ein <g id='3'>Haus</g></mrk></target><note xml:lang='de-DE'>alt</note><sdl:seg-defs>
<sdl:seg id='1' conf='Translated'/></sdl:seg-defs></trans-unit></body></file></xliff>"""
MQ = """<?xml version="1.0" encoding="UTF-8"?>
<x:xliff xmlns:mq="MQXliff" xmlns:x="urn:oasis:names:tc:xliff:document:1.2"
 version="1.2"><x:file source-language="en" target-language="de"><x:body><x:trans-unit id="1" mq:status="Proofread">
<x:source xml:space="preserve">A tree<x:ph id="1">&lt;mq:ch val="x"/&gt;</x:ph></x:source><x:target
 xml:space="preserve">Ein Haus<x:ph id="1">y</x:ph></x:target><mq:minorversions><mq:historical-unit>
<x:target>Haus</x:target></mq:historical-unit></mq:minorversions></x:trans-unit></x:body></x:file></x:xliff>"""


@pytest.mark.parametrize("text", [SDL, MQ])
def test_dialects_of_other_tools(tmp_path: Path, text: str) -> None:
    path = put(tmp_path / "texts.xlf", text)
    (rating,) = read(path)
    assert (rating.segment.source, rating.segment.hypothesis) == ("A tree", "Ein Haus")
    rated = replace(rating, errors=(ErrorSpan(4, 8, Severity.MAJOR),))
    assert "Major error: »Haus« [".encode() in noted(path, [rated])


def test_placeholders_are_not_marked() -> None:
    text = "Ein %s {0} <b>x</b> 5 % zu"
    spans = tuple(ErrorSpan(start, end, Severity.MAJOR) for start, end in [(4, 6), (7, 10), (11, 14), (0, 6), (14, 15)])
    losses: Counter[str] = Counter()
    rating = translation_files.adapt(Rating(Segment(text), None, spans), losses)
    assert [(error.start, error.end) for error in rating.errors or ()] == [(0, 6), (14, 15)]
    assert losses == {"spans of placeholders alone": 3}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('<!DOCTYPE x [<!ENTITY a SYSTEM "file:///x">]>' + XLIFF_1, "has a document type declaration"),
        ('<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>' + XLIFF_1, "has a document type declaration"),
        (
            XLIFF_2.replace("?>", ' encoding="utf-7"?>+ADwAIQ-DOCTYPE x+AD4-', 1),
            "a copy in utf-7 would have other bytes",
        ),
        (XLIFF_1.replace("?>", ' encoding="rot13"?>', 1), "cannot be decoded"),
        (XLIFF_1.replace("?>", ' encoding="ascii"?>', 1), "cannot be decoded"),
        (XLIFF_1[:-9], "not XML \\(unclosed token"),
        (XLIFF_1.partition("<target>")[0] + "<target/></tra", "not XML \\(unclosed token"),
        (XLIFF_1.replace("?>", ' encoding="UTF\0-8"?>', 1), "cannot be decoded"),
        (XLIFF_1.replace("<source>B</source>", "<source>&a; &lt;</source>"), "not XML \\(undefined entity"),
        (f"# [matese] 1 (translations without a note have no errors)\n{PO}", "note '1'"),
        (PO + "x", "the line is 'x': must be a comment or a text"),
        (PO + 'msgid "x', "the line is 'msgid \"x': must have its text between two"),
        ('msgid "a"\nmsgstr "b"\nmsgstr "c"\n', "the line is a second msgstr: must be one for each msgid"),
        (PO + '\nmsgid "cut off"\n', "the entry has no msgstr"),
        (PO + '\nmsgctxt "cut off"\n', "the entry has no msgid"),
        (PO.replace("UTF-8", "x"), "cannot be decoded \\(unknown encoding: x\\)"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str, problem: str) -> None:
    path = put(tmp_path / "texts.xlf", text)
    with pytest.raises(FormatError, match=rf"texts\.xlf(:\d+)?: {problem}"):
        list(translation_files.read(path))


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        (
            "a.po",
            PO.replace("Haus", "H\udcf6").encode("utf-8", "surrogateescape"),
            "7: byte 0xf6 at position 13 is not UTF-8",
        ),
        ("a.po", PO.replace("UTF-8", "ascii").replace("Haus", "Häus").encode(), "7: cannot be decoded"),
        ("a.po", f"{PO}\nx".encode(), "14: the line is 'x'"),
        ("a.po", f'{PO}\n\nmsgid "x"'.encode(), "15: the entry has no msgstr"),
        ("a.xlf", XLIFF_1.replace("😀", "\udcdf").encode("utf-8", "surrogateescape"), "6: byte 0xdf at .*windows-1252"),
        ("a.xlf", XLIFF_1.replace("?>", ' encoding="ascii"?>', 1).encode(), "6: cannot be decoded"),
        ("a.xlf", XLIFF_1.encode("utf-16")[:-1], "7: cannot be decoded"),
    ],
)
def test_the_line_of_what_is_wrong(tmp_path: Path, name: str, text: bytes, problem: str) -> None:
    (tmp_path / name).write_bytes(text)
    with pytest.raises(FormatError, match=rf"/{name}:{problem}"):
        list(translation_files.read(tmp_path / name))


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [("utf-16-le", "UTF-16"), ("utf-16-be", "utf-16"), ("utf-8-sig", "UTF-8"), ("cp1252", "windows-1252")],
)
@pytest.mark.parametrize("name", ["a.xlf", "a.tmx"])
def test_xml_in_other_encodings(tmp_path: Path, name: str, encoding: str, declared: str) -> None:
    text = XLIFF_1.replace("😀", "é")
    if name == "a.tmx":
        unit = '<tu><tuv xml:lang="en"><seg>A</seg></tuv><tuv xml:lang="de"><seg>Ein Haus é da.</seg></tuv></tu>'
        text = f'<?xml version="1.0"?><tmx version="1.4"><header srclang="en"/><body>{unit}</body></tmx>'
    text = text.replace("?>", f' encoding="{declared}"?>', 1)
    mark = "\ufeff" if encoding.startswith("utf-16") else ""
    path = tmp_path / name
    path.write_bytes((mark + text).encode(encoding))
    (rating,) = detection.read(path, ReadOptions(report=lambda issue: None))
    assert rating.segment.hypothesis == "Ein Haus é da."
    if name == "a.xlf":
        rated = replace(rating, rater="matese|é", errors=(ErrorSpan(4, 10, Severity.MAJOR),))
        translation_files.save([rated], tmp_path / "noted", WriteOptions(template=path))
        assert read(tmp_path / "noted") == [rated]
        assert without_notes((tmp_path / "noted").read_bytes().decode(encoding).encode()).decode() == mark + text


def test_another_language_pair(tmp_path: Path) -> None:
    path = put(tmp_path / "texts.xlf", XLIFF_1)
    (first,) = read(path)
    assert first.segment.key == SegmentKey(lang_pair="en-de", index=1)
    french = replace(first, errors=(), segment=replace(first.segment, key=SegmentKey(lang_pair="en-fr", index=1)))
    with pytest.raises(ValueError, match=r"unit .* is en-fr and .*texts.xlf en-de: must be of one language pair"):
        translation_files.save([french], tmp_path / "out", WriteOptions(template=path))


def test_ratings_of_other_texts(tmp_path: Path) -> None:
    path = put(tmp_path / "texts.po", PO)
    rating = Rating(Segment("anders", key=SegmentKey(index=1)), None, ())
    with pytest.raises(ValueError, match=r"segment 2 is not the target of a unit of .*: must be as it was read"):
        translation_files.save([rating], tmp_path / "out", WriteOptions(template=path))
    with pytest.raises(ValueError, match="a copy of the file that the texts come from: name that with --template"):
        translation_files.save([rating], tmp_path / "out", WriteOptions())
    changed = put(tmp_path / "changed.po", PO.replace("# old", "# [matese] null\n# Minor error: »Das« [0..3]"))
    with pytest.raises(FormatError, match=r"changed.po:5: unit 'A tree %s.n': .*»Das«"):
        list(translation_files.read(changed))


@pytest.mark.parametrize("text", [XLIFF_1, XLIFF_2, PO])
@pytest.mark.parametrize("n_rated", [9, 1])  # with and without a note in the header
def test_a_persons_rating_is_in_a_file_once(tmp_path: Path, text: str, n_rated: int) -> None:
    path = put(tmp_path / "texts", text + ("" if text == PO else "\n"))
    marks = (ErrorSpan(0, 3, Severity.MAJOR), ErrorSpan(1, 2, Severity.MINOR, "Style"))
    rated = [replace(rating, rater="anna", errors=()) for rating in read(path)[:n_rated]]
    rated[0] = replace(rated[0], errors=marks)
    translation_files.save(rated, tmp_path / "once", WriteOptions(template=path))
    bobs = replace(rated[0], rater="bob")
    sentences: list[str] = []
    how = WriteOptions(template=tmp_path / "once", report=sentences.append)
    translation_files.save([*read(tmp_path / "once")[: len(rated)], bobs], tmp_path / "twice", how)
    written = [rating for rating in read(tmp_path / "twice") if rating.rater]
    assert sorted(map(repr, written)) == sorted(map(repr, [*rated, bobs]))
    assert [sentence.partition(" ")[0] for sentence in sentences] == [str(len(rated))]
    for changed in (replace(rated[0], errors=marks[:1]), replace(rated[-1], errors=marks[1:])):
        with pytest.raises(InputError, match="another note by anna"):
            translation_files.save([changed], tmp_path / "changed", how)


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, text, _ in CASES])
@pytest.mark.parametrize("n_rated", [9, 1])
def test_notes_of_a_model_replace_those_of_an_earlier_one(tmp_path: Path, name: str, text: str, n_rated: int) -> None:
    path = put(tmp_path / "texts", text)
    marks = (ErrorSpan(0, 3, Severity.MAJOR),)
    unrated = read(path)
    earlier = [replace(rating, rater="matese|model:a@1", errors=marks) for rating in unrated]
    later = [replace(rating, rater="matese|checks:all", errors=marks[:number]) for number, rating in enumerate(unrated)]
    annas = replace(unrated[0], rater="anna", errors=())
    sentences: list[str] = []
    for rated, before, after in (
        (earlier, "texts", "once"),
        ([annas], "once", "both"),
        (later[:n_rated], "both", "twice"),
        (later[:n_rated], "texts", "fresh"),
        ([annas], "fresh", "expected"),
    ):
        how = WriteOptions(template=tmp_path / before, report=sentences.append)
        translation_files.save(rated, tmp_path / after, how)
    assert sentences == [f"{len(earlier)} note{'s' * (len(earlier) > 1)} of an earlier model or check replaced"]
    assert sorted(map(repr, read(tmp_path / "twice"))) == sorted(map(repr, read(tmp_path / "expected")))
    assert without_notes((tmp_path / "twice").read_bytes()) == path.read_bytes()


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        (XLIFF_1, "</note></trans-unit>", "</note><note>{}</note></trans-unit>"),
        (
            XLIFF_2,
            "<segment><source>A",
            '<notes><note annotates="a>b" id="matese-0-0">{}</note></notes><segment><source>A',
        ),
        (PO, "# old\n", "# old\n# {}\n"),
    ],
)
def test_comments_of_replaced_notes_stay(tmp_path: Path, text: str, before: str, after: str) -> None:
    line = "\n# " if text == PO else "\n"
    free = line.join(['[matese] "matese|model:a@1": no errors', "Comment: a &amp; b", "", "Ours, too &amp; not a note"])
    path = put(tmp_path / "texts", text.replace(before, after.format(free)))
    for number in range(2):
        ratings = [replace(rating, rater=f"matese|{number}", errors=()) for rating in read(path)]
        uncommented = [replace(rating, segment=replace(rating.segment, extra=None)) for rating in ratings]
        copy = tmp_path / f"noted{number}"
        translation_files.save(uncommented, copy, WriteOptions(template=path))
        assert read(copy) == ratings
        comment = (ratings[0].segment.extra or {}).get("comment")
        assert comment == ("a &amp; b" if text == PO else "a & b")
        content = copy.read_text(encoding="utf-8")
        assert (content.count("Ours, too &amp; not a note"), content.count("Comment:")) == (1, 1)
        path = copy


def test_a_unit_that_a_model_did_not_answer_has_no_note(tmp_path: Path) -> None:
    """As `tag` writes it: the ratings are adapted first."""
    template = put(tmp_path / "texts.po", PO)
    first, *rest = read(template)
    losses = Counter[str]()
    ratings = [
        translation_files.adapt(rating, losses)
        for rating in (
            replace(first, rater="matese|llm:m"),
            *(replace(rating, rater="matese|llm:m", errors=()) for rating in rest),
        )
    ]
    assert [rating.errors for rating in ratings] == [None, (), ()]
    copy = tmp_path / "copy.po"
    lost = writing.write(ratings, copy, "po", WriteOptions(template=template))
    assert lost["ratings without spans"] == 1
    assert [rating.errors for rating in read(copy)] == [None, (), ()]

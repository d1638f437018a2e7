from __future__ import annotations

from matese.annotation import Segment, SegmentKey
from matese.checks import consistency


def found(*segments: Segment) -> list[tuple[bool, str, tuple[str, ...]]]:
    return [(text.is_source, text.text, text.counterparts) for text in consistency.find(segments)]


def test_nothing_is_inconsistent_without_two_texts() -> None:
    assert found() == []
    assert found(Segment("Sichern", "Save"), Segment("Sichern", "Save"), Segment("", "Save"), Segment("a")) == []


def test_texts_and_translations_of_several() -> None:
    segments = [Segment("Sichern", "Save"), Segment("speichern", " save"), Segment("Speichern", "Store")]
    assert found(*segments) == [
        (True, "Save", ("Sichern", "speichern")),
        (False, "speichern", (" save", "Store")),
    ]
    assert [text.segments for text in consistency.find(segments)] == [tuple(segments[:2]), tuple(segments[1:])]


def test_context_system_language_and_placeholders_are_respected() -> None:
    for segment in (
        Segment("Speichern", "Save", extra={"context": "menu"}),
        Segment("Speichern", "Save", key=SegmentKey(system="B")),
        Segment("Speichern", "Save", key=SegmentKey(lang_pair="en-nl")),
        Segment("Speichern %s", "Save"),
    ):
        assert found(Segment("Sichern", "Save"), segment) == []


def test_plural_forms_of_an_entry_differ() -> None:
    forms = [Segment("%d Dateie", "%d files", line=7), Segment("%d Dateien", "%d files", line=7)]
    assert found(*forms) == []
    assert found(*forms, Segment("%d Files", "%d files", line=9)) == [(True, "%d files", ("%d Dateie", "%d Files"))]

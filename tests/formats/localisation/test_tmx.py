"""Translation memories as translation tools write them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from matese.annotation import Rating, Segment, SegmentKey
from matese.errors import FormatError
from matese.formats import detection
from matese.formats.format import ReadOptions
from tests.formats import reading


def read(path: Path, **options: Any) -> tuple[list[Rating], list[str]]:
    ratings, notes = reading.read(path, **options)
    return ratings, [note.partition(": ")[2] for note in notes]


TMX = """<?xml version="1.0" encoding="UTF-16"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd"><tmx version="1.4"><header srclang="en-US"/>
<body><tu><tuv xml:lang="de"><seg>Ein <bpt i="1">&lt;b></bpt>Haus<ept i="1"/>.</seg></tuv><tuv xml:lang="EN-US"><seg>A
 <hi>tree</hi>.</seg></tuv></tu><tu srclang="de"><tuv lang="de"><seg>Ja</seg></tuv><tuv lang="fr"><seg>Oui</seg></tuv>
</tu></body></tmx>"""


def test_translation_memories(tmp_path: Path) -> None:
    path = tmp_path / "memory.tmx"
    path.write_text(TMX, encoding="utf-16")
    first, second = (rating.segment for rating in read(path)[0])
    assert first == Segment("Ein Haus.", "A\n tree.", key=SegmentKey(lang_pair="EN_US-de", index=0))
    assert second == Segment("Oui", "Ja", key=SegmentKey(lang_pair="de-fr", index=1))
    (back,) = detection.read(path, ReadOptions(lang_pair="french-german"))
    assert back.segment == Segment("Ja", "Oui", key=SegmentKey(lang_pair="fr-de", index=1))
    with pytest.raises(FormatError, match=r"memory\.tmx: holds no rating or translation in fr-it"):
        list(detection.read(path, ReadOptions(lang_pair="fr-it")))
    for text, problem in ((TMX[:-9], "not TMX: unclosed token"), (f"<!DOCTYPE t [<!ENTITY a 'b'>]>{TMX}", "entity")):
        path.write_text(re.sub("<[?].*?[?]>", "", text), encoding="utf-8")
        with pytest.raises(FormatError, match=problem):
            read(path)


def memory(source_lang: str, *units: str) -> str:
    """A memory whose units are written as "en: Cat | de: Katze"."""
    variants = [[variant.split(": ") for variant in unit.split(" | ")] for unit in units]
    texts = [
        "".join(f'<tuv xml:lang="{lang}"><seg>{text}</seg></tuv>' for lang, text in of_unit) for of_unit in variants
    ]
    body = "".join(f"<tu>{text}</tu>" for text in texts)
    return f'<tmx version="1.4"><header srclang="{source_lang}"/><body>{body}</body></tmx>'


FURTHER = "skipped, further text in a language"
NO_SOURCE = "skipped, unit without a text in the source language"
NO_TRANSLATION = "skipped, unit without a translation"


@pytest.mark.parametrize(
    ("source_lang", "unit", "pairs", "issues"),
    [
        ("en", "en: Cat | de: Katze", ["en-de: Cat > Katze"], []),
        ("en", "de-DE: Hund | en-US: Dog", ["en_US-de_DE: Dog > Hund"], []),
        ("en-GB", "de: Hund | en-US: Dog", ["en_US-de: Dog > Hund"], []),
        (
            "en-US",
            "en-GB: Colour | en-US: Color | de: Farbe",
            ["en_US-en_GB: Color > Colour", "en_US-de: Color > Farbe"],
            [],
        ),
        ("EN", "en: Cat | DE: Katze", ["en-DE: Cat > Katze"], []),
        ("*all*", "fr: Chat | de: Katze", ["fr-de: Chat > Katze"], []),
        ("", "fr: Chat | de: Katze", ["fr-de: Chat > Katze"], []),
        ("en", "en: Cat | de: Katze | fr: Chat", ["en-de: Cat > Katze", "en-fr: Cat > Chat"], []),
        ("en", "en: Cat | de: Katze | de: Kater", ["en-de: Cat > Katze"], [FURTHER]),
        ("en", "de: Katze | en: Cat | de: Kater | en: Tom", ["en-de: Cat > Katze"], [FURTHER] * 2),
        ("en", "en-GB: Colour | en-US: Color | de: Farbe", ["en_GB-de: Colour > Farbe"], [FURTHER]),
        ("en", "fr: Chat | de: Katze", [], [NO_SOURCE]),
        ("en", "en: Only", [], [NO_TRANSLATION]),
        ("en", "en: Only | de:  ", [], [NO_TRANSLATION]),
        ("en", "en: Only | en: Other", [], [NO_TRANSLATION]),
    ],
)
def test_which_text_is_the_source(
    tmp_path: Path, source_lang: str, unit: str, pairs: list[str], issues: list[str]
) -> None:
    path = tmp_path / "memory.tmx"
    path.write_text(memory(source_lang, unit, "en: Yes | en-US: Yes | de: Ja"), encoding="utf-8")
    ratings, reported = read(path)
    keys = [rating.segment.key for rating in ratings]
    texts = [
        f"{key and key.lang_pair}: {r.segment.source} > {r.segment.hypothesis}"
        for key, r in zip(keys, ratings, strict=True)
    ]
    assert [text for key, text in zip(keys, texts, strict=True) if key and key.index == 0] == pairs
    assert reported[: len(issues)] == issues


def test_the_asked_language_pair(tmp_path: Path) -> None:
    path = tmp_path / "memory.tmx"
    path.write_text(
        memory("en", "en: Cat | de-AT: Katz | de-DE: Katze | fr: Chat", "en: Dog | fr: Chien"), encoding="utf-8"
    )
    ratings, issues = read(path, lang_pair="fr-de")
    assert [(r.segment.source, r.segment.hypothesis) for r in ratings] == [("Chat", "Katz"), ("Chat", "Katze")]
    assert issues == [NO_TRANSLATION]

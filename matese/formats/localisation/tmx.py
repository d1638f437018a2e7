"""TMX, translation memories, which can only be read: a unit has texts in several languages, of which one is the source.

The source language is the one that the file names, or that of `--lang-pair`, which also selects the target language. A
language may be named without its region: `en` for a text in `en-US`. Where a unit has several texts in one language,
the first is read. The others are counted, as are units without a source, or without a translation of it. Inline code
(`<ph>`, `<bpt>`, ...) is not part of the texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from matese.annotation import Codes, InlineCode, Rating, Segment, SegmentKey
from matese.errors import FormatError, InputError
from matese.files import name_of, open_binary
from matese.formats.format import STRICT, ReadOptions
from matese.formats.row_issues import RowIssues

_CODE = {"bpt", "ept", "it", "ph", "ut", "sub"}
_ANY = "*all*"
"""Stands for the source language where any language can be the source."""
_CHUNK = 1 << 16


_Variant = tuple[str, str, tuple[InlineCode, ...]]
"""Language, text and inline codes."""


@dataclass(slots=True)
class _Unit:
    """A unit of a translation memory.

    Attributes:
        line: where it begins.
        source_lang: in our form, `_ANY`, or empty if it is not stated.
        texts: (language in our form, text, its inline codes), without blank ones.
    """

    line: int
    source_lang: str
    texts: list[_Variant] = field(default_factory=list)


class _Reader:
    """Collects the units while the parser calls its methods."""

    def __init__(self) -> None:
        self.source_lang = ""
        self.units: list[_Unit] = []
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._take
        self.parser.EntityDeclHandler = _refuse
        self._unit = _Unit(0, "")
        self._lang = ""
        self._collected: list[str] | None = None
        self._codes: list[InlineCode] = []
        self._n_code = 0

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "header":
            self.source_lang = attributes.get("srclang", "")
        elif name == "tu":
            source_lang = attributes.get("srclang", self.source_lang).replace("-", "_")
            self._unit = _Unit(self.parser.CurrentLineNumber, source_lang)
        elif name == "tuv":
            self._lang = (attributes.get("xml:lang") or attributes.get("lang") or "").replace("-", "_")
        elif name == "seg":
            self._collected = []
            self._codes = []
            self._n_code = 0
        # `x` says which codes of two languages are the same; `i` only pairs the ends of one.
        if (name in _CODE and name != "sub" and not self._n_code) or name == "hi":
            self._codes.append(InlineCode(name, attributes.get("x", ""), attributes.get("type", "")))
        self._n_code += name in _CODE

    def _take(self, text: str) -> None:
        if self._collected is not None and not self._n_code:
            self._collected.append(text)

    def _end(self, name: str) -> None:
        self._n_code -= name in _CODE
        if name == "seg":
            text = "".join(self._collected or ())
            self._collected = None
            self._unit.texts += [(self._lang, text, tuple(self._codes))] if text.strip() else []
        elif name == "tu":
            self.units.append(self._unit)


def _refuse(*_: object) -> None:
    raise InputError("declares an entity: must be plain TMX")


def read(path: str | Path, reading: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields the pairs of each unit; units count from 0."""
    reader = _Reader()
    number = -1
    with open_binary(path, keeps_utf16=True) as stream:
        while chunk := stream.read(_CHUNK):
            _parse(chunk, reader, path)
            for unit in reader.units:
                number += 1
                yield from _ratings(unit, number, reading, RowIssues(name_of(path), reading.report, unit.line))
            reader.units.clear()
        _parse(b"", reader, path)


def _parse(chunk: bytes, reader: _Reader, path: str | Path) -> None:
    """Passes a part of a file to the parser; an empty one is its end."""
    try:
        reader.parser.Parse(chunk, not chunk)
    except (expat.ExpatError, LookupError, ValueError) as error:  # the last two for encodings that expat lacks
        raise FormatError(name_of(path), reader.parser.CurrentLineNumber, f"not TMX: {error}") from None


def _ratings(unit: _Unit, number: int, reading: ReadOptions, issues: RowIssues) -> Iterator[Rating]:
    source_lang, _, target_lang = (reading.lang_pair or unit.source_lang).partition("-")
    sources = _in_language(unit.texts, source_lang)
    foreign = [variant for variant in unit.texts if variant not in sources]
    translations = _in_language(foreign, target_lang) if target_lang else foreign
    if not sources or not translations:
        issues.skip("unit without a translation" if sources else "unit without a text in the source language", None)
        return
    (lang, source, codes), *further = sources
    seen = {lang.casefold()}
    for target, text, other_codes in translations:
        if target.casefold() in seen:
            further.append((target, text, other_codes))
            continue
        seen.add(target.casefold())
        key = SegmentKey(lang_pair=f"{lang}-{target}", index=number)
        name = f"unit in line {issues.line}"
        both = Codes(codes, other_codes) if codes or other_codes else None
        yield Rating(Segment(text, source, key=key, line=issues.line, name=name, codes=both), None, None)
    for target, *_ in further:
        issues.skip("further text in a language", f"must be one text in {target}")


def _in_language(texts: Sequence[_Variant], lang: str) -> list[_Variant]:
    """Returns the texts in a language with its region, or else, in any region; the first if there is no language."""
    if lang in ("", _ANY):
        return list(texts[:1])
    exact = [variant for variant in texts if variant[0].casefold() == lang.casefold()]
    return exact or [variant for variant in texts if _without_region(variant[0]) == _without_region(lang)]


def _without_region(lang: str) -> str:
    return lang.partition("_")[0].casefold()

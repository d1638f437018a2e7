"""The units of XLIFF 1.2 and 2, among them the dialects of Trados (SDLXLIFF) and memoQ (MQXLIFF).

Notes are inserted into the bytes of the file, so that all others stay as they were.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from matese.errors import InputError
from matese.formats.localisation import notes
from matese.formats.localisation.units import LocalisationFile, Unit, insert

_CODE = {"x", "bx", "ex", "ph", "it", "bpt", "ept", "sub", "sc", "ec", "cp", "sm", "em"}
_LANG = "http://www.w3.org/XML/1998/namespace lang"
_ENCODING = re.compile(rb"[^<]{0,3}<\?xml[^>]*?\bencoding\s*=\s*[\"']([^\"']*)")
_PREFIX = re.compile(rb"</?([^\s:>/]+:)?")


@dataclass(slots=True)
class _Element:
    """What holds notes: a `trans-unit` of XLIFF 1.2, or a `unit` of XLIFF 2 with its segments.

    Attributes:
        name: its id.
        prefix: of its namespace, with the colon.
        is_2: whether it is of XLIFF 2.
        place: the byte before which notes are inserted; None if it is not known yet.
        has_notes: whether it has an element `notes`.
        notes: id and text of each.
        n_segments: number of segments so far.
    """

    name: str = ""
    prefix: str = ""
    is_2: bool = False
    place: int | None = None
    has_notes: bool = False
    notes: list[tuple[str, str]] = field(default_factory=list)
    n_segments: int = 0

    def start_of_ids(self, segment: int) -> str:
        """Returns how the ids of our notes of a segment begin."""
        return f"{notes.ORIGIN}-{segment}-" if self.is_2 else ""


class _Reader:
    """Collects the units while the parser calls its methods."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.units: dict[int, Unit] = {}
        self.places: dict[int, tuple[_Element, int]] = {}  # by unit: the element, and the number of the segment in it
        self.lang: str | None = None
        self.header = list[str]()
        self._has_header = False
        # The byte before which notes are inserted, and the element that is missing around them.
        self._header_place: tuple[int, str] | None = None
        self._prefix = ""
        self._n_units, self._core = 0, ""
        self._path: list[str] = []
        self._translate = ["yes"]
        self._languages: tuple[str | None, str | None] = (None, None)
        self._element, self._texts, self._note_id = _Element(), dict[str, str](), ""
        # The text that is collected, the depth of its element, and the number of code elements around.
        self._collected: list[str] | None = None
        self._depth, self._n_code = 0, 0
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartElementHandler, self._parser.EndElementHandler = self._start, self._end
        self._parser.CharacterDataHandler, self._parser.StartDoctypeDeclHandler = self._take, _refuse
        self._parser.Parse(raw, True)

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        space, _, local = name.rpartition(" ")
        if not self._path:
            self._core, self._languages = space, (attributes.get("srcLang"), attributes.get("trgLang"))
        parent = self._path[-1] if self._path else ""
        self._path.append(local if space == self._core else name)  # elements of other namespaces are ignored
        local, at = self._path[-1], self._parser.CurrentByteIndex
        self._translate.append(attributes.get("translate", self._translate[-1]))
        if self._collected is not None:
            self._n_code += local in _CODE
            return
        if local == "file" and "source-language" in attributes:
            self._languages = attributes.get("source-language"), attributes.get("target-language")
        elif local in ("unit", "trans-unit"):
            self._element = _Element(attributes.get("id", ""), self._prefix_at(at), is_2=local == "unit")
        elif parent == "unit" and local in ("originalData", "segment", "ignorable"):
            self._element.place = at if self._element.place is None else self._element.place
        if parent == "file" and not self._has_header:
            self._start_in_file(local, at)
        if local in ("trans-unit", "segment"):
            self._texts = {}
        elif local == "note":
            self._note_id, self.lang = attributes.get("id", ""), self.lang or attributes.get(_LANG)
        if local == "note" or (local in ("source", "target") and parent in ("trans-unit", "segment")):
            self._collected, self._depth, self._n_code = [], len(self._path), 0

    def _start_in_file(self, local: str, at: int) -> None:
        """Notes go into the header of the first file, or before its first unit, in an element of their own."""
        self._has_header = local in ("header", "notes", "body", "unit", "group")
        if local in ("body", "unit", "group"):
            self._header_place, self._prefix = (at, "header" if local == "body" else "notes"), self._prefix_at(at)

    def _take(self, text: str) -> None:
        if self._collected is not None and not self._n_code:
            self._collected.append(text)

    def _end(self, name: str) -> None:
        depth, local, at = len(self._path), self._path.pop(), self._parser.CurrentByteIndex
        parent = self._path[-1] if self._path else ""
        if self._collected is not None and depth > self._depth:
            self._n_code -= local in _CODE
        elif self._collected is not None:
            text, self._collected = "".join(self._collected), None
            if self._path[-1:] == ["header"] or self._path[-2:] == ["file", "notes"]:
                self.header += text.split("\n")
            elif local == "note":
                self._element.notes.append((self._note_id, text))
            else:
                self._texts[local] = text
            if local == "target" and parent == "trans-unit":
                self._element.place = self.raw.index(b">", at) + 1
        elif parent == "file" and local in ("header", "notes") and self._header_place is None:
            if self.raw.startswith(b"</", at):  # not an empty element
                self._header_place, self._prefix = (at, ""), self._prefix_at(at)
        elif local == "notes" and parent == "unit":
            self._element.place, self._element.has_notes = at, True
        elif local in ("trans-unit", "segment"):
            self._add()
        self._translate.pop()

    def _prefix_at(self, at: int) -> str:
        """Returns the prefix of the namespace in a tag, with the colon."""
        prefix = _PREFIX.match(self.raw, at)
        return ((prefix and prefix[1]) or b"").decode()

    def _add(self) -> None:
        """Adds the unit that ends here, if it is to be translated."""
        element, index = self._element, self._n_units
        number, element.n_segments = element.n_segments, element.n_segments + 1
        self._n_units += 1
        if self._translate[-1] == "no":
            return
        pair = [code.replace("-", "_") for code in self._languages if code]
        own_notes = [text for name, text in element.notes if name.startswith(element.start_of_ids(number))]
        unit = Unit(
            element.name,
            self._parser.CurrentLineNumber,
            self._texts.get("source", ""),
            self._texts.get("target", ""),
            "-".join(pair) if len(pair) == 2 else None,
            [note for text in own_notes for _, note in notes.split(text.split("\n"))],
        )
        self.places[index], self.units[index] = (element, number), unit

    @property
    def has_header(self) -> bool:
        """Whether there is a place for notes in the header of the first file."""
        return self._header_place is not None

    def add(self, notes_by_unit: Mapping[int, Sequence[str]]) -> bytes:
        """Returns the file with notes."""
        pieces: dict[int, str] = defaultdict(str)
        elements: dict[int, _Element] = {}
        for index, texts in notes_by_unit.items():
            if index < 0:
                place, piece = self._header_notes(texts)
                pieces[place] += piece
                continue
            element, segment = self.places[index]
            assert element.place is not None
            elements[element.place] = element
            start = element.start_of_ids(segment)
            n_notes = sum(name.startswith(start) for name, _ in element.notes)
            for number, text in enumerate(texts, start=n_notes):
                ids = f'id="{start}{number}" category' if element.is_2 else "from"
                tag = f"{element.prefix}note"
                pieces[element.place] += f'<{tag} {ids}="{notes.ORIGIN}">{html.escape(text, quote=False)}</{tag}>'
        for place, element in elements.items():
            if element.is_2 and not element.has_notes:
                pieces[place] = f"<{element.prefix}notes>{pieces[place]}</{element.prefix}notes>"
        return insert(self.raw, pieces)

    def _header_notes(self, texts: Sequence[str]) -> tuple[int, str]:
        """Returns the place of notes in the header, and the notes as XML."""
        assert self._header_place is not None
        place, missing = self._header_place
        attribute = "category" if any(element.is_2 for element, _ in self.places.values()) else "from"
        tag = f"{self._prefix}note"
        xml = "".join(f'<{tag} {attribute}="{notes.ORIGIN}">{html.escape(text, quote=False)}</{tag}>' for text in texts)
        around = f"{self._prefix}{missing}"
        return place, f"<{around}>{xml}</{around}>" if missing else xml


def _refuse(*_: object) -> NoReturn:
    raise InputError("has a document type declaration, or is not UTF-8: must be plain XLIFF")


def parse(raw: bytes) -> LocalisationFile:
    """Returns the units of a file.

    Raises:
        InputError: if it has a document type, or is not UTF-8.
        expat.ExpatError: if it is not XML.
    """
    declared = _ENCODING.match(raw)
    if b"\0" in raw or (declared and declared[1].lower() not in (b"utf-8", b"us-ascii")):
        _refuse()
    reader = _Reader(raw)
    units = {number: unit for number, unit in reader.units.items() if unit.target}
    untranslated = {n: unit for n, unit in reader.units.items() if not unit.target and unit.source.strip()}
    return LocalisationFile(units, reader.add, untranslated, reader.lang, reader.has_header, reader.header)

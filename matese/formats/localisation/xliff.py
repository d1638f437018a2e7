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
_SEPARATOR = "\x1f"
"""Between namespace and name of an element; XML cannot hold it, while some files have namespaces with spaces."""
_UNFINISHED = {"new", "needs-translation", "needs-l10n", "needs-adaptation", "initial"}
_FINISHED = {
    *("translated", "signed-off", "reviewed", "final"),
    *("needs-review-translation", "needs-review-l10n", "needs-review-adaptation"),
}
"""States of XLIFF 1.2 and 2; what is to be reviewed has been translated."""
_ENCODING = re.compile(rb"[^<]{0,3}<\?xml[^>]*?\bencoding\s*=\s*[\"']([^\"']*)")
_PREFIX = re.compile(rb"</?([^\s:>/]+:)?")


@dataclass(slots=True)
class _Segment:
    """A source and its target.

    Attributes:
        index: it counts all in the file.
        line: in the file.
        is_to_translate: whether the file does not say `translate="no"`.
        source: without inline code.
        target: likewise.
        state: of the translation; None if it is not stated.
    """

    index: int
    line: int
    is_to_translate: bool
    source: str
    target: str
    state: str | None


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
        segments: of XLIFF 2; a `trans-unit` has one.
    """

    name: str = ""
    prefix: str = ""
    is_2: bool = False
    place: int | None = None
    has_notes: bool = False
    notes: list[tuple[str, str]] = field(default_factory=list)
    segments: list[_Segment] = field(default_factory=list)

    def start_of_ids(self, segment: int) -> str:
        """Returns how the ids of our notes of a segment begin."""
        return f"{notes.ORIGIN}-{segment}-" if self.is_2 else ""

    def segment_of(self, note_id: str) -> int | None:
        """Returns the number of the segment that a note with this id is of; None if it is not known."""
        if len(self.segments) == 1:
            return 0
        numbers = range(len(self.segments))
        return next((number for number in numbers if note_id.startswith(self.start_of_ids(number))), None)


class _Reader:
    """Collects the units while the parser calls its methods."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.units: dict[int, Unit] = {}
        self.places: dict[int, tuple[_Element, int]] = {}  # by unit: the element, and the number of the segment in it
        self.header = list[str]()
        self._has_header = False
        # The byte before which notes are inserted, and the element that is missing around them.
        self._header_place: tuple[int, str] | None = None
        self._prefix = ""
        self._n_units = 0
        self._core = ""
        self._path: list[str] = []
        self._translate = ["yes"]
        self._languages: tuple[str | None, str | None] = (None, None)
        self._element = _Element()
        self._texts = dict[str, str]()
        self._note_id = ""
        self._state: str | None = None
        # The text that is collected, the depth of its element, and for each element in it whether its text is left out.
        self._collected: list[str] | None = None
        self._depth = 0
        self._left_out = list[bool]()
        self._parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._take
        self._parser.StartDoctypeDeclHandler = _refuse
        self._parser.Parse(raw, True)

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        space, _, local = name.rpartition(_SEPARATOR)
        if not self._path:
            self._core = space
            self._languages = (attributes.get("srcLang"), attributes.get("trgLang"))
        parent = self._path[-1] if self._path else ""
        self._path.append(local if space == self._core else name)  # elements of other namespaces are ignored
        local = self._path[-1]
        at = self._parser.CurrentByteIndex
        self._translate.append(attributes.get("translate", self._translate[-1]))
        if self._collected is not None:
            self._left_out.append(local in _CODE or _is_deleted(name, attributes))
            return
        if local == "file" and "source-language" in attributes:
            self._languages = attributes.get("source-language"), attributes.get("target-language")
        elif local in ("unit", "trans-unit"):
            self._element = _Element(attributes.get("id", ""), self._prefix_at(at), is_2=local == "unit")
        elif parent == "unit" and local in ("originalData", "segment", "ignorable"):
            self._element.place = at if self._element.place is None else self._element.place
        if parent == "file" and not self._has_header:
            self._start_in_file(local, at)
        self._start_text(local, parent, attributes)

    def _start_text(self, local: str, parent: str, attributes: Mapping[str, str]) -> None:
        """Begins a segment, or the text of a source, target or note."""
        if local in ("trans-unit", "segment"):
            self._texts = {}
            self._state = attributes.get("state")
        elif local == "note":
            self._note_id = attributes.get("id", "")
        elif local == "target" and parent == "trans-unit":
            self._state = attributes.get("state")
        if local == "note" or (local in ("source", "target") and parent in ("trans-unit", "segment")):
            self._collected = []
            self._depth = len(self._path)
            self._left_out = []

    def _start_in_file(self, local: str, at: int) -> None:
        """Notes go into the header of the first file, or before its first unit, in an element of their own."""
        self._has_header = local in ("header", "notes", "body", "unit", "group")
        if local in ("body", "unit", "group"):
            self._header_place = (at, "header" if local == "body" else "notes")
            self._prefix = self._prefix_at(at)

    def _take(self, text: str) -> None:
        if self._collected is not None and not any(self._left_out):
            self._collected.append(text)

    def _end(self, name: str) -> None:
        depth = len(self._path)
        local = self._path.pop()
        at = self._parser.CurrentByteIndex
        parent = self._path[-1] if self._path else ""
        if self._collected is not None and depth > self._depth:
            self._left_out.pop()
        elif self._collected is not None:
            self._end_text(local, parent, "".join(self._collected))
            self._collected = None
            if local == "target" and parent == "trans-unit":
                self._element.place = self.raw.index(b">", at) + 1
        elif parent == "file" and local in ("header", "notes") and self._header_place is None:
            if self.raw.startswith(b"</", at):  # not an empty element
                self._header_place = (at, "")
                self._prefix = self._prefix_at(at)
        elif local == "notes" and parent == "unit" and self.raw.startswith(b"</", at):
            self._element.place = at
            self._element.has_notes = True
        elif local == "segment":
            self._add_segment()
        elif local == "trans-unit":
            self._add_segment()
            self._add_units()
        elif local == "unit":  # its notes may follow the segments
            self._add_units()
        self._translate.pop()

    def _end_text(self, local: str, parent: str, text: str) -> None:
        """Keeps the text of a source, target or note."""
        if parent == "header" or self._path[-2:] == ["file", "notes"]:
            self.header += text.split("\n")
        elif local == "note":
            self._element.notes.append((self._note_id, text))
        else:
            self._texts[local] = text

    def _prefix_at(self, at: int) -> str:
        """Returns the prefix of the namespace in a tag, with the colon."""
        prefix = _PREFIX.match(self.raw, at)
        return ((prefix and prefix[1]) or b"").decode()

    def _add_segment(self) -> None:
        self._element.segments.append(
            _Segment(
                self._n_units,
                self._parser.CurrentLineNumber,
                self._translate[-1] != "no",
                self._texts.get("source", ""),
                self._texts.get("target", ""),
                self._state,
            )
        )
        self._n_units += 1

    def _add_units(self) -> None:
        """Adds a unit for each segment of the element that ends here, if it is to be translated."""
        element = self._element
        pair = [code.replace("-", "_") for code in self._languages if code]
        own_notes: dict[int | None, list[notes.Note]] = defaultdict(list)
        for name, text in element.notes:
            own_notes[element.segment_of(name)] += notes.split(text.split("\n"))
        foreign = [("note of no segment", f"must have an id such as {element.start_of_ids(0)}0")] * len(own_notes[None])
        for number, segment in enumerate(element.segments):
            if not segment.is_to_translate or not (segment.source.strip() or segment.target.strip()):
                continue
            is_known = segment.state is None or segment.state in _FINISHED | _UNFINISHED
            states = [] if is_known else [("unknown state", f"{segment.state!r} must be one of XLIFF")]
            self.places[segment.index] = element, number
            self.units[segment.index] = Unit(
                element.name,
                segment.line,
                segment.source,
                segment.target,
                "-".join(pair) if len(pair) == 2 else None,
                own_notes[number],
                is_finished=segment.state not in _UNFINISHED,
                not_understood=[*foreign, *states],
            )

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


def _is_deleted(name: str, attributes: Mapping[str, str]) -> bool:
    """Whether an element is text that a tracked change has deleted.

    SDLXLIFF has `mrk` with the types x-sdl-deleted and x-sdl-feedback-deleted; other tools have elements of their own.
    """
    kind = attributes.get("mtype", "")
    return name.rpartition(_SEPARATOR)[2] == "del" or (kind.startswith("x-sdl-") and kind.endswith("-deleted"))


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
    return LocalisationFile(reader.units, reader.add, reader.has_header, reader.header)

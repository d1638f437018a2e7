"""The units of XLIFF 1.2 and 2, among them the dialects of Trados (SDLXLIFF) and memoQ (MQXLIFF).

Notes are inserted into the bytes of the file, so that all others stay as they were.
"""

from __future__ import annotations

import codecs
import html
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from matese.annotation import Codes, InlineCode
from matese.errors import FormatError, InputError, shortened
from matese.files import decode, name_of
from matese.formats import corrections, mqm_tags, unit_states
from matese.formats.localisation import notes
from matese.formats.localisation.units import LocalisationFile, Unit, splice

_CODE = {"x", "bx", "ex", "ph", "it", "bpt", "ept", "sub", "sc", "ec", "cp", "sm", "em"}
_MARKS = {"sub", "sm", "em"}
"""Those that are no codes of their own: texts within a code, and ends of annotations."""
_AROUND_TEXT = {"g", "pc"}
"""Codes whose content is text."""
_SEPARATOR = "\x1f"
"""Between namespace and name of an element; XML cannot hold it, while some files have namespaces with spaces."""
_ISSUES = (f"{_SEPARATOR}startIssue", f"{_SEPARATOR}endIssue")
"""Elements of translate5, in a namespace of their own."""
_OF_OLDER_VERSION = re.compile(r"pm[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_JUDGEMENTS = ("state-qualifier", "status", "conf")
"""Attributes in which XLIFF 1.2, memoQ and Trados say that a reviewer has rejected a translation."""
_UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_ENCODING = re.compile(rb"[^<]{0,3}<\?xml[^>]*?\bencoding\s*=\s*[\"']([^\"']*)")
_TAG = re.compile(rb"""<(?:[^"'>]|"[^"]*"|'[^']*')*>""")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_PREFIX = re.compile(rb"</?([^\s:>/]+:)?")


@dataclass(frozen=True, slots=True)
class _LetterPlace:
    """Where a code point of a text is in the file, in bytes: from `start` to before `end`."""

    start: int
    end: int
    is_literal: bool


@dataclass(slots=True)
class _Text:
    """The text of a source, a target or a note.

    Attributes:
        depth: number of open elements with its own.
        note_id: the id of a note.
        start: the first byte of its content.
        parts: of it, without inline code: the first byte of each, the text, and whether it is in CDATA, where no
            character is escaped.
        codes: its inline codes.
        issues: tags of errors that translate5 has put into it, each before the code point with a number.
        left_out: depth of the inline code, or deleted text, in which the parser is; None if it is in none.
        codes_around: the numbers of those around words, by their first byte.
        code_start: the first byte of the last code.
        raw_codes: the bytes of codes by their names; of those around words, each tag has its own: <g 1>, </g 1>.
    """

    depth: int = 0
    note_id: str = ""
    start: int = 0
    parts: list[tuple[int, str, bool]] = field(default_factory=list)
    codes: list[InlineCode] = field(default_factory=list)
    issues: list[tuple[int, str]] = field(default_factory=list)
    left_out: int | None = None
    codes_around: dict[int, int] = field(default_factory=dict)
    code_start: int = 0
    raw_codes: dict[str, bytes] = field(default_factory=dict)

    @property
    def content(self) -> str:
        """The text, without inline code."""
        return "".join(text for _, text, _ in self.parts)

    @property
    def content_with_issues(self) -> str:
        """The text with the tags of translate5 that are in it."""
        text = self.content
        for place, tag in reversed(self.issues):
            text = f"{text[:place]}{tag}{text[place:]}"
        return text

    def places(self, raw: bytes) -> Iterator[_LetterPlace]:
        """Yields where the code points are in a file."""
        for at, text, is_literal in self.parts:
            for letter in text:
                if raw[at : at + 1] == b"&" and not is_literal:
                    end = raw.index(b";", at) + 1
                else:
                    end = at + (2 if raw[at : at + 2] == b"\r\n" else len(letter.encode()))
                yield _LetterPlace(at, end, is_literal)
                at = end


@dataclass(slots=True)
class _Segment:
    """A source and its target.

    Attributes:
        index: it counts all in the file.
        line: in the file.
        is_to_translate: whether the file does not say `translate="no"`.
        source: empty if there is none.
        target: likewise; the first, if there are several.
        n_targets: how many there are.
        state: of the translation; None if it is not stated.
        rejected: what says that a reviewer has rejected the translation, such as "rejected-grammar"; None if nothing.
    """

    index: int = 0
    line: int = 0
    is_to_translate: bool = True
    source: _Text = field(default_factory=_Text)
    target: _Text = field(default_factory=_Text)
    n_targets: int = 0
    state: str | None = None
    rejected: str | None = None


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
        limit: the most characters of its translation; "" for any.
    """

    name: str = ""
    prefix: str = ""
    is_2: bool = False
    place: int | None = None
    has_notes: bool = False
    notes: list[tuple[str, str]] = field(default_factory=list)
    segments: list[_Segment] = field(default_factory=list)
    limit: str = ""

    def start_of_ids(self, segment: int) -> str:
        """Returns how the ids of our notes of a segment begin."""
        return f"{notes.ORIGIN}-{segment}-" if self.is_2 else ""

    def segment_of(self, note_id: str) -> int | None:
        """Returns the number of the segment that a note with this id is of; None if it is not known."""
        if len(self.segments) == 1:
            return 0
        numbers = range(len(self.segments))
        return next((number for number in numbers if note_id.startswith(self.start_of_ids(number))), None)


@dataclass(slots=True)
class _Open:
    """An element that has begun and not ended.

    Attributes:
        name: without namespace if that is the file's own; elements of others are ignored.
        translate: "no" if its content, or that of an element around it, is not to be translated.
        start: its first byte.
    """

    name: str
    translate: str
    start: int


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an element is in the file, in bytes: from `start` to before `end`, and its content likewise.

    Attributes:
        text: of a note; "" for what is around notes.
    """

    start: int
    content_start: int
    content_end: int
    end: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class _HeaderPlace:
    """Where notes on the whole file are inserted.

    Attributes:
        place: the byte before which.
        prefix: of the namespace there, with the colon.
        missing: name of the element around notes if the file has none.
    """

    place: int
    prefix: str
    missing: str = ""


class _Reader:
    """Collects the units while the parser calls its methods.

    Either a text is open, and everything in it is its content or left out; or none is, and elements are structure.
    """

    def __init__(self, raw: bytes) -> None:
        """Reads a file that is in UTF-8."""
        self.raw = raw
        self.units: dict[int, Unit] = {}
        self.places: dict[int, tuple[_Element, int]] = {}  # by unit: the element, and the number of the segment in it
        self.header = list[str]()
        self._note_places: list[_Place] = []
        self._around_notes: list[_Place] = []
        self._header_place: _HeaderPlace | None = None
        self._is_past_head = False  # the header of the first file has begun, or its first unit if it has no header
        self._core = ""  # the namespace of the file
        self._languages: tuple[str | None, str | None] = (None, None)
        self._open: list[_Open] = []
        self._text: _Text | None = None
        self._element = _Element()
        self._segment = _Segment()
        self._n_segments = 0
        self._is_literal = False  # within CDATA, where no character is escaped
        self._parser = expat.ParserCreate("utf-8", namespace_separator=_SEPARATOR)  # whatever the file declares
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._take
        self._parser.StartCdataSectionHandler = partial(self._set_literal, True)
        self._parser.EndCdataSectionHandler = partial(self._set_literal, False)
        self._parser.StartDoctypeDeclHandler = _refuse
        self._parser.Parse(raw, True)

    @property
    def _parent(self) -> str:
        return self._open[-1].name if self._open else ""

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        space, _, local = name.rpartition(_SEPARATOR)
        if not self._open:
            self._core = space
            self._languages = (attributes.get("srcLang"), attributes.get("trgLang"))
        local = local if space == self._core else name
        parent = self._parent
        inherited = self._open[-1].translate if self._open else "yes"
        at = self._parser.CurrentByteIndex
        self._open.append(_Open(local, attributes.get("translate", inherited), at))
        if self._text is None:
            self._start_structure(local, parent, attributes, at=at)
        elif self._text.left_out is None:
            is_deleted = _is_deleted(name, attributes)
            if local in (_CODE | _AROUND_TEXT) - _MARKS and not is_deleted and not _continues(attributes):
                code = _code(local, attributes, len(self._text.content))
                self._text.codes.append(code)
                self._text.code_start = at
                if local in _AROUND_TEXT:
                    start = self._tag(self._open[-1]).replace(b"/>", b">")
                    self._text.codes_around[at] = len(self._text.codes) - 1
                    end = f"</{self._prefix_at(at)}{local}>"
                    self._text.raw_codes |= {code.name: start, code.end_name: end.encode()}
            if local in _CODE or is_deleted:
                self._text.left_out = len(self._open)
            if local.endswith(_ISSUES):
                tag = mqm_tags.tag(local.rpartition(_SEPARATOR)[2], attributes)
                self._text.issues.append((len(self._text.content), tag))

    def _start_structure(self, local: str, parent: str, attributes: Mapping[str, str], *, at: int) -> None:
        if local == "file" and "source-language" in attributes:
            self._languages = (attributes.get("source-language"), attributes.get("target-language"))
        elif local in ("unit", "trans-unit"):
            self._element = _Element(attributes.get("id", ""), self._prefix_at(at), is_2=local == "unit")
            self._element.limit = _limit(attributes)
        elif parent == "unit" and local in ("originalData", "segment", "ignorable") and self._element.place is None:
            self._element.place = at
        if parent == "file" and not self._is_past_head:
            self._start_in_file(local, at)
        if local in ("trans-unit", "segment"):
            self._segment = _Segment(state=attributes.get("state"))
        elif local == "target" and parent == "trans-unit" and not self._segment.n_targets:
            self._segment.state = attributes.get("state")
        if (
            local == "trans-unit"
            or (local == "target" and parent == "trans-unit")
            or local.endswith(f"{_SEPARATOR}seg")
        ):
            self._segment.rejected = _rejected(attributes) or self._segment.rejected
        if local == "note" or (local in ("source", "target") and parent in ("trans-unit", "segment")):
            self._text = _Text(len(self._open), attributes.get("id", ""))

    def _start_in_file(self, local: str, at: int) -> None:
        """Notes go into the header of the first file, or before its first unit, in an element of their own."""
        self._is_past_head = local in ("header", "notes", "body", "unit", "group")
        if local in ("body", "unit", "group"):
            self._header_place = _HeaderPlace(at, self._prefix_at(at), "header" if local == "body" else "notes")

    def _take(self, text: str) -> None:
        if self._text is not None and self._text.left_out is None:
            self._text.parts.append((self._parser.CurrentByteIndex, text, self._is_literal))

    def _set_literal(self, is_literal: bool) -> None:
        self._is_literal = is_literal

    def _end(self, name: str) -> None:
        depth = len(self._open)
        ended = self._open.pop()
        if self._text is None:
            self._end_structure(ended)
        elif depth == self._text.depth:
            self._end_text(ended, self._text)
            self._text = None
        elif depth == self._text.left_out:
            self._text.left_out = None
            if ended.start == self._text.code_start:
                self._text.raw_codes[self._text.codes[-1].name] = self.raw[ended.start : self._place(ended).end]
        elif ended.start in self._text.codes_around:
            number = self._text.codes_around[ended.start]
            self._text.codes[number] = replace(self._text.codes[number], end=len(self._text.content))

    def _end_structure(self, ended: _Open) -> None:
        at = self._parser.CurrentByteIndex
        is_empty = self._tag(ended).endswith(b"/>")
        if ended.name in ("header", "notes"):
            self._around_notes.append(self._place(ended))
        match self._parent, ended.name:
            case "file", "header" | "notes":
                if self._header_place is None and not is_empty:
                    self._header_place = _HeaderPlace(at, self._prefix_at(at))
            case "unit", "notes":
                if not is_empty:
                    self._element.place = at
                    self._element.has_notes = True
            case _, "segment":
                self._add_segment(ended)
            case _, "trans-unit":
                self._add_segment(ended)
                self._add_units()
            case _, "unit":  # its notes may follow the segments
                self._add_units()

    def _end_text(self, ended: _Open, text: _Text) -> None:
        """Keeps the text of a source, target or note."""
        place = self._place(ended, text.content)
        text.start = place.content_start
        if ended.name == "note":
            self._note_places.append(place)
        if self._parent == "header" or [element.name for element in self._open[-2:]] == ["file", "notes"]:
            self.header += text.content.split("\n")
        elif ended.name == "note":
            self._element.notes.append((text.note_id, text.content))
        elif ended.name == "source":
            self._segment.source = text
        else:
            self._segment.n_targets += 1
            if self._segment.n_targets == 1:
                self._segment.target = text
            if self._parent == "trans-unit":
                self._element.place = place.end

    def _place(self, ended: _Open, text: str = "") -> _Place:
        """Returns the place of the element that ends here."""
        tag = self._tag(ended)
        content_start = ended.start + len(tag)
        if tag.endswith(b"/>"):
            return _Place(ended.start, content_start, content_start, content_start, text)
        content_end = self._parser.CurrentByteIndex
        end = self.raw.index(b">", content_end) + 1
        return _Place(ended.start, content_start, content_end, end, text)

    def _tag(self, ended: _Open) -> bytes:
        """Returns the tag that an element begins with.

        Only the tag says that an element is empty: at its end, the parser may be before or behind it.
        """
        tag = _TAG.match(self.raw, ended.start)
        assert tag is not None
        return tag[0]

    def _prefix_at(self, at: int) -> str:
        """Returns the prefix of the namespace in a tag, with the colon."""
        prefix = _PREFIX.match(self.raw, at)
        return ((prefix and prefix[1]) or b"").decode()

    def _add_segment(self, ended: _Open) -> None:
        line = self._parser.CurrentLineNumber
        is_to_translate = ended.translate != "no"
        segment = replace(self._segment, index=self._n_segments, line=line, is_to_translate=is_to_translate)
        self._element.segments.append(segment)
        self._n_segments += 1

    def _add_units(self) -> None:
        """Adds a unit for each segment of the element that ends here, if it is to be translated."""
        element = self._element
        pair = [code.replace("-", "_") for code in self._languages if code]
        own_notes: dict[int | None, list[notes.Note]] = defaultdict(list)
        comments = [line for _, text in element.notes for line in notes.other_lines(text.split("\n"))]
        context = [line.strip() for line in comments if line.strip()]
        context += [f"max-length: {element.limit}"] if element.limit else []
        for name, text in element.notes:
            own_notes[element.segment_of(name)] += notes.split(text.split("\n"))
        foreign = [("note of no segment", f"must have an id such as {element.start_of_ids(0)}0")] * len(own_notes[None])
        for number, segment in enumerate(element.segments):
            source = segment.source.content
            target = segment.target.content
            if not segment.is_to_translate or not (source.strip() or target.strip()):
                continue
            with_issues = (segment.source.content_with_issues, segment.target.content_with_issues)
            is_known = segment.state is None or segment.state in unit_states.FINISHED | unit_states.UNFINISHED
            states = [] if is_known else [("unknown state", f"{segment.state!r} must be one of XLIFF")]
            if segment.n_targets > 1:
                states.append(("further translation of a unit", "must be one target"))
            if segment.rejected:
                states.append(("rejected translation", f"{segment.rejected!r} must be notes of its errors"))
            self.places[segment.index] = element, number
            self.units[segment.index] = Unit(
                element.name,
                segment.line,
                source,
                target,
                "-".join(pair) if len(pair) == 2 else None,
                own_notes[number],
                is_finished=segment.state not in unit_states.UNFINISHED,
                context="\n".join(context),
                codes=_codes(segment),
                with_issues=with_issues if segment.source.issues or segment.target.issues else None,
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
            ids_in_use = {name for name, _ in element.notes}
            free = (number for number in count() if f"{start}{number}" not in ids_in_use)
            for number, text in zip(free, texts, strict=False):
                ids = f'id="{start}{number}" category' if element.is_2 else "from"
                tag = f"{element.prefix}note"
                pieces[element.place] += f'<{tag} {ids}="{notes.ORIGIN}">{html.escape(text, quote=False)}</{tag}>'
        for place, element in elements.items():
            if element.is_2 and not element.has_notes:
                pieces[place] = f"<{element.prefix}notes>{pieces[place]}</{element.prefix}notes>"
        return splice(self.raw, ((place, place, piece) for place, piece in pieces.items()))

    def correct(self, translations: Mapping[int, str]) -> bytes:
        """Returns the file with other translations; only what differs changes, so that inline codes stay."""
        pieces: list[tuple[int, int, str]] = []
        for index, text in translations.items():
            element, number = self.places[index]
            segment = element.segments[number]
            places = list(segment.target.places(self.raw))
            for edit in corrections.edits(segment.target.content, text):
                pieces += _spliced(segment, places, edit)
        return splice(self.raw, pieces)

    def without_ours(self) -> bytes:
        """Returns the file without the notes that `notes.is_ours` finds, and without what was around these alone."""
        of_file = notes.name_in(self.header)
        pieces: list[tuple[int, int, str]] = []
        for place in self._note_places:
            lines = place.text.split("\n")
            ours = {
                number for note, numbers in notes.placed(lines) if notes.is_ours(note, of_file) for number in numbers
            }
            kept_text = "\n".join(line for number, line in enumerate(lines) if number not in ours)
            if ours and kept_text.strip():
                pieces.append((place.content_start, place.content_end, html.escape(kept_text, quote=False)))
            elif ours:
                pieces.append((place.start, place.end, ""))
        removed = {start: end for start, end, text in pieces if not text}
        for place in self._around_notes:
            at = place.content_start
            inside = []
            while at in removed:
                inside.append(at)
                at = removed[at]
            if inside and at == place.content_end:
                pieces = [piece for piece in pieces if piece[0] not in inside]
                pieces.append((place.start, place.end, ""))
        return splice(self.raw, pieces)

    def _header_notes(self, texts: Sequence[str]) -> tuple[int, str]:
        """Returns the place of notes in the header, and the notes as XML."""
        assert self._header_place is not None
        place = self._header_place
        attribute = "category" if any(element.is_2 for element, _ in self.places.values()) else "from"
        tag = f"{place.prefix}note"
        xml = "".join(f'<{tag} {attribute}="{notes.ORIGIN}">{html.escape(text, quote=False)}</{tag}>' for text in texts)
        around = f"{place.prefix}{place.missing}"
        return place.place, f"<{around}>{xml}</{around}>" if place.missing else xml


def _spliced(
    segment: _Segment, places: Sequence[_LetterPlace], edit: corrections.Replacement
) -> Iterator[tuple[int, int, str]]:
    """Yields the pieces of the file that an edit of a target replaces, for `splice`; `places` are those of its text.

    Raises:
        InputError: if XML cannot hold the text.
    """
    removed = places[edit.start : edit.end]
    before = places[edit.start - 1] if edit.start else None
    at = removed[0] if removed else before
    if _NOT_XML.search(edit.text) or (at and at.is_literal and "]]>" in edit.text):
        raise InputError(f"the correction {shortened(edit.text)} has characters that XML cannot hold: remove them")
    text = edit.text if at and at.is_literal else html.escape(edit.text, quote=False)
    for code in Counter(segment.source.codes) - Counter(segment.target.codes):  # a correction may place these
        for name in (code.name, code.end_name):
            raw = segment.source.raw_codes.get(name)
            if raw is not None and not (at and at.is_literal):
                text = text.replace(html.escape(name, quote=False), raw.decode(), 1)
    if removed:
        yield removed[0].start, removed[0].end, text
        yield from ((place.start, place.end, "") for place in removed[1:])
    else:
        start = before.end if before else places[0].start if places else segment.target.start
        yield start, start, text


def _code(kind: str, attributes: Mapping[str, str], place: int) -> InlineCode:
    """Returns the code of an element at a place of its text; the end of a spanning code has the id of its start."""
    name = attributes.get("id") or attributes.get("startRef") or attributes.get("rid") or ""
    shown = attributes.get("equiv-text") or attributes.get("disp") or attributes.get("equiv") or ""
    return InlineCode(kind, name, shown, place)


def _continues(attributes: Mapping[str, str]) -> bool:
    """Whether an element is a further part of a code, which Trados cuts where a tracked change begins or ends."""
    return any(name.endswith(f"{_SEPARATOR}start") and value == "false" for name, value in attributes.items())


def _codes(segment: _Segment) -> Codes | None:
    """Returns the codes of source and target; None if there are none.

    Translations that Trados has taken from an older version of the document ("PerfectMatch") have ids of that version:
    such a code is the first of its kind that the target lacks.
    """
    target = list(segment.target.codes)
    lacking = list((Counter(segment.source.codes) - Counter(target)).elements())
    for place, code in enumerate(target):
        source_code = next((missing for missing in lacking if missing.kind == code.kind), None)
        if source_code is not None and _OF_OLDER_VERSION.fullmatch(code.id):
            target[place] = source_code
            lacking.remove(source_code)
    has_codes = segment.source.codes or target
    return Codes(tuple(segment.source.codes), tuple(target)) if has_codes else None


def _limit(attributes: Mapping[str, str]) -> str:
    """Returns the most characters of a translation; "" where none are stated, or pixels."""
    is_in_characters = attributes.get("size-unit", attributes.get("sizeUnit")) == "char"
    of_2 = (value for name, value in attributes.items() if name.endswith(f"{_SEPARATOR}sizeRestriction"))
    most = next(of_2, attributes.get("maxwidth", "") if is_in_characters else "").rpartition(",")[2].strip()
    return most if most.isdecimal() else ""


def _rejected(attributes: Mapping[str, str]) -> str | None:
    """Returns the attribute of an element that says that its translation is rejected; None if none does."""
    stated = (text for name, text in attributes.items() if name.rpartition(_SEPARATOR)[2] in _JUDGEMENTS)
    return next((text for text in stated if text.casefold().startswith("rejected")), None)


def _is_deleted(name: str, attributes: Mapping[str, str]) -> bool:
    """Whether an element is text that a tracked change has deleted.

    SDLXLIFF has `mrk` with the types x-sdl-deleted and x-sdl-feedback-deleted; other tools have elements of their own.
    """
    kind = attributes.get("mtype", "")
    return name.rpartition(_SEPARATOR)[2] == "del" or (kind.startswith("x-sdl-") and kind.endswith("-deleted"))


def _refuse(*_: object) -> NoReturn:
    raise InputError("has a document type declaration: must be plain XLIFF")


def parse(raw: bytes, path: str | Path) -> LocalisationFile:
    """Returns the units of a file, in any encoding that it declares; `path` is for messages.

    Raises:
        InputError: if it has a document type, is not in its encoding, or not XML.
    """
    mark, encoding = _encoding_of(raw)
    text = decode(raw.removeprefix(mark), path, encoding=encoding)
    try:
        is_same = text.encode(encoding) == raw.removeprefix(mark)
    except UnicodeError:
        is_same = False
    if not is_same:  # some encodings have several ways to write a character
        raise InputError(f"a copy in {encoding} would have other bytes: must be in UTF-8")
    try:
        reader = _Reader(text.encode())
    except expat.ExpatError as error:
        raise FormatError(name_of(path), error.lineno, f"not XML ({error}): must be XLIFF") from None

    def encoded(utf8: bytes) -> bytes:
        try:
            return mark + utf8.decode().encode(encoding)
        except UnicodeError:
            raise InputError(f"a note has characters that {encoding} lacks: the file must be in UTF-8") from None

    return LocalisationFile(
        reader.units,
        lambda notes_by_unit: encoded(reader.add(notes_by_unit)),
        lambda translations: encoded(reader.correct(translations)),
        lambda: encoded(reader.without_ours()),
        reader.has_header,
        reader.header,
    )


def _encoding_of(raw: bytes) -> tuple[bytes, str]:
    """Returns the byte order mark of a file, and its encoding."""
    for mark, encoding in _UTF_16.items():
        if raw.startswith(mark):
            return mark, encoding
    declared = _ENCODING.match(raw)
    mark = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
    return mark, declared[1].decode("ascii", "replace") if declared and not mark else "utf-8"

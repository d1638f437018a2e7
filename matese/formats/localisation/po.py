"""The units of PO files; each plural form is one. Notes are lines of comments that are inserted into the file."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from matese.errors import InputError, UsageError
from matese.formats import languages
from matese.formats.localisation import notes
from matese.formats.localisation.units import LocalisationFile, Unit, insert

_CHARSET = re.compile(rb"charset=([\w-]+)")
_FIELD = re.compile(r'(?:(msgctxt|msgid|msgid_plural|msgstr(?:\[\d+\])?)\s+)?"(.*)"\s*')
_ESCAPED = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{2})|(.))")
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_LONGEST_NAME = 40


@dataclass(slots=True)
class _Entry:
    """A message: its line, the place for notes, its fields by keyword, and the translators' comments."""

    line: int
    place: int
    fields: dict[str, str] = field(default_factory=dict)
    comments: list[str] = field(default_factory=list)
    last: str = ""


def parse(raw: bytes, source_lang: str | None = None) -> LocalisationFile:
    """Returns the units of a file. Raises InputError if it is not PO.

    Args:
        raw: the file.
        source_lang: the language of the source if the header does not name it; None if it is unknown.
    """
    charset = _CHARSET.search(raw)
    encoding = charset[1].decode() if charset and charset[1] != b"CHARSET" else "utf-8"
    try:
        lines = [line.decode(encoding) for line in raw.split(b"\n")]
        "".join(lines).encode()  # some charsets can spell what is not Unicode
    except (LookupError, UnicodeError) as error:
        raise InputError(f"cannot be decoded ({error}): must be in the charset of its header") from None
    end = "\r\n" if lines[0].endswith("\r") else "\n"
    units: dict[int, Unit] = {}
    untranslated: dict[int, Unit] = {}
    places: dict[int, int] = {}
    pair, index, header = None, -1, list[str]()
    for entry in _entries(lines, [len(line) + 1 for line in raw.split(b"\n")]):
        if not entry.fields["msgid"] and "msgctxt" not in entry.fields:
            pair, header = _lang_pair(entry.fields.get("msgstr", ""), source_lang), entry.comments
            places[-1] = entry.place
            continue
        entry_notes = list(notes.split(entry.comments))
        for number, (name, target) in enumerate((k, v) for k, v in entry.fields.items() if k.startswith("msgstr")):
            index += 1
            form = number if name != "msgstr" else None
            source = entry.fields.get("msgid_plural" if number else "msgid", "")
            short = repr(entry.fields["msgid"][:_LONGEST_NAME])
            form_notes = [note for noted, note in entry_notes if noted == form]
            unit = Unit(short, entry.line, source, target, pair, form_notes, form)
            if target:
                units[index], places[index] = unit, entry.place
            elif source.strip():
                untranslated[index] = unit

    def add(notes_by_unit: Mapping[int, Sequence[str]]) -> bytes:
        pieces: dict[int, str] = defaultdict(str)
        for number, texts in notes_by_unit.items():
            for text in texts:
                pieces[places[number]] += "".join(f"# {line}{end}" for line in text.split("\n"))
        return insert(raw, pieces, encoding)

    return LocalisationFile(units, add, untranslated, has_header=-1 in places, header=header)


def _entries(lines: Sequence[str], lengths: Sequence[int]) -> Iterator[_Entry]:
    entry, offset = None, 0
    for number, (line, length) in enumerate(zip(lines, lengths, strict=True), start=1):
        text = line.strip()
        match = _FIELD.fullmatch(text)
        is_start = text.startswith("#") or (match and match[1] in ("msgctxt", "msgid"))
        if entry and is_start and "msgid" in entry.fields and not (match and entry.last == "msgctxt"):
            yield entry
            entry = None
        if text and not text.startswith("#~"):
            entry = entry or _Entry(number, offset)
            if re.match(r"#(\s|$)", text):
                entry.comments.append(text[1:].strip())
                entry.place = offset + length if not entry.fields else entry.place
            elif match:
                if match[1] in entry.fields:
                    raise InputError(f"line {number} is a second {match[1]}: must be one for each msgid")
                entry.last = match[1] or entry.last
                entry.fields[entry.last] = entry.fields.get(entry.last, "") + _unescape(match[2])
            elif not text.startswith("#"):
                raise InputError(f"line {number} is {text[:_LONGEST_NAME]!r}: must be a comment or a text")
        offset += length
    if entry and "msgid" in entry.fields:
        yield entry


def _unescape(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        octal, hexadecimal, letter = match.groups()
        if letter is not None:
            return _LETTERS.get(letter, letter)
        return chr(int(octal, 8) if octal else int(hexadecimal, 16))

    return _ESCAPED.sub(character, text)


def _lang_pair(header: str, source_lang: str | None) -> str | None:
    """Returns the language pair of a header, None if it is not known."""
    stated = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in header.split("\n"))}
    source, target = stated.get("X-Source-Language") or source_lang, stated.get("Language")
    if not source or not target:
        return None
    try:
        return languages.parse(f"{source}-{target}")
    except UsageError:
        return None

"""The units of PO files; each plural form is one. Notes are lines of comments that are inserted into the file."""

from __future__ import annotations

import codecs
import gettext
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from pathlib import Path

from matese.errors import InputError, shortened
from matese.files import decode
from matese.formats import corrections
from matese.formats.localisation import notes
from matese.formats.localisation.units import LocalisationFile, Unit, splice
from matese.formats.row_issues import located
from matese.text import languages

_CHARSET = re.compile(rb"charset=([\w-]+)")
_FIELD = re.compile(r'(?:(msgctxt|msgid|msgid_plural|msgstr(?:\[\d{1,9}\])?)\s*)?"(.*)"\s*')
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"\s*')
_PLURAL_FORMS = re.compile(r"\s*nplurals\s*=\s*(\d{1,9})\s*;\s*plural\s*=\s*([^;]+?)\s*;?\s*")
_OF_WEBLATE = {
    "all-checks": ("all",),
    "same": ("untranslated",),
    "duplicate": ("repetition",),
    "placeholders": ("placeholders",),
    "xml-tags": ("placeholders", "codes"),
    "xml-invalid": ("placeholders",),
    "url": ("addresses",),
    "max-length": ("length",),
    "inconsistent": ("consistency",),
    "reused": ("consistency",),
    "check-glossary": ("terms",),
}
"""Our rules by the checks of Weblate that say the same, https://docs.weblate.org/en/latest/user/checks.html; those of
formats of placeholders end in -format."""
_WITH_BRACES = ("python-brace", "perl-brace", "csharp", "java", "rust")
"""Formats of gettext whose placeholders stand in braces; those of the others begin with a per cent sign."""
_N_TRIED = 1001
_OFTEN = 5
"""A form is for many numbers if it is for this many of those from 0 to 1,000: as `msgfmt --check` has it (gettext,
msgl-check.c)."""
_ESCAPED = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))")
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_ESCAPES = {"\\": r"\\", '"': r"\"", **{letter: f"\\{name}" for name, letter in _LETTERS.items()}}


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the lines of a keyword and its strings are in the file, in bytes: from `start` to before `end`."""

    keyword: str
    start: int
    end: int

    def piece(self, raw: bytes, text: str, line_end: str, *, encoding: str) -> tuple[int, int, str]:
        """Returns the lines with another text, for `splice`: lines whose text stays are as they were."""
        lines = [line for line in re.split(r"(?<=\n)", raw[self.start : self.end].decode(encoding)) if line]
        rewritten = _rewritten(lines, text, line_end, encoding) if len(lines) > 1 else None
        return self.start, self.end, rewritten or f"{self.keyword} {_quoted(text, line_end)}{line_end}"


@dataclass(slots=True)
class _Entry:
    """A message.

    Attributes:
        line: its first.
        place: the byte before which notes are inserted.
        fields: by keyword.
        comments: of translators, without `#`.
        comment_places: the first byte of the line of each, and that after the line.
        flags: such as "fuzzy".
        field_places: where the strings of each keyword are.
        guidance: what the file says to translators: comments of programmers, without `#.`.
        last: the keyword that a further string continues.
        is_obsolete: whether it is no longer used: its lines begin with `#~` and are not in `fields`.
    """

    line: int
    place: int
    fields: dict[str, bytes] = field(default_factory=dict)
    comments: list[str] = field(default_factory=list)
    comment_places: list[tuple[int, int]] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    field_places: dict[str, _Place] = field(default_factory=dict)
    guidance: list[str] = field(default_factory=list)
    last: str = ""
    is_obsolete: bool = False


@dataclass(frozen=True, slots=True)
class _Header:
    """What the entry of the empty `msgid` says.

    Attributes:
        lang_pair: None if it is not known.
        names_source: whether it names the language of the source.
        n_forms: number of plural forms; None if it is not known.
        singular: the form for the number 1.
        often: forms for many numbers; None if it is not known.
    """

    lang_pair: str | None = None
    names_source: bool = False
    n_forms: int | None = None
    singular: int = 0
    often: frozenset[int] | None = None


def parse(raw: bytes, path: str | Path, source_lang: str | None = None) -> LocalisationFile:
    """Returns the units of a file. Raises FormatError if it is not PO.

    Args:
        raw: the file.
        path: for messages.
        source_lang: the language of the source if the header does not name it; None if it is unknown.
    """
    charset = _CHARSET.search(raw)
    encoding = charset[1].decode() if charset and charset[1] != b"CHARSET" else "utf-8"
    mark = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
    raw_lines = raw.removeprefix(mark).split(b"\n")
    lines = [decode(line, path, number, encoding=encoding) for number, line in enumerate(raw_lines, start=1)]
    end = "\r\n" if lines[0].endswith("\r") else "\n"
    units: dict[int, Unit] = {}
    places: dict[int, int] = {}
    target_places: dict[int, _Place] = {}
    obsolete: list[int] = []
    header = _Header()
    comments = list[str]()
    index = 0
    lengths = [len(line) + 1 for line in raw_lines]
    entries = list(_entries(lines, lengths, len(mark), encoding=encoding, path=path))
    for entry in entries:
        with located(path, entry.line):
            _check_whole(entry)
            fields = {name: _decoded(value, encoding) for name, value in entry.fields.items()}
        if entry.is_obsolete:
            obsolete += [entry.line] if any(notes.split(entry.comments)) else []
        elif not fields["msgid"] and "msgctxt" not in fields:
            header = _header(fields.get("msgstr", ""), source_lang)
            comments = entry.comments
            places[-1] = entry.place
        else:
            for unit in _units(entry, fields, header):
                if (unit.source or "").strip() or unit.target.strip():
                    units[index] = unit
                    places[index] = entry.place
                    target_places[index] = entry.field_places[_keyword(unit)]
                index += 1

    def add(notes_by_unit: Mapping[int, Sequence[str]]) -> bytes:
        pieces: dict[int, str] = defaultdict(str)
        for number, texts in notes_by_unit.items():
            for text in texts:
                pieces[places[number]] += "".join(f"# {line}{end}" for line in text.split("\n"))
        return splice(raw, ((place, place, piece) for place, piece in pieces.items()), encoding)

    return LocalisationFile(
        units,
        add,
        partial(_with_translations, raw, target_places, end, encoding),
        partial(_without_ours, raw, entries, notes.name_in(comments)),
        has_header=-1 in places,
        header=comments,
        obsolete=obsolete,
        lacks_source_lang=header.lang_pair is not None and not header.names_source,
    )


def _with_translations(
    raw: bytes, places: Mapping[int, _Place], line_end: str, encoding: str, translations: Mapping[int, str]
) -> bytes:
    """Returns the file with other translations, given by the number of their unit."""
    pieces = (places[number].piece(raw, text, line_end, encoding=encoding) for number, text in translations.items())
    return splice(raw, pieces, encoding)


def _keyword(unit: Unit) -> str:
    return "msgstr" if unit.form is None else f"msgstr[{unit.form}]"


def _check_whole(entry: _Entry) -> None:
    """Raises InputError if an entry lacks its text or its translation."""
    is_translation = any(name.startswith("msgstr") for name in entry.fields)
    if not entry.is_obsolete and not ("msgid" in entry.fields and is_translation):
        missing = "msgstr" if "msgid" in entry.fields else "msgid"
        raise InputError(f"the entry has no {missing}: the file may be cut off")


def _without_ours(raw: bytes, entries: Iterable[_Entry], of_file: str) -> bytes:
    """Returns the file without the notes that `notes.is_ours` finds."""
    lines = (
        entry.comment_places[number]
        for entry in entries
        for note, numbers in notes.placed(entry.comments)
        if notes.is_ours(note, of_file)
        for number in numbers
    )
    return splice(raw, ((start, end, "") for start, end in lines))


def _units(entry: _Entry, fields: Mapping[str, str], header: _Header) -> Iterator[Unit]:
    """Yields the unit of an entry, or that of each plural form by its number."""
    forms = {
        int(name[len("msgstr[") : -1]) if "[" in name else None: target
        for name, target in fields.items()
        if name.startswith("msgstr")
    }
    of_entry = list(notes.split(entry.comments))
    allowed = f"must be of {', '.join('no form' if form is None else f'form {form}' for form in forms)}"
    foreign = [("note of another plural form", allowed) for note in of_entry if note.form not in forms]
    # A single form is for all numbers.
    is_single = (header.n_forms or len(forms)) == 1
    limits = [flag for flag in entry.flags if flag.startswith("max-length")]  # of Weblate
    context_lines = (fields.get("msgctxt"), *entry.guidance, *notes.other_lines(entry.comments), *limits)
    context = "\n".join(filter(None, context_lines))
    for form in sorted(forms, key=lambda form: form or 0):
        is_singular = form is None or (form == header.singular and not is_single)
        is_for_one = form is not None and not is_single and form not in (header.often or ())
        yield Unit(
            f"{shortened(fields['msgid'])}{'' if form is None else f', form {form}'} (line {entry.line})",
            entry.line,
            fields["msgid"] if is_singular else fields.get("msgid_plural", fields["msgid"]),
            forms[form],
            header.lang_pair,
            [note for note in of_entry if note.form == form],
            form,
            is_for_one=is_for_one,
            is_finished="fuzzy" not in entry.flags,
            context=context,
            not_understood=foreign,
            ignored_rules=_ignored_rules(entry.flags),
            placeholder_kinds=_placeholder_kinds(entry.flags),
        )


def _ignored_rules(flags: Iterable[str]) -> tuple[str, ...]:
    """Returns the rules that flags of Weblate switch off for an entry.

    >>> _ignored_rules(["ignore-same", "fuzzy", "ignore-python-format"])
    ('untranslated', 'placeholders')
    """
    checks = [flag.removeprefix("ignore-") for flag in sorted(flags, reverse=True) if flag.startswith("ignore-")]
    of_checks = (("placeholders",) if check.endswith("-format") else _OF_WEBLATE.get(check, ()) for check in checks)
    return tuple(dict.fromkeys(rule for rules in of_checks for rule in rules))


def _placeholder_kinds(flags: Iterable[str]) -> tuple[str, ...]:
    """Returns the kinds of placeholders that flags of gettext say an entry has, as `Segment` names them.

    >>> _placeholder_kinds(["c-format", "fuzzy", "no-python-brace-format"])
    ('printf', 'no-braces')
    """
    names = [
        flag.removesuffix("-format") for flag in sorted(flags) if re.fullmatch(r"(?!ignore-|possible-).*-format", flag)
    ]
    return tuple(
        ("no-" if name.startswith("no-") else "") + ("braces" if name.removeprefix("no-") in _WITH_BRACES else "printf")
        for name in names
    )


def _entries(
    lines: Sequence[str], lengths: Sequence[int], offset: int, *, encoding: str, path: str | Path
) -> Iterator[_Entry]:
    """Yields the entries of a file whose lines have these lengths in bytes, the first from `offset`."""
    entry = None
    for number, (line, length) in enumerate(zip(lines, lengths, strict=True), start=1):
        text = line.strip()
        is_start = re.match(r"#|msgctxt\b|msgid\b", text)
        if entry and is_start and "msgid" in entry.fields:
            yield entry
            entry = None
        if text.startswith("#~"):
            if entry:
                entry.is_obsolete = True
                yield entry
            entry = None
        elif text:
            entry = entry or _Entry(number, offset)
            if text.startswith("#"):
                _add_comment(entry, text, offset, length=length)
            else:
                with located(path, number):
                    _add_text(entry, text, encoding)
                first = entry.field_places.get(entry.last, _Place(entry.last, offset, offset)).start
                entry.field_places[entry.last] = _Place(entry.last, first, offset + length)
        offset += length
    if entry:
        entry.is_obsolete = not entry.fields
        yield entry


def _add_comment(entry: _Entry, text: str, offset: int, *, length: int) -> None:
    """Adds a comment: a translator's, a programmer's, or flags."""
    if re.match(r"#(\s|$)", text):
        entry.comments.append(text[1:].strip())
        entry.comment_places.append((offset, offset + length))
        entry.place = offset + length if not entry.fields else entry.place
    elif text.startswith("#."):
        entry.guidance.append(text[2:].strip())
    elif text.startswith("#,"):
        entry.flags |= {flag.strip() for flag in text[2:].split(",")}


def _add_text(entry: _Entry, text: str, encoding: str) -> None:
    """Adds a line that is no comment."""
    match = _FIELD.fullmatch(text)
    if match is None:
        allowed = "have its text between two quotation marks" if text.count('"') % 2 else "be a comment or a text"
        raise InputError(f"the line is {shortened(text)}: must {allowed}")
    if match[1] in entry.fields:
        raise InputError(f"the line is a second {match[1]}: must be one for each msgid")
    entry.last = match[1] or entry.last
    entry.fields[entry.last] = entry.fields.get(entry.last, b"") + _unescaped(_joined(match[2]), encoding)


def _rewritten(lines: Sequence[str], text: str, end: str, encoding: str) -> str | None:
    """Returns the lines of a text with another text, broken where they were; None if a line is no text of its own."""
    fields = [_FIELD.fullmatch(line.strip()) for line in lines]
    try:
        parts = [_unescaped(_joined(match[2]), encoding).decode(encoding) if match else "" for match in fields]
    except UnicodeError:
        return None
    changes = corrections.edits("".join(parts), text)
    written = []
    start = 0
    for line, part, before in zip(lines, parts, accumulate(parts, initial=""), strict=False):
        end_of_part = len(text) if line is lines[-1] else corrections.moved(len(before) + len(part), changes)
        piece = text[start:end_of_part] if part or line is lines[-1] else ""
        start += len(piece)
        opening = line[: line.index('"')] if '"' in line else ""
        if piece == part:
            written.append(line)
        elif piece or opening:
            strings = [string for string in re.split(r"(?<=\n)", piece) if string] or [""]
            written.append(opening + "".join(f'"{_escaped(string)}"{end}' for string in strings))
    return "".join(written)


def _quoted(text: str, end: str) -> str:
    r"""Returns a text as the strings of a keyword: a line of the file for each line of the text, if there are several.

    >>> print(_quoted('say "hi"', "\n"), _quoted("a\nb", "\n"))
    "say \"hi\"" ""
    "a\n"
    "b"
    """
    lines = [line for line in re.split(r"(?<=\n)", text) if line]
    if len(lines) < 2:
        return f'"{_escaped(text)}"'
    return '""' + "".join(f'{end}"{_escaped(line)}"' for line in lines)


def _escaped(text: str) -> str:
    return "".join(_ESCAPES.get(letter, letter) for letter in text)


def _joined(text: str) -> str:
    r"""Returns what is between the first and the last quotation mark of a line, which may have several strings.

    >>> _joined('a" "b'), _joined('a\\" \\"b')
    ('ab', 'a\\" \\"b')
    """
    quoted = f'"{text}"'
    strings = list(_STRING.finditer(quoted))
    return "".join(match[1] for match in strings) if sum(len(match[0]) for match in strings) == len(quoted) else text


def _unescaped(text: str, encoding: str) -> bytes:
    r"""Returns a string in the charset of its file, in which octal and hexadecimal escapes are bytes.

    >>> _unescaped(r"gr\303\274n\n", "utf-8").decode()
    'grün\n'
    """
    parts: list[bytes] = []
    last = 0
    for match in _ESCAPED.finditer(text):
        octal, hexadecimal, letter = match.groups()
        parts.append(text[last : match.start()].encode(encoding))
        if letter is not None:
            parts.append(_LETTERS.get(letter, letter).encode(encoding))
        else:
            parts.append(bytes([(int(octal, 8) if octal else int(hexadecimal, 16)) & 0xFF]))
        last = match.end()
    return b"".join([*parts, text[last:].encode(encoding)])


def _decoded(value: bytes, encoding: str) -> str:
    try:
        return value.decode(encoding)
    except UnicodeError as error:
        allowed = "its escapes must be in the charset of the file"
        raise InputError(f"the text cannot be decoded ({error}): {allowed}") from None


def _header(text: str, source_lang: str | None) -> _Header:
    stated = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in text.split("\n"))}
    names_source = bool(stated.get("X-Source-Language"))
    source = stated.get("X-Source-Language") or source_lang
    target = stated.get("Language")
    pair = languages.parse_or_none(f"{source}-{target}") if source and target else None
    match = _PLURAL_FORMS.fullmatch(stated.get("Plural-Forms", ""))
    try:
        # Files that are not filled in have "nplurals=INTEGER; plural=EXPRESSION;".
        if match is None:
            return _Header(pair, names_source)
        form_of = gettext.c2py(match[2])
        counts = Counter(form_of(number) for number in range(_N_TRIED))
        often = frozenset(form for form, count in counts.items() if count >= _OFTEN)
        return _Header(pair, names_source, int(match[1]), form_of(1), often)
    except (ValueError, ArithmeticError):
        return _Header(pair, names_source)

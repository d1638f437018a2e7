r"""Files of one language whose texts have keys: Android's strings.xml, JSON of i18next and others, ARB, and .xcstrings.

The source is the text of the same key in the file of the source language, whose place follows from the names of folders
or of the file: `values/strings.xml` beside `values-de`, `locales/en/app.json` beside `locales/de`, `app_en.arb` beside
`app_de.arb`; in .xcstrings, it is in the file itself. Of a plural form that the source language lacks, it is the form
"other". A text whose key the translation lacks is a unit without a translation, unless the translation has another form
of it, or is of a region and a file of its language (`values-de` of `values-de-rAT`) stands in for it. Texts are read
with their escapes resolved (`\'` of Android); tags and placeholders stay in them.

Corrected translations are written into a copy, in which everything else stays; notes have no place there.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from xml.parsers import expat

from matese.errors import FormatError, InputError, counted
from matese.files import abridged, decode, name_of
from matese.formats import source_files, unit_states
from matese.formats.localisation.units import LocalisationFile, Unit, splice
from matese.formats.row_issues import located
from matese.text import languages

_PLURALS = ("zero", "one", "two", "few", "many", "other")
_PLURAL_KEY = re.compile(rf"(.+[_.])({'|'.join(_PLURALS)})")
_FORM = re.compile(rf"(^|_)(?:{'|'.join(_PLURALS)}|plural|\d)$")  # the last two of i18next before 2021
_NO_TEXT = re.compile(r"[@?]\S*|[\W\d_]*")
"""A reference (@string/ok), or a text without a letter: a translation need not have it."""
_FOR_ONE = ("zero", "one", "two")
_JSON_TOKEN = re.compile(r'\s+|("(?:[^"\\]|\\.)*")|([{}\[\]:,])|[^\s{}\[\]:,"]+', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_TAG = re.compile(r"""(</?[a-zA-Z](?:[^<>"']|"[^"]*"|'[^']*')*>)""")
_WHOLE_TAG = re.compile(rb"""<(?:[^"'>]|"[^"]*"|'[^']*')*>""")
_LETTERS = {"n": "\n", "t": "\t"}


@dataclass(frozen=True, slots=True)
class _Entry:
    """A text of a file.

    Attributes:
        key: its path, and the plural form or number in it.
        text: with its escapes resolved.
        line: in the file.
        start: the first byte of what stands for the text.
        end: the byte after it.
        encode: returns what stands for another text.
        context: what the file says to translators.
        placeholder_kinds: see `Segment`.
        may_lack: whether the file says that translations may lack it.
    """

    key: tuple[str, ...]
    text: str
    line: int
    start: int
    end: int
    encode: Callable[[str], str]
    context: str = ""
    placeholder_kinds: tuple[str, ...] = ()
    may_lack: bool = False

    @property
    def form(self) -> str | None:
        """The plural form; None if it is none."""
        match = _PLURAL_KEY.fullmatch(".".join(self.key))
        return None if match is None else match[2]


def parse(raw: bytes, path: str | Path, source_lang: str | None = None) -> LocalisationFile:
    """Returns the texts of a file beside those of its source. Raises InputError if it has none, or is not its format.

    Args:
        raw: the file.
        path: names the language, and the file of the source.
        source_lang: the language of the source; None if it is not known.
    """
    if str(path).removesuffix(".gz").endswith(".xcstrings"):
        return _of_catalogue(raw, path)
    entries = _entries(raw, path)
    source = source_files.source_of(path, source_lang)
    if source is None:
        problem = "its language, or the file of its source, is not known by the names of file and folder"
        raise InputError(
            f"{problem}: must be such as values-de/strings.xml beside values/strings.xml, or de.json, en.json"
        )
    sources = {entry.key: entry for entry in _entries(Path(source).read_bytes(), source)}
    code = source_files.language_of(path)
    own_source = source_files.language_of(source) or source_lang or "en"
    pair = languages.parse(f"{own_source}-{code}") if code else None
    units = [(_unit(entry, sources.get(entry.key) or sources.get(_other(entry.key)), pair), entry) for entry in entries]
    remarks = [f"the source is {source}, in {own_source}, by the names of folders and files"]
    if unknown := [unit.name for unit, _ in units if unit.source is None]:
        rules = "without which most rules cannot run"
        remarks.append(f"{counted(len(unknown), 'text')} not in {source}, {rules}: {abridged(unknown)}")
    if not source_files.has_fallback(path, own_source):
        units += [(_unit(replace(entry, text="", line=0), entry, pair), entry) for entry in _lacking(sources, entries)]
    return replace(_file(units, raw), remarks=remarks)


def _unit(entry: _Entry, source: _Entry | None, pair: str | None) -> Unit:
    return Unit(
        ".".join(entry.key),
        entry.line,
        source.text if source else None,
        entry.text,
        pair,
        (),
        is_for_one=entry.form in _FOR_ONE,
        context=(source.context if source else "") or entry.context,
        kind="text",
        placeholder_kinds=entry.placeholder_kinds,
    )


def _other(key: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the key of the plural form "other" in place of another form.

    >>> _other(("files_few",)), _other(("files", "one")), _other(("title",))
    (('files_other',), ('files', 'other'), ('title',))
    """
    return (*key[:-1], re.sub(rf"(^|_)(?:{'|'.join(_PLURALS)})$", r"\1other", key[-1]))


def _lacking(sources: Mapping[tuple[str, ...], _Entry], entries: Iterable[_Entry]) -> Iterator[_Entry]:
    """Yields the texts of the source that have no translation, under their key or as another plural form."""

    def stem(key: tuple[str, ...]) -> tuple[str, ...]:
        return (*key[:-1], _FORM.sub("", key[-1]))

    keys = {entry.key for entry in entries}
    stems = set(map(stem, keys))
    plurals = {stem(key) for key in sources if key[-1].endswith(("other", "plural"))}
    for key, entry in sources.items():
        if entry.may_lack or _NO_TEXT.fullmatch(entry.text):
            continue
        # In messages.json of a browser's extension, for translators.
        is_note = key[1:2] in (("description",), ("placeholders",)) and (key[0], "message") in sources
        if key not in keys and stem(key) not in plurals & stems and not is_note:
            yield entry


def _file(units: Iterable[tuple[Unit, _Entry]], raw: bytes) -> LocalisationFile:
    listed = [(unit, entry) for unit, entry in units if entry.text.strip() or (unit.source or "").strip()]

    def correct(translations: Mapping[int, str]) -> bytes:
        texts = [(listed[number][1], text) for number, text in translations.items()]
        return splice(raw, ((entry.start, entry.end, entry.encode(text)) for entry, text in texts))

    return LocalisationFile(
        {number: unit for number, (unit, _) in enumerate(listed)},
        lambda notes_by_unit: raw,
        correct,
        lambda: raw,
        holds_notes=False,
    )


def _entries(raw: bytes, path: str | Path) -> list[_Entry]:
    is_xml = raw.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<")
    with located(path, None):
        entries = list(_of_android(raw, path) if is_xml else _of_json(raw, path))
    lines: dict[tuple[str, ...], int] = {}
    for entry in entries:
        if entry.key in lines:
            problem = f"has the key {'.'.join(entry.key)} again, after line {lines[entry.key]}: must be once"
            raise FormatError(name_of(path), entry.line, problem)
        lines[entry.key] = entry.line
    return entries


# --- Android ---------------------------------------------------------------------------------------------------------


def _of_android(raw: bytes, path: str | Path) -> Iterator[_Entry]:
    """Yields the strings, items of arrays and plural forms of a strings.xml."""
    parser = expat.ParserCreate("utf-8")
    entries: list[_Entry] = []
    stack: list[tuple[str, Mapping[str, str], int]] = []
    n_items = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal n_items
        stack.append((name, attributes, parser.CurrentByteIndex))
        if name == "string-array":
            n_items = 0
        if len(stack) == 1 and name != "resources":
            raise InputError(f"has the root {name}: must be resources")

    def end(name: str) -> None:
        nonlocal n_items
        _, attributes, first = stack.pop()
        parents = [parent for parent, _, _ in stack]
        is_text = name == "string" if parents == ["resources"] else name == "item" and len(parents) == 2
        around = [attributes, *(of_parent for _, of_parent, _ in stack)]
        if not is_text or any(of_element.get("translatable") == "false" for of_element in around):
            return
        tag = _WHOLE_TAG.match(raw, first)
        opening = tag.end() if tag else first
        last = max(opening, parser.CurrentByteIndex)
        if raw[opening - 2 : opening] == b"/>":
            return
        key: tuple[str, ...] = (attributes.get("name", ""),)
        if name == "item":
            form = attributes.get("quantity", str(n_items))
            key = (stack[-1][1].get("name", ""), form)
            n_items += 1
        content = raw[opening:last].decode()
        line = raw.count(b"\n", 0, opening) + 1
        text = _android_text(content)
        kind = "no-printf" if attributes.get("formatted") == "false" else "printf"
        may_lack = any("MissingTranslation" in of_element.get("tools:ignore", "") for of_element in around)
        encode = _android_encoder(content)
        entries.append(_Entry(key, text, line, opening, last, encode, placeholder_kinds=(kind,), may_lack=may_lack))

    def refuse(*_: object) -> None:
        raise InputError("has a document type declaration: must be plain XML")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(raw, True)
    except expat.ExpatError as error:
        raise FormatError(name_of(path), error.lineno, f"not XML ({error}): must be Android's resources") from None
    yield from entries


def _android_text(content: str) -> str:
    r"""Returns the text of a resource: tags stay, entities and Android's escapes are resolved.

    >>> _android_text(r"It\'s  <b>new</b> &amp; \"good\""), _android_text("<![CDATA[<i>]]>"), _android_text('"a  b"')
    ('It\'s <b>new</b> & "good"', '<i>', 'a  b')
    """
    text = re.sub(r"<!\[CDATA\[(.*?)\]\]>", lambda match: html.escape(match[1], quote=False), content, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    parts = re.split(r'(?<!\\)"', html.unescape(text) if "<" not in text else "".join(_unescaped(text)))
    # White space is one space, but in quotation marks.
    shown = "".join(part if number % 2 else re.sub(r"\s+", " ", part) for number, part in enumerate(parts))
    shown = shown if len(parts) > 1 else shown.strip()
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else _LETTERS.get(match[2], match[2]), shown)


def _unescaped(text: str) -> Iterator[str]:
    """Yields the parts of a text with entities resolved outside of tags, whose quotation marks are escaped."""
    for number, part in enumerate(_TAG.split(text)):
        yield part.replace('"', r"\"") if number % 2 else html.unescape(part)


def _android_encoder(content: str) -> Callable[[str], str]:
    """Returns what writes a text as the content was written: as CDATA, in quotation marks, or with escapes."""
    is_literal = content.strip().startswith("<![CDATA[")
    is_quoted = content.strip().startswith('"')
    tags = set(_TAG.findall(content))

    def encode(text: str) -> str:
        if is_literal:
            return f"<![CDATA[{_android_escaped(text, is_quoted=False)}]]>"
        parts = _TAG.split(text)
        escaped = (
            part
            if number % 2 and part in tags
            else html.escape(_android_escaped(part, is_quoted=is_quoted), quote=False)
            for number, part in enumerate(parts)
        )
        return f'"{"".join(escaped)}"' if is_quoted else "".join(escaped)

    return encode


def _android_escaped(text: str, *, is_quoted: bool) -> str:
    escaped = text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n").replace("\t", r"\t")
    escaped = escaped if is_quoted else escaped.replace("'", r"\'")
    return f"\\{escaped}" if escaped.startswith(("@", "?")) else escaped


# --- JSON ------------------------------------------------------------------------------------------------------------


def _of_json(raw: bytes, path: str | Path) -> Iterator[_Entry]:
    """Yields the texts of a JSON file whose objects and arrays may be nested; keys that begin with @ are ARB's."""
    text = decode(raw, path, encoding="utf-8-sig")
    try:
        whole = json.loads(text)
    except json.JSONDecodeError as error:
        problem = f"not JSON ({error.msg}): must be an object of texts"
        raise FormatError(name_of(path), error.lineno, problem) from None
    except RecursionError:
        raise InputError("is nested too deeply: must be an object of texts") from None
    if not isinstance(whole, dict):
        raise InputError("is a list: must be an object of texts by their keys")
    for keys, token, start in _json_strings(text):
        if not any(key.startswith("@") for key in keys):
            described = whole.get(f"@{keys[0]}")
            context = str(described.get("description") or "") if isinstance(described, dict) else ""
            yield _json_entry(keys, token, raw, text, start, context=context)


def _json_entry(path: tuple[str, ...], token: str, raw: bytes, text: str, start: int, *, context: str = "") -> _Entry:
    encode = partial(json.dumps, ensure_ascii=token.isascii() and "\\u" in token)
    first = len(text[:start].encode()) + len(raw) - len(text.encode())
    line = text.count("\n", 0, start) + 1
    return _Entry(path, json.loads(token), line, first, first + len(token.encode()), encode, context)


def _json_strings(text: str) -> Iterator[tuple[tuple[str, ...], str, int]]:
    """Yields the path, the token and the place of each string that is a value of valid JSON."""
    path: list[str | int] = []  # of objects the key that is read, of arrays the number
    key: str | None = None
    for match in _JSON_TOKEN.finditer(text):
        string, mark = match.groups()
        if mark in ("{", "["):
            path.append("" if mark == "{" else 0)
            key = None
        elif mark in ("}", "]"):
            path.pop()
        elif mark == ",":
            key = None
            if path and isinstance(path[-1], int):
                path[-1] += 1
        elif string is not None and path and isinstance(path[-1], str) and key is None:
            path[-1] = key = json.loads(string)
        elif string is not None:
            yield tuple(map(str, path)), string, match.start()


# --- String catalogues of Xcode --------------------------------------------------------------------------------------


def _of_catalogue(raw: bytes, path: str | Path) -> LocalisationFile:
    """Returns the texts of all languages of an .xcstrings file."""
    entries = {entry.key: entry for entry in _of_json(raw, path)}
    whole = json.loads(raw)
    source_lang = whole.get("sourceLanguage", "en")
    units = []
    for key, entry in entries.items():
        if key[0] != "strings" or key[-1] != "value" or len(key) < 6 or key[3] == source_lang:
            continue
        source_key = (*key[:3], source_lang, *key[4:])
        forms = [source_key, (*source_key[:-3], "other", *source_key[-2:])]
        source = next((entries[form].text for form in forms if form in entries), key[1])
        state = entries.get((*key[:-1], "state"))
        name = ".".join((key[1], key[3], *key[4:-2]))
        unit = Unit(
            name,
            entry.line,
            source,
            entry.text,
            languages.parse(f"{source_lang}-{key[3]}") if source_files.is_language(key[3]) else None,
            (),
            is_for_one=key[-3] in _FOR_ONE,
            is_finished=state is None or state.text not in unit_states.UNFINISHED,
            context=entries[("strings", key[1], "comment")].text if ("strings", key[1], "comment") in entries else "",
            kind="text",
            placeholder_kinds=("printf",),
        )
        units.append((unit, entry))
    return _file(units, raw)

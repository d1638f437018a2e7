"""Terms of a list: a translation that has none of the allowed translations of a term, or a forbidden one.

A list is a table with a header (CSV, TSV), TBX, or lines of a term, a tab and its translation. Allowed is what has the
words of a form: as they are, by their lemmas (simplemma, the extra "localisation"), or by their beginnings, in any
order, so that inflected words and compounds count.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import regex

from matese.annotation import ErrorSpan, Omission, Severity
from matese.checks.rule import Need, Rule, Texts
from matese.errors import FormatError
from matese.files import name_of, read_lines
from matese.text.languages import is_same, languages_of_pair

MISSING = "Terminology/Missing term"
FORBIDDEN = "Terminology/Forbidden term"

_COLUMNS = {
    "source": ("source", "term", "sourceterm", "src"),
    "allowed": ("target", "allowed", "translation", "targetterm", "tgt"),
    "forbidden": ("forbidden", "forbiddentarget", "deprecated"),
    "kept": ("donottranslate", "dnt", "untranslatable"),
    "case": ("case", "casesensitive"),
}
_NO = ("", "0", "no", "false", "n")
_SEPARATOR = regex.compile(r"\s*\|\s*")
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_UNSPACED = regex.compile(r"[\p{lb=SA}\p{Han}\p{Hira}\p{Kana}]")
_LEAST_STEM = 4


@dataclass(frozen=True, slots=True)
class Forms:
    """What a term is called in a language."""

    allowed: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """A term.

    Attributes:
        forms: by language; "" for the source and "target" for the target language of a list that names none.
        is_case_sensitive: whether "US" is not "us".
    """

    forms: Mapping[str, Forms]
    is_case_sensitive: bool = False

    def of(self, lang: str, unnamed: str) -> Forms:
        """Returns the forms in a language."""
        return self.forms.get(unnamed) or next(
            (
                forms
                for code, forms in self.forms.items()
                if lang and code not in ("", "target") and is_same(code, lang)
            ),
            Forms(),
        )


def read(path: str | Path) -> tuple[Entry, ...]:
    """Returns the terms of a list.

    Raises:
        FormatError: if it is none, or holds no term.
    """
    lines = list(read_lines(path))
    is_xml = bool(lines) and lines[0].lstrip().startswith("<")
    entries = tuple(_of_tbx("\n".join(lines), path) if is_xml else _of_table(lines, path))
    if not entries:
        raise FormatError(name_of(path), None, "holds no term")
    return entries


def _of_table(lines: Sequence[str], path: str | Path) -> Iterator[Entry]:
    first = lines[0] if lines else ""
    delimiter = max("\t,;", key=first.count)
    rows = csv.reader(io.StringIO("\n".join(lines)), delimiter=delimiter)
    names = [regex.sub(r"[\W_]+", "", name).casefold() for name in next(rows, [])]
    columns = {
        role: next((names.index(name) for name in of_role if name in names), None) for role, of_role in _COLUMNS.items()
    }
    if columns["source"] is None:
        if len(names) > 2:
            problem = "no column is named source: must have a header such as source,target,forbidden"
            raise FormatError(name_of(path), 1, problem)
        rows = csv.reader(io.StringIO("\n".join(lines)), delimiter=delimiter)
        columns = dict.fromkeys(_COLUMNS) | {"source": 0, "allowed": 1}
    for row in rows:
        cells = {
            role: row[place].strip() if place is not None and place < len(row) else ""
            for role, place in columns.items()
        }
        if cells["source"]:
            kept = (cells["source"],) if cells["kept"].casefold() not in _NO else ()
            target = Forms((*_split(cells["allowed"]), *kept), _split(cells["forbidden"]))
            is_case_sensitive = cells["case"].casefold() not in _NO or bool(kept)
            yield Entry({"": Forms((cells["source"],)), "target": target}, is_case_sensitive)


def _split(cell: str) -> tuple[str, ...]:
    return tuple(filter(None, _SEPARATOR.split(cell)))


def _of_tbx(text: str, path: str | Path) -> Iterator[Entry]:
    """Yields the entries of TBX of any dialect, by the names of its elements."""
    if "<!ENTITY" in text:
        raise FormatError(name_of(path), None, "not TBX: declares an entity")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise FormatError(name_of(path), error.position[0], f"not TBX: {error}") from None
    for entry in _inside(root, "termEntry", "conceptEntry"):
        forms = {}
        for language in _inside(entry, "langSet", "langSec"):
            by_use: dict[bool, list[str]] = {False: [], True: []}
            for group in _inside(language, "tig", "ntig", "termSec"):
                by_use[any(map(_is_forbidden, group.iter()))] += [one.text or "" for one in _inside(group, "term")]
            forms[language.get(_LANG) or language.get("lang") or ""] = Forms(tuple(by_use[False]), tuple(by_use[True]))
        yield Entry(forms)


def _inside(element: ElementTree.Element, *names: str) -> Iterator[ElementTree.Element]:
    return (one for one in element.iter() if one.tag.rpartition("}")[2] in names)


def _is_forbidden(note: ElementTree.Element) -> bool:
    return (note.text or "").strip().startswith(("deprecatedTerm", "supersededTerm"))


def find(texts: Texts, entries: Sequence[Entry]) -> Iterator[ErrorSpan | Omission]:
    """Yields the terms of the source without an allowed translation, and forbidden translations of them.

    Of terms within others, only the longest counts; a term that no reference translates as the list says is left out.
    """
    source_lang, target_lang = languages_of_pair((texts.segment.key and texts.segment.key.lang_pair) or "")
    found = [
        (start, end, entry)
        for entry in entries
        for form in entry.of(source_lang, "").allowed
        for start, end in _places(texts.source, form, is_case_sensitive=entry.is_case_sensitive)
    ]
    for start, end, entry in sorted(found, key=lambda place: place[:2]):
        if any(a <= start and end <= b and b - a > end - start for a, b, _ in found):
            continue
        forms = entry.of(target_lang, "target")
        wrong = [
            place
            for form in forms.forbidden
            for place in _places(texts.hypothesis, form, is_case_sensitive=entry.is_case_sensitive)
        ]
        yield from (ErrorSpan(a, b, Severity.MAJOR, FORBIDDEN) for a, b in wrong)
        lacks = [
            not any(has(text, form, target_lang) for form in forms.allowed)
            for text in (texts.hypothesis, *texts.references)
        ]
        if forms.allowed and not wrong and lacks[0] and not any(lacks[1:]):
            yield Omission("source", None, start, end, Severity.MAJOR, MISSING)


def _places(text: str, form: str, *, is_case_sensitive: bool) -> Iterator[tuple[int, int]]:
    """Yields where a form stands as whole words."""
    flags = 0 if is_case_sensitive else regex.IGNORECASE
    before = "" if _UNSPACED.match(form) else r"(?<![\p{L}\p{M}\p{N}])"
    behind = "" if _UNSPACED.search(form[-1:]) else r"(?![\p{L}\p{M}\p{N}])"
    yield from (match.span() for match in regex.finditer(f"{before}{regex.escape(form)}{behind}", text, flags))


def has(text: str, form: str, lang: str) -> bool:
    """Whether a text has a form of a term.

    >>> has("in den Einstellungen", "Einstellung", "de"), has("das Haus", "Hut", "de")
    (True, False)
    """
    folded = text.casefold()
    if form.casefold() in folded:
        return True
    lemmas = {_lemma(word, lang) for word in _WORD.findall(text)}
    return all(_stem(word) in folded or _lemma(word, lang) in lemmas for word in _WORD.findall(form))


def _stem(word: str) -> str:
    return word.casefold()[: max(_LEAST_STEM, 2 * len(word) // 3)]


def _lemma(word: str, lang: str) -> str:
    lemmatise = _lemmatiser()
    try:
        return str(lemmatise(word, lang=lang)).casefold() if lemmatise else word.casefold()
    except ValueError:  # not a language of simplemma
        return word.casefold()


@cache
def _lemmatiser() -> Any:  # noqa: ANN401  # it may not be installed
    try:
        import simplemma
    except ImportError:
        return None
    return simplemma.lemmatize


def rule(path: str | Path) -> Rule:
    """Returns the rule of a list; its digest is in signatures."""
    entries = read(path)
    lemmas = "" if _lemmatiser() is None else "+simplemma"
    return Rule(
        "terms",
        "a term of the list lacks its translation, or has a forbidden one",
        (MISSING, FORBIDDEN),
        partial(find, entries=entries),
        needs=Need.SOURCE,
        variant=f"@{sha256(repr(entries).encode()).hexdigest()[:8]}{lemmas}",
    )

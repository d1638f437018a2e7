"""Terms of a list: a translation that has none of the allowed translations of a term, or a forbidden one.

A list is a table with a header (CSV, TSV), TBX, or lines of a term, a tab and its translation. Allowed is what has the
words of a form: as they are, by their lemmas (simplemma, the extra "localisation"), or by their beginnings, in any
order, so that inflected words and compounds count.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from xml.etree import ElementTree

import regex

from matese.annotation import ErrorSpan, Omission, Severity
from matese.checks.rule import Need, Rule, Texts, is_installed
from matese.errors import FormatError
from matese.files import name_of, read_lines
from matese.formats.tables import headings
from matese.text.languages import is_same
from matese.text.words import is_unspaced

MISSING = "Terminology/Missing term"
FORBIDDEN = "Terminology/Forbidden term"

_ROLES = {
    **dict.fromkeys(("source", "term", "sourceterm", "src"), "source"),
    **dict.fromkeys(("target", "allowed", "translation", "targetterm", "tgt"), "allowed"),
    **dict.fromkeys(("forbidden", "forbiddentarget", "deprecated"), "forbidden"),
    **dict.fromkeys(("donottranslate", "dnt", "untranslatable"), "kept"),
    **dict.fromkeys(("case", "casesensitive"), "case"),
}
"""What the columns of tables hold, by their names in small letters and without spaces."""
_TARGET = "target"
_NO = ("", "0", "no", "false", "n")
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_LEAST_STEM = 4
_LEMMATISER = "simplemma"


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
        named = (code for code in self.forms if lang and code not in ("", _TARGET) and is_same(code, lang))
        return self.forms.get(unnamed) or self.forms.get(next(named, unnamed), Forms())


def read(path: str | Path) -> tuple[Entry, ...]:
    """Returns the terms of a list.

    Raises:
        FormatError: if it is none, or holds no term.
    """
    lines = list(read_lines(path)) or [""]
    entries = tuple(_of_tbx("\n".join(lines), path) if lines[0].lstrip().startswith("<") else _of_table(lines, path))
    if not entries:
        raise FormatError(name_of(path), None, "holds no term")
    return entries


def _of_table(lines: Sequence[str], path: str | Path) -> Iterator[Entry]:
    delimiter = max("\t,;", key=lines[0].count)
    header, *rows = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter)
    roles = [_ROLES.get(headings.plain(name), "") for name in header]
    if "source" not in roles:
        if len(header) > 2:
            problem = "no column is named source: must have a header such as source,target,forbidden"
            raise FormatError(name_of(path), 1, problem)
        roles = ["source", "allowed"]
        rows.insert(0, header)
    if {"allowed", "forbidden", "kept"}.isdisjoint(roles):
        problem = "no column says what is allowed: must be named target, forbidden or do-not-translate"
        raise FormatError(name_of(path), 1, problem)
    for row in rows:
        cells = {role: cell.strip() for role, cell in zip(roles, row, strict=False)}
        if source := cells.get("source"):
            kept = (source,) if cells.get("kept", "").casefold() not in _NO else ()
            target = Forms((*_split(cells.get("allowed", "")), *kept), _split(cells.get("forbidden", "")))
            is_case_sensitive = bool(kept) or cells.get("case", "").casefold() not in _NO
            yield Entry({"": Forms((source,)), _TARGET: target}, is_case_sensitive)


def _split(cell: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, cell.split("|"))))


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
                terms = [term.text for term in _inside(group, "term") if term.text]
                by_use[any(map(_is_forbidden, group.iter()))] += terms
            forms[language.get(_LANG) or language.get("lang") or ""] = Forms(tuple(by_use[False]), tuple(by_use[True]))
        yield Entry(forms)


def _inside(element: ElementTree.Element, *names: str) -> Iterator[ElementTree.Element]:
    return (inner for inner in element.iter() if inner.tag.rpartition("}")[2] in names)


def _is_forbidden(note: ElementTree.Element) -> bool:
    return (note.text or "").strip().startswith(("deprecatedTerm", "supersededTerm"))


def find(texts: Texts, entries: Sequence[Entry]) -> Iterator[ErrorSpan | Omission]:
    """Yields the terms of the source without an allowed translation, and forbidden translations of them.

    Of terms within others, only the longest counts; a term that no reference translates as the list says is left out.
    """
    source_lang, target_lang = texts.languages
    term_places = [
        (start, end, entry)
        for entry in entries
        for start, end in _places(texts.source, entry.of(source_lang, "").allowed, entry)
    ]
    for start, end, entry in sorted(term_places, key=lambda place: place[:2]):
        if any(a <= start and end <= b and b - a > end - start for a, b, _ in term_places):
            continue
        forms = entry.of(target_lang, _TARGET)
        wrong = list(_places(texts.hypothesis, forms.forbidden, entry))
        yield from (ErrorSpan(*place, Severity.MAJOR, FORBIDDEN) for place in wrong)

        candidates = (texts.hypothesis, *texts.references)
        lacking = [text for text in candidates if not any(has(text, form, target_lang) for form in forms.allowed)]
        if forms.allowed and not wrong and lacking == [texts.hypothesis]:
            yield Omission("source", None, start, end, Severity.MAJOR, MISSING)


def _places(text: str, forms: Iterable[str], entry: Entry) -> Iterator[tuple[int, int]]:
    """Yields where forms of a term stand as whole words."""
    for form in forms:
        before = "" if is_unspaced(form[:1]) else r"(?<![\p{L}\p{M}\p{N}])"
        behind = "" if is_unspaced(form[-1:]) else r"(?![\p{L}\p{M}\p{N}])"
        flags = 0 if entry.is_case_sensitive else regex.IGNORECASE
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
    if is_installed(_LEMMATISER):
        import simplemma

        with suppress(ValueError):  # not a language of simplemma
            return simplemma.lemmatize(word, lang).casefold()
    return word.casefold()


def rule(path: str | Path) -> Rule:
    """Returns the rule of a list; its digest is in signatures."""
    entries = read(path)
    return Rule(
        "terms",
        (MISSING, FORBIDDEN),
        partial(find, entries=entries),
        needs=Need.SOURCE,
        variant=f"@{sha256(repr(entries).encode()).hexdigest()[:8]}",
        library=_LEMMATISER,
    )

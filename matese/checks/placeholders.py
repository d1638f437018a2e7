"""Placeholders and tags of the source that the translation lost or changed, and those that it invented.

What programs put values into: `%s`, `%(name)d` (C, Python, PHP, Apple), `%1` (Qt), `{0}`, `{name}`, `{{ name }}`,
`${name}` (Python, Java, JavaScript, templates), `{ $user }` and `{ -term }` (Fluent), `$t(key)` (i18next); and tags:
`<b>`, `</b>`, `<br/>`, `<0>` (React). Tags are compared by name. A translation may number what the source does not
(`%s` and `%1$s`), and an entity is as good as its character. Of a message in ICU's syntax ("{n, plural, one {# file}
other {# files}}"), the name and the kind of an argument are compared, and what any of its options contains: their texts
are translated, and languages have other plural forms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import regex

from matese.annotation import ErrorSpan, Omission, Severity
from matese.checks import cldr
from matese.checks.rule import Rule, Texts
from matese.text.placeholders import icu_arguments, placeholders

LOST = "Accuracy/Omission/Placeholder"
ADDED = "Accuracy/Addition/Placeholder"

_PRINTF = regex.compile(
    r"%(?:(?P<number>\d+)\$)?(?P<flags>[-+#0]*\d*(?:\.\d+)?)(?P<kind>(?:hh?|ll?|[jztL])?[a-zA-Z@])$"
)
_TAG = regex.compile(r"</?[\w:.-]+(?!\w*\})")
_BRACES = regex.compile(r"([$%]?\{+)\s*([$-]?[\w.$-]*)\s*(?:,.*)?(\}+)$", regex.DOTALL)


@dataclass(frozen=True, slots=True)
class _Code:
    """A placeholder: its place, and what it is compared by; the number of an argument is 0 if it is not stated."""

    start: int
    end: int
    name: str
    number: int = 0


def find(texts: Texts) -> Iterator[ErrorSpan | Omission]:
    """Yields the placeholders of the source that are rarer in the hypothesis, and those that only the hypothesis has.

    Those that the segment may lack are left out.

    >>> from matese.annotation import Segment
    >>> text = "%d of <b>{n}</b>"
    >>> [text[lost.start : lost.end] for lost in find(Texts(Segment("{n} <b>von</b>", text)))]
    ['%d']
    """
    # The number of an argument counts where the source or the hypothesis states one.
    ours = list(_codes(texts.source, texts.source_lang))
    theirs = list(_codes(texts.hypothesis, texts.target_lang))
    if not ours and not theirs:
        return
    if any(code.number for code in ours) or any(code.number for code in theirs):
        ours = list(_numbered(ours))
        theirs = list(_numbered(theirs))
    is_message = bool(icu_arguments(texts.source))
    left = Counter((code.name, code.number) for code in theirs)
    for code in ours:
        key = code.name, code.number
        if left[key]:
            left[key] -= not is_message  # languages have other numbers of plural forms
        elif texts.source[code.start : code.end] not in texts.segment.may_lack:
            yield Omission("source", None, code.start, code.end, Severity.MAJOR, LOST)
    known = {(code.name, code.number) for code in ours}
    for code in theirs:
        if (code.name, code.number) not in known and _is_sure(code.name):
            yield ErrorSpan(code.start, code.end, Severity.MAJOR, ADDED)


def _is_sure(name: str) -> bool:
    """Whether a placeholder in the hypothesis alone is surely wrong: "%5" may be per cent, and tags may be needed."""
    return name.startswith(("{", "${", "%{", "%(", "$t("))


def _codes(text: str, lang: str) -> Iterator[_Code]:
    """Yields the placeholders of a text that are compared."""
    places = placeholders(text)
    if not places:
        return
    arguments = iter(icu_arguments(text))
    for start, end in places:
        code = text[start:end]
        if code.startswith("{") and code.endswith("{"):  # a message's syntax
            yield _Code(start, end, next(arguments, ""))
        elif code.startswith("%") and (printf := _PRINTF.match(code)):
            yield _Code(start, end, f"%{printf['kind']}", int(printf["number"] or 0))
        elif name := _name(code, lang):
            yield _Code(start, end, name)


def _name(code: str, lang: str) -> str:
    """Returns what a placeholder is compared by; "" for one that is not compared."""
    # An entity is as good as the character that it stands for; a brace ends a message's syntax.
    if code.startswith(("&", "}")) or (code.startswith("%") and code[1] != "{" and _is_per_cent(code, lang)):
        return ""
    if tag := _TAG.match(code):
        return tag[0]
    if braces := _BRACES.match(code):
        return f"{braces[1]}{braces[2]}{braces[3]}"
    # Braces around several words are text.
    return "" if code.endswith("}") and code.startswith("{") else code.replace(" ", "")


def _is_per_cent(code: str, lang: str) -> bool:
    return code[1].isdecimal() and _begins_with_per_cent(lang)


def _begins_with_per_cent(lang: str) -> bool:
    """Whether a language writes %5 for five per cent, as Turkish and Basque do."""
    symbols = cldr.locale(lang)
    return symbols is not None and symbols.percent_formats[None].pattern.startswith("%")


def _numbered(codes: list[_Code]) -> Iterator[_Code]:
    """Yields the placeholders with the number of the argument that each stands for."""
    number = 0
    for code in codes:
        is_argument = _PRINTF.match(code.name) is not None
        number += is_argument
        yield replace(code, number=code.number or number) if is_argument else code


RULE = Rule(
    "placeholders",
    "a placeholder or tag of the source is missing, or one is invented",
    (LOST, ADDED),
    find,
    needs_source=True,
)

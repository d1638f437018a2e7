"""Placeholders and tags of the source that the translation lost or changed, and those that it invented.

What programs put values into: `%s`, `%(name)d` (C, Python, PHP, Apple), `%1` (Qt), `{0}`, `{name:.2f}`, `{{ name }}`,
`${name}` (Python, Java, JavaScript, templates), `{ $user }` and `{ -term }` (Fluent), `$t(key)` (i18next); and tags:
`<b>`, `</b>`, `<br/>`, `<0>` (React). Tags are compared by name, and placeholders in braces without their format. A
translation may number what the source does not (`%s` and `%1$s`), and an entity is as good as its character. Of a
message in ICU's syntax ("{n, plural, one {# file} other {# files}}"), the name and the kind of an argument and the keys
of `select` are compared, and what any of its options contains: their texts are translated, and languages have other
plural forms. With the extra "localisation", a message that ICU cannot read is a finding, too. In formats of dates
("%H:%M"), nothing is compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

import regex

from matese.annotation import ErrorSpan, Omission, Severity
from matese.checks.copied import whole
from matese.checks.rule import Need, Rule, Texts, is_installed
from matese.text.placeholders import icu_arguments, icu_options, placeholders

LOST = "Accuracy/Omission/Placeholder"
ADDED = "Accuracy/Addition/Placeholder"
BROKEN = "Accuracy/Mistranslation/Message syntax"

_PRINTF = regex.compile(
    r"%(?:(?P<number>\d+)\$)?[-+#0']*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?P<kind>(?:hh?|ll?|[jztL])?[a-zA-Z@]|<\w+>)$"
)
_ICU = "icu4py"
_QT = regex.compile(r"%L?\d")
_QT_FIRST = regex.compile(r"%L?1(?!\d)")
"""Without a first argument, "%50" is fifty per cent, as Turkish and Basque write it."""
_OF_DATE = regex.compile(r"%-?[BHIjmMUwWyYZ]")
_TAG = regex.compile(r"</?[\w:.-]+(?!\w*\})")
_BRACES = regex.compile(
    r"([$%]?\{+)\s*(?P<name>[#/^]?[$-]?[\w.$\[\]-]*|[#/^][\w.$ -]+?)\s*"
    r"(?:,\s*(?:number|date|time|spellout|ordinal|duration|plural|select|selectordinal)\b.*|[!:][^{}\s]*|\|[^{}]*)?(\}+)$",
    regex.DOTALL,
)
_PLURALS = frozenset({"zero", "one", "two", "few", "many", "other"})


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
    has_first = _QT_FIRST.search(texts.source)
    kinds = texts.segment.placeholder_kinds
    ours = [code for code in _codes(texts.source, kinds) if has_first or not _QT.match(code.name)]
    theirs = list(_codes(texts.hypothesis, kinds))
    if any(code.number for code in ours) or any(code.number for code in theirs):
        ours = list(_numbered(ours))
        theirs = list(_numbered(theirs))
    is_message = bool(icu_arguments(texts.source))
    if is_message and _is_broken(texts.hypothesis) and not _is_broken(texts.source):
        yield whole(texts.hypothesis, BROKEN)
        return
    left = Counter((code.name, code.number) for code in theirs)
    for code in ours:
        key = code.name, code.number
        if left[key]:
            left[key] -= not is_message  # languages have other numbers of plural forms
        elif texts.source[code.start : code.end] not in texts.segment.may_lack:
            yield Omission("source", None, code.start, code.end, Severity.MAJOR, LOST)
    if is_message:
        yield from _other_options(texts)
    source_keys = {(code.name, code.number) for code in ours}
    has_printf = "printf" in kinds or any(_PRINTF.match(name) for name, number in source_keys if not number)
    for code in reversed(theirs):
        is_sure = code.name.startswith(("{", "${", "%{", "%(", "$t(")) and (code.name, code.number) not in source_keys
        # "%5" may be per cent, and tags may be needed; one more "%s" reads an argument that is not there.
        is_further = has_printf and not code.number and _PRINTF.match(code.name) and left[code.name, 0] > 0
        if is_sure or is_further:
            left[code.name, 0] -= 1
            yield ErrorSpan(code.start, code.end, Severity.MAJOR, ADDED)


def _codes(text: str, kinds: Collection[str]) -> Iterator[_Code]:
    """Yields the placeholders of a text that are compared: not those that its file says it has none of."""
    places = placeholders(text)
    if not places:
        return
    arguments = iter(icu_arguments(text))
    is_no_printf = "no-printf" in kinds or _OF_DATE.search(text) is not None
    for start, end in places:
        code = text[start:end]
        if code.startswith("{") and code.endswith("{"):  # a message's syntax
            yield _Code(start, end, next(arguments, ""))
        elif code.startswith("%") and (printf := _PRINTF.match(code)):
            if not is_no_printf:
                yield _Code(start, end, f"%{printf['kind']}", int(printf["number"] or 0))
        elif (name := _name(code)) and not ("no-braces" in kinds and name.startswith("{")):
            yield _Code(start, end, name)


def _name(code: str) -> str:
    """Returns what a placeholder is compared by; "" for one that is not compared."""
    # An entity is as good as the character that it stands for; a brace ends a message's syntax.
    if code.startswith(("&", "}")):
        return ""
    if tag := _TAG.match(code):
        return tag[0]
    if braces := _BRACES.match(code):
        return f"{braces[1]}{braces['name']}{braces[3]}"
    # Braces around several words are text.
    return "" if code.endswith("}") and code.startswith("{") else code.replace(" ", "")


def _numbered(codes: list[_Code]) -> Iterator[_Code]:
    """Yields the placeholders with the number of the argument that each stands for."""
    number = 0
    for code in codes:
        is_argument = _PRINTF.match(code.name) is not None
        number += is_argument
        yield replace(code, number=code.number or number) if is_argument else code


def _other_options(texts: Texts) -> Iterator[ErrorSpan | Omission]:
    """Yields the keys of a `select` that only one of the texts has, and those of a `plural` that no language has."""
    ours, theirs = (
        {(option.argument, option.key): option for option in icu_options(text)}
        for text in (texts.source, texts.hypothesis)
    )
    selected = {option.argument for option in theirs.values() if option.kind == "select"}
    for key, option in ours.items():
        if option.argument in selected and key not in theirs:
            yield Omission("source", None, option.start, option.end, Severity.MAJOR, LOST)
    for key, option in theirs.items():
        is_plural = option.kind != "select" and (option.key in _PLURALS or option.key.startswith("="))
        if key not in ours and not is_plural:
            yield ErrorSpan(option.start, option.end, Severity.MAJOR, ADDED)


def _is_broken(text: str) -> bool:
    """Whether ICU cannot read a message; False without icu4py."""
    if not is_installed(_ICU):
        return False
    from icu4py.messageformat import MessageFormat

    try:
        MessageFormat(text, "en")
    except ValueError:
        return True
    return False


RULE = Rule("placeholders", (LOST, ADDED, BROKEN), find, needs=Need.SOURCE, library=_ICU)

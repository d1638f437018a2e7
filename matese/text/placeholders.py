"""Placeholders and tags in texts: what stands for a value, and stays as it is in a translation."""

from __future__ import annotations

import re

from matese.text.ranges import Range

_PLACEHOLDER = re.compile(
    # Behind a digit it is a per cent sign: "5% off". Possessive, because a zero is a flag or a digit.
    r"(?<![\d%])%(?:\(\w+\))?[-+#0]*+\d*+(?:\.\d+)?(?:\$[-+#0]*+\d*+)?(?:hh?|ll?|[jztL])?[diouxXeEfFgGaAcrspn@]"
    r"|(?<![\d%])%L?[1-9]\d?(?![\d$]|[.,]\d)"  # Qt
    r"|\{\w{1,3}>|<\w{1,3}\}|\{\{[^{}]*\}\}|[$%]?\{[^{}]*\}|\$t\([^()]*\)"
    r"|</?(?:[a-zA-Z][^<>]*|\d+\s*/?)>|&(?:#\w+|[a-zA-Z]\w*);"
)
_MAY_HAVE_PLACEHOLDERS = re.compile(r"[%{<&]|\$t\(")
_ICU = re.compile(r"\{\s*([\w.-]+)\s*,\s*(plural|select|selectordinal)\s*,(?:\s*offset:\s*\d+)?")
_ICU_OPTION = re.compile(r"\s*(?:=\d+|[\w-]+)\s*\{")


def placeholders(text: str) -> list[Range]:
    """Returns the places of placeholders and tags: `%s`, `%(name)d`, `%1`, `{0}`, `{{ x }}`, `$t(x)`, `<b>`, `&amp;`.

    Of a message in ICU's syntax, which gives texts for several cases, all but the texts is one.

    >>> placeholders("%d of {n}, 5% off, 5 % zu, <b>x</b>")
    [(0, 2), (6, 9), (27, 30), (31, 35)]
    >>> [text[start:end] for text in ("{n, plural, one {file} other {files}}",) for start, end in placeholders(text)]
    ['{n, plural, one {', '} other {', '}}']
    """
    if not _MAY_HAVE_PLACEHOLDERS.search(text):
        return []
    if not (message := _ICU.search(text)):
        return [match.span() for match in _PLACEHOLDER.finditer(text)]
    places = placeholders(text[: message.start()])
    start = message.start()
    at = message.end()
    while option := _ICU_OPTION.match(text, at):
        places.append((start, option.end()))
        start = _closing_brace(text, option.end())
        places += [(option.end() + a, option.end() + b) for a, b in placeholders(text[option.end() : start])]
        at = start + 1
    end = at + (text.startswith("}", at) or len(text[at:]) - len(text[at:].lstrip()) + 1)
    places.append((start, min(end, len(text))))
    places = [place for place in places if place[0] < place[1]]
    return [*places, *((end + a, end + b) for a, b in placeholders(text[end:]))]


def icu_arguments(text: str) -> list[str]:
    """Returns the arguments of messages in ICU's syntax that choose a text.

    >>> icu_arguments("{n, plural, one {{who} has # file} other {{who} has # files}} {sex, select, other {x}}")
    ['{n, plural}', '{sex, select}']
    """
    return [f"{{{match[1]}, {match[2]}}}" for match in _ICU.finditer(text)] if "{" in text else []


def _closing_brace(text: str, at: int) -> int:
    """Returns the place of the brace that closes the one before `at`; the end of the text if none does."""
    depth = 1
    for place in range(at, len(text)):
        depth += (text[place] == "{") - (text[place] == "}")
        if not depth:
            return place
    return len(text)


def number_placeholders(text: str) -> tuple[str, ...]:
    """Returns the placeholders of whole numbers, such as `%d`; without one, the only placeholder that is no markup.

    >>> [number_placeholders(text) for text in ("%s: %1$d of %u", "<b>{n}</b> files", "{n} of {m}")]
    [('%1$d', '%u'), ('{n}',), ()]
    """
    every = [text[start:end] for start, end in placeholders(text)]
    numbers = tuple(code for code in every if code.startswith("%") and code[-1] in "diuoxX")
    others = tuple(code for code in every if not code.startswith(("<", "&")))
    return numbers or (others if len(others) == 1 else ())

"""Placeholders and tags in texts: what stands for a value, and stays as it is in a translation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from matese.text.ranges import Range

_PLACEHOLDER = re.compile(
    r"%%"  # a per cent sign: read first, so that the placeholder of "%%%d" is "%d"
    # Behind a digit it is a per cent sign, too: "5% off". Possessive, because a zero is a flag or a digit.
    r"|(?<!\d)%(?:\(\w+\)|\d+\$)?[-+#0']*+(?:\*|\d+)?(?:\.(?:\*|\d+))?"
    r"(?:(?:hh?|ll?|[jztL])?[diouxXeEfFgGaAcrsSpn@]|<PRI\w+>)"
    r"|(?<!\d)%L?[1-9]\d?(?![\d$]|[.,]\d)"  # Qt
    r"|\{\w{1,3}>|<\w{1,3}\}|\{\{[^{}]*\}\}|[$%]?\{[^{}]*\}|\$t\([^()]*\)"
    r"|</?(?P<tag>[a-zA-Z][\w.:-]*|\d+)(?:\s[^<>]*)?/?>|&(?:#\w+|[a-zA-Z]\w*);"
)
_MAY_HAVE_PLACEHOLDERS = re.compile(r"[%{<&]|\$t\(")
_LATEX = re.compile(r"\\\w+\Z")
_LONGEST_COMMAND = 20
_ATTRIBUTE = re.compile(r"\s[\w:.-]+\s*=")
_HTML = re.compile(
    r"abbr|a|big|blockquote|bd[io]|br|b|center|col|dd|del|di?[vl]|dt|em|font|h[1-6r]|iframe|img|ins|i|kbd|li|nobr|ol|p|pre"
    r"|q|r[pt]|samp|small|span|strike|strong|sub|sup|svg|s|table|tbody|t[dhrt]|tfoot|thead|ul|u|wbr",
    re.IGNORECASE,
)
"""Names of HTML that are no words which users are asked to fill in, as are "<option>" and "<title>"."""
_ICU = re.compile(r"\{\s*([\w.-]+)\s*,\s*(plural|select|selectordinal)\s*,(?:\s*offset:\s*\d+)?")
_ICU_OPTION = re.compile(r"\s*(=\d+|[\w-]+)\s*\{")
_NO_PROSE = re.compile(
    r"(?:https?://|ftp://|www\.)[!-~]+|(?<![!-~])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?<![^\s\[(])--?[a-zA-Z][\w-]*(?:=[!-~]*)?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Option:
    """One of the texts among which a message in ICU's syntax chooses.

    Attributes:
        argument: by which it chooses.
        kind: plural, select or selectordinal.
        key: names the text.
        start: first character of the key.
        end: one past its last.
    """

    argument: str
    kind: str
    key: str
    start: int
    end: int


def placeholders(text: str) -> list[Range]:
    """Returns the places of placeholders and tags: `%s`, `%(name)d`, `%1`, `{0}`, `{{ x }}`, `$t(x)`, `<b>`, `&amp;`.

    A word in angle brackets is a tag if it has a closing tag or an attribute, or is a name of HTML. Of a message in
    ICU's syntax, which gives texts for several cases, all but the texts is one.

    >>> placeholders("%d of {n}, 5% off, 5 % zu, <b>x</b>, <file>")
    [(0, 2), (6, 9), (27, 30), (31, 35)]
    >>> [text[start:end] for text in ("{n, plural, one {file} other {files}}",) for start, end in placeholders(text)]
    ['{n, plural, one {', '} other {', '}}']
    """
    if not _MAY_HAVE_PLACEHOLDERS.search(text):
        return []
    if not (message := _ICU.search(text)):
        return [match.span() for match in _PLACEHOLDER.finditer(text) if _is_placeholder(match)]
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


def _is_placeholder(match: re.Match[str]) -> bool:
    """Whether a match is no per cent sign, argument of LaTeX, or word that a user is asked to fill in."""
    name = match["tag"]
    if name is None:
        return match[0] != "%%" and not _LATEX.search(
            match.string, max(0, match.start() - _LONGEST_COMMAND), match.start()
        )
    is_marked = match[0].startswith("</") or match[0].endswith("/>") or name.isdecimal()
    is_known = _HTML.fullmatch(name) is not None or _ATTRIBUTE.search(match[0]) is not None
    return is_marked or is_known or f"</{name}>" in match.string


def icu_arguments(text: str) -> list[str]:
    """Returns the arguments of messages in ICU's syntax that choose a text.

    >>> icu_arguments("{n, plural, one {{who} has # file} other {{who} has # files}} {sex, select, other {x}}")
    ['{n, plural}', '{sex, select}']
    """
    return [f"{{{match[1]}, {match[2]}}}" for match in _ICU.finditer(text)] if "{" in text else []


def icu_options(text: str) -> Iterator[Option]:
    """Yields the options of messages in ICU's syntax.

    >>> [option.key for option in icu_options("{n, plural, =0 {none} one {{sex, select, other {x}}} other {# files}}")]
    ['=0', 'one', 'other', 'other']
    """
    for message in _ICU.finditer(text):
        at = message.end()
        while option := _ICU_OPTION.match(text, at):
            yield Option(message[1], message[2], option[1], option.start(1), option.end(1))
            at = _closing_brace(text, option.end()) + 1


def _closing_brace(text: str, at: int) -> int:
    """Returns the place of the brace that closes the one before `at`; the end of the text if none does."""
    depth = 1
    for place in range(at, len(text)):
        depth += (text[place] == "{") - (text[place] == "}")
        if not depth:
            return place
    return len(text)


def prose(text: str) -> str:
    """Returns a text with spaces in the place of placeholders, tags, addresses and options of commands.

    >>> prose("<b>See</b> --help, {name}!").split()
    ['See', ',', '!']
    """
    for start, end in placeholders(text):
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return _NO_PROSE.sub(lambda match: " " * len(match[0]), text)


def number_placeholders(text: str) -> tuple[str, ...]:
    """Returns the placeholders of whole numbers, such as `%d`; without one, the only placeholder that is no markup.

    >>> [number_placeholders(text) for text in ("%s: %1$d of %u", "<b>{n}</b> files", "{n} of {m}")]
    [('%1$d', '%u'), ('{n}',), ()]
    """
    codes = [text[start:end] for start, end in placeholders(text)]
    numbers = tuple(code for code in codes if code.startswith("%") and code[-1] in "diuoxX")
    without_markup = tuple(code for code in codes if not code.startswith(("<", "&")))
    return numbers or (without_markup if len(without_markup) == 1 else ())

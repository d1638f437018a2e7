"""Translations that are longer than their file allows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import regex

from matese.annotation import ErrorSpan, Severity
from matese.checks.rule import Rule, Texts

TOO_LONG = "Design/Length"

_NUMBER = regex.compile(r"(\d+)(?:\.0)?")
_LIMIT = regex.compile(r"(?i)\bmax[-_ ]?length\s*[:=]\s*\"?(\d+)")


def limit(extra: Mapping[str, object] | None) -> int | None:
    """Returns the characters that the columns of a unit allow: `max_length`, or a comment in `context`.

    A comment says "max-length: 20" (as in Weblate) or maxLength="20".

    >>> limit({"context": "A button. max-length:20"}), limit({"max_length": "8"}), limit({"context": "a long text"})
    (20, 8, None)
    """
    columns = extra or {}
    match = _NUMBER.fullmatch(str(columns.get("max_length"))) or _LIMIT.search(str(columns.get("context")))
    return int(match[1]) if match else None


def find(texts: Texts) -> Iterator[ErrorSpan]:
    """Yields what is beyond the limit of the unit, in code points."""
    most = limit(texts.segment.extra)
    if most is not None and len(texts.hypothesis) > most:
        yield ErrorSpan(most, len(texts.hypothesis), Severity.MAJOR, TOO_LONG)


RULE = Rule("length", (TOO_LONG,), find)

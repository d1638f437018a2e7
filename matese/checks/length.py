"""Translations that are longer than their file allows."""

from __future__ import annotations

from collections.abc import Iterator

import regex

from matese.annotation import ErrorSpan, Severity
from matese.checks.rule import Rule, Texts

TOO_LONG = "Design/Length"

_LIMIT = regex.compile(r"(?i)\bmax[-_ ]?length\s*[:=]\s*\"?(\d+)")


def limit(context: object) -> int | None:
    """Returns the number of characters that a comment allows: "max-length: 20" (as in Weblate), maxLength="20".

    >>> limit("A button. max-length:20"), limit('maxLength="8"'), limit("a long text"), limit(None)
    (20, 8, None, None)
    """
    match = _LIMIT.search(context) if isinstance(context, str) else None
    return int(match[1]) if match else None


def find(texts: Texts) -> Iterator[ErrorSpan]:
    """Yields what is beyond the limit that the column `context` states, in code points."""
    most = limit((texts.segment.extra or {}).get("context"))
    if most is not None and len(texts.hypothesis) > most:
        yield ErrorSpan(most, len(texts.hypothesis), Severity.MAJOR, TOO_LONG)


RULE = Rule("length", "the hypothesis is longer than a comment of its file allows", (TOO_LONG,), find)

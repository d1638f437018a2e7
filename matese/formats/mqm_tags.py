"""Errors as translate5 exports them in tables and XLIFF: empty tags of MQM in the text, two for each error.

    Two <mqm:startIssue type="Number" severity="minor" note="" agent="anna" id="7"/>cat<mqm:endIssue id="7"/> sleep.

The type is the category, the note a reason, and the agent the rater. Tags without text between them are an error
without a place. A text without tags is not taken for one without errors: the file does not say who has read it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from matese.annotation import ErrorSpan, Rating, UnplacedError, severities
from matese.errors import InputError
from matese.formats.format import rating_of

_TAG = re.compile(r'<mqm:(start|end)Issue((?:\s+\w+="[^"]*")*)\s*/?>')
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')


def tag(name: str, attributes: Mapping[str, str]) -> str:
    """Returns the tag of an element, as it stands in a text."""
    stated = (f' {key}="{html.escape(value)}"' for key, value in attributes.items() if key.isidentifier())
    return f"<mqm:{name}{''.join(stated)}/>"


def ratings(plain: Rating) -> Iterator[Rating]:
    """Yields the rating of each agent whose tags are in the texts of a rating; the rating itself without tags.

    Raises:
        InputError: if a tag has no counterpart, or a severity is not known.
    """
    segment = plain.segment
    hypothesis, errors = _parsed(segment.hypothesis)
    source, in_source = _parsed(segment.source or "")
    if not errors and not in_source:
        yield plain
        return
    bare = replace(segment, hypothesis=hypothesis, source=None if segment.source is None else source)
    errors += [(agent, error) for agent, error in in_source if isinstance(error, UnplacedError)]
    for agent in dict.fromkeys(agent for agent, _ in (*errors, *in_source)):
        of_source = [error for by, error in in_source if by == agent and isinstance(error, ErrorSpan)]
        yield rating_of(bare, agent, [error for by, error in errors if by == agent], of_source)


def _parsed(text: str) -> tuple[str, list[tuple[str | None, ErrorSpan | UnplacedError]]]:
    """Returns a text without tags, and each error with its agent."""
    bare = ""
    last = 0
    begun: dict[str, tuple[int, dict[str, str]]] = {}
    errors: list[tuple[str | None, ErrorSpan | UnplacedError]] = []
    for tag in _TAG.finditer(text):
        bare += text[last : tag.start()]
        last = tag.end()
        attributes = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(tag[2])}
        number = attributes.get("id", "")
        if tag[1] == "start":
            begun[number] = len(bare), attributes
            continue
        if number not in begun:
            raise InputError(f"{tag[0]} has no start: must follow an <mqm:startIssue> with its id")
        start, stated = begun.pop(number)
        severity = severities.parse_optional(stated.get("severity"))
        category = stated.get("type") or None
        reason = stated.get("note") or None
        error: ErrorSpan | UnplacedError = UnplacedError(severity, category, reason=reason)
        if start < len(bare):
            error = ErrorSpan(start, len(bare), severity, category, reason=reason)
        errors.append((stated.get("agent") or None, error))
    if begun:
        raise InputError(f"the issue {next(iter(begun))!r} has no end: must have an <mqm:endIssue> with its id")
    return bare + text[last:], errors

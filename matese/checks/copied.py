"""A text that was left untranslated: a copy of the source, or a sentence in the source's language."""

from __future__ import annotations

from collections.abc import Iterator

from matese.annotation import ErrorSpan, Severity
from matese.checks.rule import Need, Rule, Texts
from matese.text.words import UNTRANSLATED, is_untranslated


def whole(text: str, category: str) -> ErrorSpan:
    """Returns an error that is all of a text, without white space around it."""
    start = len(text) - len(text.lstrip())
    return ErrorSpan(start, len(text.rstrip()), Severity.MAJOR, category)


def find(texts: Texts) -> Iterator[ErrorSpan]:
    """Yields the whole text if it is a copy and should not be."""
    if is_untranslated(texts.segment):
        yield whole(texts.hypothesis, UNTRANSLATED)


RULE = Rule("untranslated", (UNTRANSLATED,), find, needs=Need.SOURCE, ends=True)

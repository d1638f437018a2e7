"""A text that was left untranslated: a copy of the source, or a sentence in the source's language."""

from __future__ import annotations

from collections.abc import Iterator

from matese.annotation import ErrorSpan, Severity
from matese.checks.rule import Rule, Texts
from matese.text.words import is_copy

UNTRANSLATED = "Accuracy/Source language fragment"


def whole(text: str, category: str) -> ErrorSpan:
    """Returns an error that is all of a text, without white space around it."""
    start = len(text) - len(text.lstrip())
    return ErrorSpan(start, len(text.rstrip()), Severity.MAJOR, category)


def find(texts: Texts) -> Iterator[ErrorSpan]:
    """Yields the whole text if it is a copy and should not be."""
    # A copy is an error if the languages differ or, if they are unknown, a reference differs from the source.
    source_lang, target_lang = texts.languages
    is_translated = source_lang != target_lang if source_lang else bool(texts.references)
    if not is_translated or any(is_copy(texts.hypothesis, reference) for reference in texts.references):
        return
    if is_copy(texts.hypothesis, texts.source):
        yield whole(texts.hypothesis, UNTRANSLATED)


RULE = Rule(
    "untranslated",
    "the hypothesis is a copy of the source, with three words that are no names or six characters of a script without "
    "spaces",
    (UNTRANSLATED,),
    find,
    needs_source=True,
    ends=True,
)

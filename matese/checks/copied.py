"""A text that was left untranslated: a copy of the source, or a sentence in the source's language."""

from __future__ import annotations

from collections.abc import Iterator

import regex

from matese import text as words_of_text
from matese.annotation import ErrorSpan, Severity
from matese.checks.rule import Rule, Texts

UNTRANSLATED = "Accuracy/Source language fragment"

# Fewer may be a name, a title or a loan: "Rock am Ring".
_COPIED_WORDS = 3
_COPIED_CHARACTERS = 6
_ADDRESS = regex.compile(r"\w[./@]\w")


def is_copy(hypothesis: str, source: str) -> bool:
    """Whether a hypothesis equals the source except for case, spaces and punctuation, and is more than a name.

    >>> is_copy("the museum is closed", "The museum is closed."), is_copy("Rock am Ring", "Rock am Ring")
    (True, False)
    """
    if _letters(hypothesis) != _letters(source):
        return False
    n_unspaced = sum(map(words_of_text.is_unspaced, hypothesis))
    return count_common(hypothesis) >= _COPIED_WORDS or n_unspaced >= _COPIED_CHARACTERS


def _letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def count_common(text: str) -> int:
    """Returns the number of words that are neither capitalised like names nor web addresses."""
    words = (word for word in text.split() if not _ADDRESS.search(word))
    return sum(word[0].isalpha() and not word[0].isupper() for word in words)


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
    find,
    needs_source=True,
    ends=True,
)

"""An edit of a text that injects one error, and how its place is drawn."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from matese.annotation import ErrorSpan, Severity
from matese.corruption.lexicon import Swaps
from matese.corruption.pools import Pool, words_of
from matese.text.ranges import Range

BREAK = re.compile(r"[.!?;:。！？；：।()\[\]\"“”„«»「」『』…\n]")
"""Marks that a drawn run of words does not cross."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The context of a text.

    Attributes:
        pool: words and texts of its language.
        source: its source.
        source_compounds: compounds of the source's language, see `Pool`.
    """

    pool: Pool
    source: str | None = None
    source_compounds: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement in a text, and the error that it causes.

    Attributes:
        start: first character of the replaced part.
        end: one past the last character of the replaced part.
        text: the replacement.
        severity: of the error.
        marked: range of the error in the new text; None for an omission.
        is_end: whether the end of the text is replaced, together with its spans.
    """

    start: int
    end: int
    text: str
    severity: Severity = Severity.MAJOR
    marked: Range | None = None
    is_end: bool = False

    def apply(self, text: str) -> str:
        """Returns the changed text."""
        return text[: self.start] + self.text + text[self.end :]

    def moved(self, spans: Sequence[ErrorSpan]) -> tuple[ErrorSpan, ...] | None:
        """Returns the spans in the changed text; None if the edit would change the text of a span.

        Spans in a replaced end are left out.
        """
        shift = len(self.text) - (self.end - self.start)
        moved = []
        for span in spans:
            if span.end <= self.start:
                moved.append(span)
            elif span.start < self.start or (span.start < self.end and not self.is_end):
                return None
            elif not self.is_end:
                moved.append(replace(span, start=span.start + shift, end=span.end + shift))
        return tuple(moved)


DrawEdit = Callable[[str, random.Random, Setting], Edit | None]
"""Draws an edit that makes an error of one kind, regardless of existing spans; None if the draw finds no place."""


def words_in(text: str, pool: Pool) -> list[Range]:
    """Returns the ranges of the words of a text."""
    return words_of(text, pool.compounds)


def inner_words(text: str, pool: Pool) -> list[Range]:
    """Returns the words without the first, whose capital would reveal that it was moved."""
    return words_in(text, pool)[1 if pool.is_spaced else 0 :]


def name_runs(text: str, pool: Pool) -> list[list[Range]]:
    """Returns the names of a text, those that follow each other as one run."""
    runs: list[list[Range]] = []
    for place in words_in(text, pool):
        if text[slice(*place)] not in pool.is_name:
            continue
        if runs and text[runs[-1][-1][1] : place[0]] == " ":
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs


def draw_run(text: str, rng: random.Random, pool: Pool, *, longest: int) -> Range | None:
    """Returns the range of a random run of words; None if a mark divides it."""
    words = inner_words(text, pool)
    if not words:
        return None
    n_words = min(rng.randint(1, longest), len(words))
    first = rng.randrange(len(words) - n_words + 1)
    start = words[first][0]
    end = words[first + n_words - 1][1]
    is_all = start == words[0][0] and end == words[-1][1] and not pool.is_spaced
    return None if BREAK.search(text, start, end) or is_all else (start, end)


def inserted(place: int, words: str, pool: Pool) -> Edit:
    """Returns the edit that inserts words before the word at a place, with a space if the language has spaces."""
    return Edit(place, place, words + " " if pool.is_spaced else words, marked=(place, place + len(words)))


def replaced(
    text: str,
    rng: random.Random,
    places: Sequence[Range],
    replacement_of: Callable[[str], str | None],
    severity: Severity = Severity.MAJOR,
) -> Edit | None:
    """Returns the edit that replaces the word at one of the places with `replacement_of(word)`."""
    if not places:
        return None
    start, end = rng.choice(places)
    new = replacement_of(text[start:end])
    if not new or new == text[start:end]:
        return None
    return Edit(start, end, new, severity, (start, start + len(new)))


def swapped(text: str, rng: random.Random, swaps: Swaps) -> Edit | None:
    """Returns the edit that replaces one of the words by a word that may take its place."""
    places = [match.span() for match in swaps.pattern.finditer(text) if swaps.of(match.group())]
    return replaced(text, rng, places, lambda old: in_case_of(old, rng.choice(swaps.of(old))))


def in_case_of(model: str, word: str) -> str:
    """Returns a word with the capitalisation of another.

    >>> in_case_of("Yes", "no"), in_case_of("YES", "no"), in_case_of("yes", "No")
    ('No', 'NO', 'No')
    """
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word[0].upper() + word[1:] if model[0].isupper() else word

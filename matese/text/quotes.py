"""Where a quote stands in a text, as people and language models quote: in other case, with other marks and spaces."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from matese.text.ranges import Range
from matese.text.words import is_unspaced

_PLAIN = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "’": "'", "‘": "'", "‚": "'", "–": "-"})
_MARKS = " \t\n\"'“”„«»‘’‚`"


def places(text: str, quote: str) -> tuple[list[Range], bool]:
    """Returns the ranges where a quote stands, and whether it does so exactly.

    It stands between words if it does so anywhere. If it does not stand exactly, case, width, runs of white space and
    kinds of quotation marks are disregarded.

    >>> places("Das Haus, das haus", "Haus"), places("Das Haus", "„haus”"), places("Das Haus", "Maus")
    (([(4, 8)], True), ([(4, 8)], False), ([], False))
    """
    exact = list(_occurrences(text, quote))
    return (exact, True) if exact else (list(_folded_occurrences(text, quote)), False)


def _occurrences(text: str, quote: str) -> Iterator[tuple[int, int]]:
    """Yields where a quote occurs: only between words, if it does so anywhere."""
    places = []
    start = text.find(quote) if quote.strip() else -1
    while start >= 0:
        places.append((start, start + len(quote)))
        start = text.find(quote, start + 1)
    whole = [(start, end) for start, end in places if _is_edge(text, start) and _is_edge(text, end)]
    yield from whole or places


def _is_edge(text: str, place: int) -> bool:
    """Whether no word runs across a place; scripts without spaces have an edge everywhere."""
    if not 0 < place < len(text):
        return True
    before = text[place - 1]
    after = text[place]
    return not (before.isalnum() and after.isalnum()) or is_unspaced(before) or is_unspaced(after)


def _folded_occurrences(text: str, quote: str) -> Iterator[tuple[int, int]]:
    """Yields where a quote occurs without regard to case, width, runs of white space, and kinds of marks."""
    folded, places = _fold(text)
    wanted = _fold(quote.strip(_MARKS))[0].strip()
    for start, end in _occurrences(folded, wanted):
        yield places[start], places[end - 1] + 1


def _fold(text: str) -> tuple[str, list[int]]:
    """Returns a text folded, and for each of its characters the number of the character it comes from."""
    characters: list[str] = []
    places: list[int] = []
    for number, character in enumerate(text):
        for folded in unicodedata.normalize("NFKD", character).casefold().translate(_PLAIN):
            letter = " " if folded.isspace() else folded
            if letter != " " or not characters or characters[-1] != " ":
                characters.append(letter)
                places.append(number)
    return "".join(characters), places

"""What a word is, and where words begin and end: one definition."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from itertools import islice

from matese.annotation import Segment
from matese.text.languages import languages_of
from matese.text.placeholders import prose
from matese.text.ranges import Range

_PLAIN = re.compile(r"[A-Za-z0-9_]+|[^A-Za-z0-9_\s]", re.ASCII)
_ZERO_WIDTH_JOINER = "\u200d"
_INSIDE_NUMBER = re.compile(r"\d[.,:]\d")
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Thai, Lao, Myanmar, Khmer, kana, and CJK ideographs with their extensions, for a set in a regular expression."""
_MOST_CHARACTERS = 2**14
"""Characters whose kind is remembered: those of any language."""
_COPIED_WORDS = 3
_COPIED_CHARACTERS = 6
"""Fewer equal words, or characters of a script without spaces, may be a name, a title or a loan: "Rock am Ring"."""


def word_ranges(text: str) -> tuple[Range, ...]:
    """Returns the ranges of words and punctuation marks, in code points.

    A unit is a run of letters and digits, or any other character that is not white space. In a script without spaces
    between words (`is_unspaced`), every character is a unit. A combining mark belongs to its base character.

    >>> [text[start:end] for text in ("Gut, sehr gut. 很好",) for start, end in word_ranges(text)]
    ['Gut', ',', 'sehr', 'gut', '.', '很', '好']
    """
    if text.isascii():
        return tuple([match.span() for match in _PLAIN.finditer(text)])
    ranges: list[Range] = []
    before = " "
    for place, character in enumerate(text):
        kind = _kind(character)
        joins = kind == before == "w" or (kind == "m" and before != " ")
        if joins:
            ranges[-1] = (ranges[-1][0], place + 1)
        elif kind != " ":
            ranges.append((place, place + 1))
        # A mark does not end the word of its base character.
        if kind != "m" or before == " ":
            before = kind
    return tuple(ranges)


def is_within_word(text: str, place: int) -> bool:
    """Whether a unit of `word_ranges` begins before a place and ends after it.

    >>> is_within_word("Gut, sehr", 2), is_within_word("Gut, sehr", 3)
    (True, False)
    """
    if not 0 < place < len(text):
        return False
    kind = _kind(text[place])
    if kind == "m":
        return _kind(text[place - 1]) != " "
    if kind != "w":
        return False
    before = place - 1
    while before > 0 and _kind(text[before]) == "m":
        before -= 1
    return _kind(text[before]) == "w"


def character_ranges(text: str) -> tuple[Range, ...]:
    """Returns the range of every character, including white space.

    >>> character_ranges("a b")
    ((0, 1), (1, 2), (2, 3))
    """
    return tuple((place, place + 1) for place in range(len(text)))


@lru_cache(_MOST_CHARACTERS)
def _kind(character: str) -> str:
    """Returns " " for white space, "w" in words, "m" for marks that join the previous character, "." for the rest."""
    if character.isspace():
        return " "
    if is_unspaced(character):
        return "."
    if unicodedata.category(character).startswith("M") or character == _ZERO_WIDTH_JOINER:
        return "m"
    return "w" if character.isalnum() or character == "_" else "."


@lru_cache(_MOST_CHARACTERS)
def is_unspaced(character: str) -> bool:
    """Whether a character belongs to a script that puts no spaces between words.

    >>> is_unspaced("好"), is_unspaced("g")
    (True, False)
    """
    return re.match(f"[{UNSPACED}]", character) is not None  # compiled at first use, too


def is_copy(hypothesis: str, source: str) -> bool:
    """Whether a hypothesis equals the source except for case, spaces and punctuation, and is more than a name.

    >>> is_copy("the museum is closed", "The museum is closed."), is_copy("Rock am Ring", "Rock am Ring")
    (True, False)
    """
    if _letters(hypothesis) != _letters(source):
        return False
    hypothesis = prose(hypothesis)
    n_unspaced = sum(map(is_unspaced, hypothesis))
    return count_common_words(hypothesis) >= _COPIED_WORDS or n_unspaced >= _COPIED_CHARACTERS


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


def count_common_words(text: str) -> int:
    """Returns the number of different words that are neither capitalised like names nor web addresses."""
    words = {word.strip(",.;:!?") for word in text.split() if not re.search(r"\w[./@]\w", word)}
    return sum(word[:1].isalpha() and not word[:1].isupper() for word in words)


@cache
def _pattern_of_words() -> re.Pattern[str]:
    """Returns what finds words; compiled when it is first used, by no `--help`."""
    return re.compile(f"[{UNSPACED}]|[^\\s{UNSPACED}]+")


def count_words(text: str, *, most: int | None = None) -> int:
    """Returns the number of words: runs between white space, and every character of a script without spaces.

    Counting ends with `most` words.

    >>> count_words("Das ist  gut."), count_words("很好 OK"), count_words(" ")
    (3, 3, 0)
    """
    if most is not None:
        return len(list(islice(_pattern_of_words().finditer(text), most)))
    return len(_pattern_of_words().findall(text))


def widen(start: int, end: int, text: str) -> tuple[int, int]:
    """Returns the range widened to whole words at both ends.

    In scripts without spaces between words, only combining marks are added, so that no character is cut. A number with
    the marks inside it is one word.

    >>> widen(5, 6, "Das Haus."), widen(1, 2, "很好的"), widen(1, 2, "don't"), widen(3, 4, "1.450, 2")
    ((4, 8), (1, 2), (0, 5), (0, 5))
    """
    while 0 < start < len(text) and joins(text, start):
        start -= 1
    while 0 < end < len(text) and joins(text, end):
        end += 1
    return start, end


def joins(text: str, position: int) -> bool:
    """Returns whether the characters before and at a position belong to one word."""
    before = text[position - 1]
    after = text[position]
    if _in_spaced_word(before) and _in_spaced_word(after):
        return True
    if after.isspace():
        return before == _ZERO_WIDTH_JOINER
    if unicodedata.category(after).startswith("M") or after == _ZERO_WIDTH_JOINER or before == _ZERO_WIDTH_JOINER:
        return True
    around = text[max(0, position - 2) : position + 2]
    if _INSIDE_NUMBER.match(around) or _INSIDE_NUMBER.match(around[1:]):
        return True
    if before in "'’" and position >= 2:
        before = text[position - 2]
    if after in "'’" and position + 1 < len(text):
        after = text[position + 1]
    return _in_spaced_word(before) and _in_spaced_word(after)


@lru_cache(_MOST_CHARACTERS)
def _in_spaced_word(character: str) -> bool:
    return (character.isalnum() or unicodedata.category(character).startswith("M")) and not is_unspaced(character)


UNTRANSLATED = "Accuracy/Source language fragment"
"""The category of a translation that should not be a copy of its source."""


def is_untranslated(segment: Segment) -> bool:
    """Whether a hypothesis is a copy of its source that should have been translated.

    Names, numbers and strings of one or two words may stay the same, and so may any text between two varieties of a
    language, or one that a reference repeats too.

    >>> is_untranslated(Segment("The museum is closed.", "The museum is closed.")), is_untranslated(Segment("OK", "OK"))
    (True, False)
    """
    if segment.source is None or not is_copy(segment.hypothesis, segment.source):
        return False
    source, target = languages_of(segment.key)
    is_translation = not source or source != target
    return is_translation and not any(is_copy(segment.hypothesis, reference) for reference in segment.references)

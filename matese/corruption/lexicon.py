"""Words that may replace each other, by language: antonyms, co-hyponyms, tenses, negations, numerals and vague words.

Each line of `lexicon.tsv` has a table, a language, and words; a table may have several lines. In the tables `antonym`,
`negated`, `numeral`, `place`, `related` (words of one kind, such as the months) and `tense`, colons separate the words
that may replace each other, and `_` is a space within a word. A capitalised word stands only for a capitalised one.
`conjunction` holds words that join names or numbers whose order does not matter. `negator` holds negations that may be
removed; `negatable before не` and `negatable after not` hold words before or after which that negation may be inserted.
`vague number` and `vague name` hold words that leave open which number or name is meant.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

WordTable = Literal["antonym", "negated", "numeral", "place", "related", "tense"]
"""Tables of words that may replace each other."""

_KATAKANA = "[\u30a1-\u30fa\u30fc]"
WORDS = Path(__file__).with_name("lexicon.tsv")

# Letters, digits, and the Indic, Arabic and combining marks that \w excludes.
LETTER = r"\w\u0300-\u036f\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u0dff\u200c\u200d"
UNSPACED_LANGUAGES = frozenset({"zh", "ja", "th", "yue"})
"""Languages without spaces between words."""


@dataclass(frozen=True, slots=True)
class Swaps:
    """Words and their possible replacements.

    Attributes:
        pattern: matches one of the words, the longest at a place.
        replacements: of each word, by the word in lower case; never empty.
    """

    pattern: re.Pattern[str]
    replacements: Mapping[str, tuple[str, ...]]

    def of(self, word: str) -> tuple[str, ...]:
        """Returns the replacements of a word matched by the pattern; none if only a capitalised word has some.

        Those that are capitalised like the word come first: the German noun "Morgen" is no "morgen".
        """
        replacements = self.replacements[word.casefold()]
        alike = tuple(new for new in replacements if new[0].isupper() == word[0].isupper())
        return alike or (replacements if word[0].isupper() else ())


@dataclass(frozen=True, slots=True)
class Negatable:
    """Where a negation may be inserted.

    Attributes:
        negation: the word to insert.
        is_before: whether it is inserted before the words of the pattern, or after them.
        pattern: matches these words.
    """

    negation: str
    is_before: bool
    pattern: re.Pattern[str]


@functools.cache
def swaps(table: WordTable, language: str) -> Swaps | None:
    """Returns the replacements of a table in a language; None if there are none."""
    words = _tables().get((table, language))
    if words is None:
        return None
    replacements: dict[str, list[str]] = {}
    for exchangeable in words.split():
        members = exchangeable.replace("_", " ").split(":")
        for old in members:
            replacements.setdefault(old.casefold(), []).extend(new for new in members if new != old)
    return Swaps(
        _pattern(replacements, language), {old: tuple(dict.fromkeys(words)) for old, words in replacements.items()}
    )


@functools.cache
def pattern(table: Literal["conjunction", "negator"], language: str) -> re.Pattern[str] | None:
    """Returns the pattern of conjunctions whose parts have no order, or of negations to remove; None without any."""
    words = _tables().get((table, language))
    return None if words is None else _pattern(words.split(), language)


@functools.cache
def vague(table: Literal["number", "name"], language: str) -> tuple[str, ...]:
    """Returns words that leave open which number or name is meant; none if none are known."""
    return tuple(word.replace("_", " ") for word in _tables().get((f"vague {table}", language), "").split())


@functools.cache
def negatable(language: str) -> Negatable | None:
    """Returns where a negation may be inserted in a language; None if unknown."""
    for (table, of_language), words in _tables().items():
        if table.startswith("negatable ") and of_language == language:
            _, place, negation = table.split()
            return Negatable(negation, place == "before", _pattern(words.split(), language))
    return None


@functools.cache
def _tables() -> dict[tuple[str, str], str]:
    _, *lines = WORDS.read_text(encoding="utf-8").splitlines()
    tables: dict[tuple[str, str], str] = {}
    for line in lines:
        table, language, words = line.split("\t")
        tables[table, language] = f"{tables.get((table, language), '')} {words}".strip()
    return tables


def _pattern(words: Iterable[str], language: str) -> re.Pattern[str]:
    """Returns a pattern of the words, ignoring case; in languages with spaces it matches whole words."""
    alternatives = "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))
    if language in UNSPACED_LANGUAGES:
        # A run of katakana is usually one word.
        return re.compile(f"(?<!{_KATAKANA}(?={_KATAKANA}))(?:{alternatives})(?!(?<={_KATAKANA}){_KATAKANA})")
    return re.compile(f"(?<![{LETTER}'’-])(?:{alternatives})(?![{LETTER}'’-])", re.IGNORECASE)

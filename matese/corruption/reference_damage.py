"""Damaged references: ambiguous, poor or unrelated ones, beside a translation that stays as good as it was.

Each is a pure function from a text to one edit; see `matese.corruption.edits.DrawEdit`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from matese.corruption import lexicon, meaning_errors, wording_errors
from matese.corruption.edits import DrawEdit, Edit, Setting, name_runs, words_in
from matese.corruption.pools import is_sentence_start
from matese.text.ranges import Range

_POOR: Sequence[DrawEdit] = (
    meaning_errors.word,
    meaning_errors.form,
    wording_errors.omission,
    wording_errors.order,
    wording_errors.typo,
    wording_errors.repetition,
)
_WORDS_PER_ERROR = 5
_NO_AMOUNT = re.compile(r"[12]?\d|3[01]|(?:1[5-9]|20)\d\d")
"""Digits that may be the day of a month or a year."""
_COUNTED = re.compile(r"[ \u00a0](?=[^\W\d_])")
_COUNTED_UNSPACED = re.compile(r"(?![年月日号號时時点點分])[^\W\d_a-zA-Z]")
"""What follows a number that counts something: in scripts without spaces, no part of a date or time."""


def ambiguous(text: str, rng: random.Random, setting: Setting) -> Edit | None:
    """Replaces a number, or a name of several words, with words that leave open which one is meant."""
    language = setting.pool.language
    numbers = lexicon.vague("number", language)
    names = lexicon.vague("name", language)
    places = [(place, numbers) for place in _amounts(text, setting)] if numbers else []
    places += [(place, names) for place in _full_names(text, setting)] if names else []
    if not places:
        return None
    (start, end), words = rng.choice(places)
    word = rng.choice(words)
    return Edit(start, end, word[0].upper() + word[1:] if is_sentence_start(text, start) else word)


def poor(text: str, rng: random.Random, setting: Setting) -> Edit | None:
    """Injects several errors, about one in five words and at least two."""
    new = text
    n_errors = 0
    wanted = max(2, len(words_in(text, setting.pool)) // _WORDS_PER_ERROR)
    for _ in range(3 * wanted):
        edit = rng.choice(_POOR)(new, rng, setting)
        if edit is not None:
            new = edit.apply(new)
            n_errors += 1
        if n_errors == wanted:
            return Edit(0, len(text), new)
    return None


def unrelated(text: str, rng: random.Random, setting: Setting) -> Edit | None:
    """Replaces the whole text with one that shares few words with it, as if two files were misaligned."""
    pool = setting.pool
    drawn = rng.choice(pool.texts or ("",))
    old, new = ({words[slice(*place)].casefold() for place in words_in(words, pool)} for words in (text, drawn))
    return Edit(0, len(text), drawn) if old and new and 2 * len(old & new) < len(old) else None


def _amounts(text: str, setting: Setting) -> list[Range]:
    """Returns the places of numbers that count something."""
    is_spaced = setting.pool.is_spaced
    counted = _COUNTED if is_spaced else _COUNTED_UNSPACED
    places = [
        match.span()
        for match in meaning_errors.NUMBER.finditer(text)
        if counted.match(text, match.end())
        and not (is_spaced and (_NO_AMOUNT.fullmatch(match.group()) or text[: match.start()][-1:].strip()))
    ]
    swaps = lexicon.swaps("numeral", setting.pool.language) if is_spaced else None
    return places + [match.span() for match in swaps.pattern.finditer(text)] if swaps else places


def _full_names(text: str, setting: Setting) -> list[Range]:
    """Returns the places of two or more names in a row."""
    return [(run[0][0], run[-1][1]) for run in name_runs(text, setting.pool) if len(run) > 1]

"""Injected errors of meaning: replaced words, names and numbers, and negations.

Each is a pure function from a text to one edit; see `matese.corruption.edits.DrawEdit`.
"""

from __future__ import annotations

import random
import re
from functools import partial
from itertools import combinations

from matese.annotation import Severity
from matese.corruption import lexicon
from matese.corruption.edits import (
    BREAK,
    DrawEdit,
    Edit,
    Setting,
    in_case_of,
    inserted,
    name_runs,
    replaced,
    swapped,
    words_in,
)
from matese.text.ranges import Range

NUMBER = re.compile(r"\d+(?:[.,]\d+|[ \u00a0\u202f]\d{3}(?!\d))*")
"""A number in digits, with thousands that may be grouped by spaces."""
_WHOLE_NUMBER = re.compile(rf"(?<![A-Za-z:@.,\d])(?:{NUMBER.pattern})(?![A-Za-z:\d])")
"""A number that is not part of a time or a word."""
_LONG_WORD = re.compile(r"[^\W\d_]{4}")
_CASE_LANGUAGES = frozenset({"cs", "is", "pl", "ru", "uk"})
"""Languages in which case endings say who does what, whatever the order of the names."""
_CLOSE = 40
"""Most characters from the first to the last of two exchanged names or numbers."""
_LISTED = re.compile("[,，、/]")


def number(text: str, rng: random.Random, setting: Setting) -> Edit | None:
    """Replaces a number, in digits or in words."""
    swaps = lexicon.swaps("numeral", setting.pool.language)
    places = [match.span() for match in NUMBER.finditer(text)]
    edit = swapped(text, rng, swaps) if swaps and (not places or rng.random() < 0.2) else None
    return edit or replaced(text, rng, places, lambda digits: _changed(digits, rng))


def negation(text: str, rng: random.Random, setting: Setting) -> Edit | None:
    """Removes a negation, which marks the following word, or inserts or replaces one."""
    ways: list[DrawEdit] = [_negation_removed, _negation_inserted, _negation_swapped]
    rng.shuffle(ways)
    # Negated texts are rarer than others, so removal is preferred.
    if rng.random() < 0.6:
        ways.sort(key=lambda way: way is not _negation_removed)
    return next((edit for edit in (way(text, rng, setting) for way in ways) if edit), None)


def role(text: str, rng: random.Random, setting: Setting) -> Edit | None:
    """Exchanges two names or two numbers with each other."""
    pool = setting.pool
    numbers = [match.span() for match in _WHOLE_NUMBER.finditer(text)]
    # In digits of unequal length, 14 May 2019 is the same date as 2019 May 14.
    pairs = [(left, right) for left, right in combinations(numbers, 2) if left[1] - left[0] == right[1] - right[0]]
    if pool.language not in _CASE_LANGUAGES:
        places = lexicon.swaps("place", pool.language)
        names = [(run[0][0], run[-1][1]) for run in name_runs(text, pool)]
        names += [match.span() for match in places.pattern.finditer(text)] if places else []
        # Parts of one name have only short words between them: Philippe de Villiers.
        pairs += [
            (left, right)
            for left, right in combinations(sorted(names), 2)
            if not pool.is_spaced or _LONG_WORD.search(text, left[1], right[0])
        ]
    pairs = [(left, right) for left, right in pairs if _matters(text, left, right, pool.language)]
    if not pairs:
        return None
    left, right = rng.choice(pairs)
    new = text[slice(*right)] + text[left[1] : right[0]] + text[slice(*left)]
    return Edit(left[0], right[1], new, marked=(left[0], right[1]))


def entity(text: str, rng: random.Random, setting: Setting) -> Edit | None:
    """Replaces a name."""
    pool = setting.pool
    swaps = lexicon.swaps("place", pool.language)
    if swaps and rng.random() < 0.7:
        edit = swapped(text, rng, swaps)
        if edit:
            return edit
    places = [place for place in words_in(text, pool) if text[slice(*place)] in pool.is_name]
    return replaced(text, rng, places, lambda word: pool.other_name(word, rng))


def word(text: str, rng: random.Random, setting: Setting) -> Edit | None:
    """Replaces a word with another of similar length and frequency."""
    pool = setting.pool
    places = [place for place in words_in(text, pool) if pool.is_content(text[slice(*place)])]
    return replaced(text, rng, places, lambda old: pool.other_word(old, rng))


def form(text: str, rng: random.Random, setting: Setting) -> Edit | None:
    """Replaces a word with another form of it (tense, number, case) or another word of the same stem."""
    pool = setting.pool
    places = [place for place in words_in(text, pool) if place[1] - place[0] >= 4 and text[slice(*place)].isalpha()]
    places = [place for place in places if text[slice(*place)] not in pool.is_name]
    return replaced(text, rng, places if pool.is_spaced else [], lambda old: pool.other_form(old, rng), Severity.MINOR)


def _changed(digits: str, rng: random.Random) -> str | None:
    """Returns a number with a changed, swapped, added or removed digit, or without its decimal mark.

    A mark before three digits may group thousands, so that 1,500 and 1500 are the same number.
    """
    way = rng.choice(["digit", "digit", "digit", "swap", "longer", "shorter", "mark"])
    marks = [place for place, character in enumerate(digits) if not character.isdigit()]
    if way == "mark" and len(marks) == 1 and len(digits) - marks[0] != 4:
        return digits.replace(digits[marks[0]], "")
    if way == "longer" and not marks and len(digits) <= 3:
        return digits + "0"
    if way == "shorter" and not marks and len(digits) > 1:
        return digits[:-1]
    place = rng.choice([place for place in range(len(digits)) if place not in marks])
    if way == "swap" and place + 1 < len(digits) and place + 1 not in marks and digits[place + 1] != "0":
        return digits[:place] + digits[place + 1] + digits[place] + digits[place + 2 :]
    allowed = [digit for digit in ("123456789" if place == 0 else "0123456789") if digit != digits[place]]
    return digits[:place] + rng.choice(allowed) + digits[place + 1 :]


def _negation_removed(text: str, rng: random.Random, setting: Setting) -> Edit | None:
    pattern = lexicon.pattern("negator", setting.pool.language)
    negators = [match.span() for match in pattern.finditer(text)] if pattern else []
    if not negators:
        return None
    start, end = rng.choice(negators)
    after = next((place for place in words_in(text, setting.pool) if place[0] >= end), None)
    if after is None or (text[end : after[0]].strip() or (end == after[0] and setting.pool.is_spaced)):
        return None
    rest = in_case_of(text[start:end], text[slice(*after)])
    return Edit(start, after[1], rest, marked=(start, start + len(rest)))


def _negation_inserted(text: str, rng: random.Random, setting: Setting) -> Edit | None:
    words = lexicon.negatable(setting.pool.language)
    if words is None:
        return None
    # At the start of a text the capital would have to move to the negation.
    places = [match.span() for match in words.pattern.finditer(text) if match.start() or not setting.pool.is_spaced]
    if not places:
        return None
    start, end = rng.choice(places)
    if words.negation in text[max(0, start - 6) : start] or words.negation in text[end : end + 6]:
        return None
    if words.is_before:
        return inserted(start, words.negation, setting.pool)
    # Only before another word: at the end of a clause the negation would precede the verb.
    return inserted(end + 1, words.negation, setting.pool) if re.match(r" \w", text[end:]) else None


def _swap(table: lexicon.WordTable, text: str, rng: random.Random, setting: Setting) -> Edit | None:
    """Replaces a word with another of its group in a table of the lexicon."""
    swaps = lexicon.swaps(table, setting.pool.language)
    return swapped(text, rng, swaps) if swaps else None


_negation_swapped = partial(_swap, "negated")
antonym = partial(_swap, "antonym")
related = partial(_swap, "related")
"""Replaces a word with another of its kind, such as a month."""
tense = partial(_swap, "tense")
"""Replaces a verb form with one of another tense."""


def _matters(text: str, left: Range, right: Range, language: str) -> bool:
    """Whether two parts of a text are close, differ, and are not just listed, so that their order matters."""
    between = text[left[1] : right[0]]
    joined = lexicon.pattern("conjunction", language)
    return (
        right[1] - left[0] <= _CLOSE
        and text[slice(*left)] != text[slice(*right)]
        and any(map(str.isalpha, between))
        and not BREAK.search(between)
        and not _LISTED.search(between)
        and not (joined and joined.search(between))
    )

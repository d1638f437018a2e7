"""Injected errors of meaning: replaced words, names and numbers, and negations.

Each is a pure function from a text to one edit; see `matese.corruption.edits.Kind`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from matese.annotation import Severity
from matese.corruption import lexicon
from matese.corruption.edits import Edit, Setting, in_case_of, inserted, replaced, swapped, words_in
from matese.corruption.pools import Range

NUMBER = re.compile(r"\d+(?:[.,]\d+|[ \u00a0\u202f]\d{3}(?!\d))*")
"""A number in digits, with thousands that may be grouped by spaces."""


def number(text: str, rng: random.Random, setting: Setting) -> Edit | None:
    """Replaces a number, in digits or in words."""
    swaps = lexicon.swaps("numeral", setting.pool.language)
    places = [match.span() for match in NUMBER.finditer(text)]
    if swaps and (not places or rng.random() < 0.2):
        return swapped(text, rng, swaps) or (_other_number(text, rng, places) if places else None)
    return _other_number(text, rng, places) if places else None


def negation(text: str, rng: random.Random, setting: Setting) -> Edit | None:
    """Removes a negation, which marks the following word, or inserts or replaces one."""
    ways = [_negation_removed, _negation_inserted, _negation_swapped]
    rng.shuffle(ways)
    # Negated texts are rarer than others, so removal is preferred.
    if rng.random() < 0.6:
        ways.sort(key=lambda way: way is not _negation_removed)
    return next((edit for edit in (way(text, rng, setting) for way in ways) if edit), None)


def antonym(text: str, rng: random.Random, setting: Setting) -> Edit | None:
    """Replaces a word with its opposite."""
    swaps = lexicon.swaps("antonym", setting.pool.language)
    return swapped(text, rng, swaps) if swaps else None


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


def _other_number(text: str, rng: random.Random, places: Sequence[Range]) -> Edit | None:
    return replaced(text, rng, places, lambda old: _changed(old, rng))


def _changed(digits: str, rng: random.Random) -> str | None:
    """Returns a number with a changed, swapped, added or removed digit, or without its separator."""
    way = rng.choice(["digit", "digit", "digit", "swap", "longer", "shorter", "mark"])
    marks = [place for place, character in enumerate(digits) if not character.isdigit()]
    if way == "mark" and len(marks) == 1 and len(digits) > 2:
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
    pattern = lexicon.negator(setting.pool.language)
    found = [match.span() for match in pattern.finditer(text)] if pattern else []
    if not found:
        return None
    start, end = rng.choice(found)
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


def _negation_swapped(text: str, rng: random.Random, setting: Setting) -> Edit | None:
    swaps = lexicon.swaps("negated", setting.pool.language)
    return swapped(text, rng, swaps) if swaps else None

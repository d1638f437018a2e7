"""Injected errors of wording: omissions, additions, word order, spelling.

Each is a pure function from a text to one edit; see `matese.corruption.edits.DrawEdit`.
"""

from __future__ import annotations

import random
import re
from itertools import pairwise

from matese.annotation import Severity
from matese.corruption.edits import BREAK, Edit, Setting, draw_run, inner_words, inserted, replaced, words_in
from matese.corruption.pools import is_sentence_start, words_of

_FINAL = re.compile(r"[.!?。！？।]$")
_OTHER_FINAL = {".": "?!,", "!": "?,", "?": ".!", "。": "？！，", "！": "？，", "？": "。！", "।": "?!,"}


def omission(text: str, rng: random.Random, setting: Setting) -> Edit | None:
    """Removes a run of words."""
    run = draw_run(text, rng, setting.pool, longest=6 if setting.pool.is_spaced else 5)
    if run is None or (not setting.pool.is_spaced and not 2 <= run[1] - run[0] <= 8):
        return None
    start, end = run
    if text[end : end + 1].isspace():
        end += 1
    elif text[start - 1 : start].isspace():
        start -= 1
    return Edit(start, end, "")


def addition(text: str, rng: random.Random, setting: Setting) -> Edit | None:
    """Inserts a run of words from another text."""
    pool = setting.pool
    donor = rng.choice(pool.texts)
    run = draw_run(donor, rng, pool, longest=5)
    places = inner_words(text, pool)
    if run is None or not places or donor[slice(*run)] in text:
        return None
    return inserted(rng.choice(places)[0], donor[slice(*run)], pool)


def repetition(text: str, rng: random.Random, setting: Setting) -> Edit | None:
    """Repeats a run of words; the second one is the error."""
    pool = setting.pool
    run = draw_run(text, rng, pool, longest=4)
    if run is None:
        return None
    again = text[slice(*run)]
    severity = Severity.MINOR if len(words_in(again, pool)) == 1 else Severity.MAJOR
    glue = " " if pool.is_spaced else ""
    return Edit(run[1], run[1], glue + again, severity, (run[1] + len(glue), run[1] + len(glue) + len(again)))


def untranslated(text: str, rng: random.Random, setting: Setting) -> Edit | None:
    """Replaces words with source words from about the same position."""
    pool = setting.pool
    run = draw_run(text, rng, pool, longest=4)
    source = setting.source
    words = words_of(source or "", setting.source_compounds)
    if run is None or not source or not words:
        return None
    n_words = max(1, round(len(words_in(text[slice(*run)], pool)) * len(words) / len(words_in(text, pool))))
    middle = (run[0] + run[1]) / 2 / len(text) * len(words)
    first = min(max(0, int(middle - n_words / 2 + 0.5)), len(words) - 1)
    start = words[first][0]
    end = words[min(len(words), first + n_words) - 1][1]
    foreign = source[start:end]
    if foreign.casefold() in text.casefold() or not any(map(str.isalpha, foreign)) or BREAK.search(foreign):
        return None
    return Edit(*run, foreign, marked=(run[0], run[0] + len(foreign)))


def order(text: str, rng: random.Random, setting: Setting) -> Edit | None:
    """Swaps two neighbouring words or short runs."""
    words = inner_words(text, setting.pool)
    n_left, n_right = rng.choice([(1, 1), (1, 1), (1, 2), (2, 1), (2, 2)])
    if len(words) < n_left + n_right:
        return None
    first = rng.randrange(len(words) - n_left - n_right + 1)
    group = words[first : first + n_left + n_right]
    gaps = {text[word[1] : following[0]] for word, following in pairwise(group)}
    left = text[group[0][0] : group[n_left - 1][1]]
    right = text[group[n_left][0] : group[-1][1]]
    if gaps - {" ", ""} or left.casefold() == right.casefold():
        return None
    start = group[0][0]
    end = group[-1][1]
    swapped = right + text[group[n_left - 1][1] : group[n_left][0]] + left
    return Edit(start, end, swapped, Severity.MINOR, (start, end)) if swapped != text[start:end] else None


def typo(text: str, rng: random.Random, setting: Setting) -> Edit | None:
    """Introduces a typo into a word."""
    pool = setting.pool
    places = [place for place in words_in(text, pool) if place[1] - place[0] >= 4 and text[slice(*place)].isalpha()]
    return replaced(text, rng, places if pool.is_spaced else [], lambda old: _slip(old, rng), Severity.MINOR)


def punctuation(text: str, rng: random.Random, setting: Setting) -> Edit | None:
    """Replaces the final punctuation mark, or removes it, which marks the last word."""
    match = _FINAL.search(text)
    words = words_in(text, setting.pool)
    if match is None or not words or words[-1][1] != match.start():
        return None
    start, end = match.span()
    if rng.random() < 0.6:
        return Edit(start, end, rng.choice(_OTHER_FINAL[match.group()]), Severity.MINOR, (start, end))
    return Edit(words[-1][0], end, text[words[-1][0] : start], Severity.MINOR, (words[-1][0], start))


def casing(text: str, rng: random.Random, setting: Setting) -> Edit | None:
    """Changes the capitalisation of a word."""
    places = [
        (start, end)
        for start, end in inner_words(text, setting.pool)
        if not is_sentence_start(text, start) and end - start >= 3 and text[start + 1 : end].islower()
    ]
    return replaced(text, rng, places, lambda old: old[0].swapcase() + old[1:], Severity.MINOR)


def truncated(text: str, rng: random.Random, setting: Setting) -> Edit | None:
    """Removes the last quarter to half of the text."""
    words = words_in(text, setting.pool)
    if len(words) < 6:
        return None
    end = words[int(len(words) * rng.uniform(0.5, 0.75)) - 1][1]
    return Edit(end, len(text), "", is_end=True)


def glued(text: str, rng: random.Random, setting: Setting) -> Edit | None:
    """Replaces the end with that of another text."""
    donor = rng.choice(setting.pool.texts)
    words = words_in(text, setting.pool)
    donor_words = words_in(donor, setting.pool)
    if len(words) < 4 or len(donor_words) < 4 or donor == text:
        return None
    start = words[int(len(words) * rng.uniform(0.4, 0.9))][0]
    end = donor[donor_words[int(len(donor_words) * rng.uniform(0.5, 0.9))][0] :].rstrip()
    return Edit(start, len(text), end, marked=(start, start + len(end)), is_end=True)


def shuffled(text: str, rng: random.Random, setting: Setting) -> str | None:
    """Returns the text with its words in random order; None if it has fewer than five."""
    words = text.split() if setting.pool.is_spaced else [text[slice(*place)] for place in words_in(text, setting.pool)]
    mixed = rng.sample(words, len(words))
    return (" " if setting.pool.is_spaced else "").join(mixed) if len(words) >= 5 and mixed != words else None


def _slip(old: str, rng: random.Random) -> str:
    place = rng.randrange(1, len(old) - 1)
    way = rng.choice(["swap", "drop", "double"])
    if way == "swap":
        return old[:place] + old[place + 1] + old[place] + old[place + 2 :]
    return old[:place] + (old[place] * 2 if way == "double" else "") + old[place + 1 :]

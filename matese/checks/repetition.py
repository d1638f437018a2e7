"""Words that are repeated, as by a model that has lost the thread.

A word is what Unicode's properties make of it: letters with their marks, so that no vowel sign or virama ends one. In
scripts that put no spaces between words (East Asian ones, and those whose lines break by a dictionary), a character
with its marks counts as a word, and more of them must be repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex

from matese.annotation import ErrorSpan, Severity
from matese.checks import measured
from matese.checks.rule import Rule, Texts

REPEATED = "Accuracy/Addition/Repetition"
DOUBLED = "Accuracy/Addition/Doubled word"
DOUBLED_SHORT = "Accuracy/Addition/Doubled short word"

_LONGEST = 40
_LONGEST_UNSPACED = 160
"""Words, or characters of a script without spaces, of the longest part that is searched for."""
_LONG = 5
"""Letters of a word that is no pronoun or article, as most shorter words are that languages double: "die die"."""
_LEAST_UNSPACED = 8
"""Characters of a script without spaces that are repeated at least."""
_UNSPACED = r"\p{lb=SA}\p{Han}\p{Hira}\p{Kana}\p{Tibt}"
_FURTHER = rf"[\p{{L}}\p{{M}}\p{{N}}\u200c\u200d--[{_UNSPACED}--\p{{M}}]]*+"
# Possessive, so that the memory for a word of millions of characters does not grow with it.
_WORD = regex.compile(
    rf"(?=[\p{{L}}\p{{N}}])(?:[{_UNSPACED}][\p{{M}}\p{{lb=SA}}--\p{{L}}]*+"
    rf"|[\p{{L}}\p{{N}}--{_UNSPACED}]{_FURTHER}(?:['’](?=\p{{L}}){_FURTHER})*+)",
    regex.VERSION1,
)
PARTICLES = {
    # Not in 目的的 (of the purpose), 的的确确, and the names 的的喀喀 and 的的士.
    "zh": regex.compile(r"(?<!目)(?<first>的)的(?![的确確喀士])"),
    # Only を never ends or begins a word of hiragana. Of the others, those before a word in kanji or katakana, but for
    # もの and なに, which end as they begin.
    "ja": regex.compile(r"(?<first>を)を|(?<![もなが])(?<first>[がのに])\g<first>(?=[\p{Han}\p{Katakana}])"),
}
"""Particles that stand there twice and are no part of a word, by the target language."""
_HYPHEN = regex.compile(r"\p{Pd}")
_IS_UNSPACED = regex.compile(f"[{_UNSPACED}]")


def find(texts: Texts) -> Iterator[ErrorSpan]:
    """Yields repetitions of words, without the first occurrence; nothing if the source repeats words, too.

    One or two words must stand there three times in a row, three and more twice. A single word that stands there twice
    has a category of its own, or two, for words of five letters and more and for shorter ones, and is only found in
    languages that were measured, since many languages double words. Characters of a script without spaces must be
    eight, or four words three times; but some particles of Chinese and Japanese are found that stand there twice.
    """
    found = list(_repeats(texts.hypothesis))
    if (particles := PARTICLES.get(texts.target_lang or "")) is not None:
        found += [(match.end("first"), match.end(), REPEATED) for match in particles.finditer(texts.hypothesis)]
    if not found or next(_repeats(texts.source), None):
        return
    for start, end, category in found:
        if category == REPEATED or texts.target_lang in measured.LANGUAGES:
            yield ErrorSpan(start, end, Severity.MAJOR, category)


def _repeats(text: str) -> Iterator[tuple[int, int, str]]:
    """Yields the places of repetitions, and their categories."""
    places = [match.span() for match in _WORD.finditer(text)]
    words = [text[start:end].casefold() for start, end in places]
    if len(words) < 2:
        return
    # Where each word stands next, so that most places need no comparison at all.
    following: list[int | None] = [None] * len(words)
    last: dict[str, int] = {}
    for place, word in enumerate(words):
        if word in last:
            following[last[word]] = place
        last[word] = place
    at = 0
    while at < len(words) - 1:
        size, times = next(_loops(words, following, at), (1, 1))
        if times == 1 and _is_doubled(text, words, places, at):
            yield *places[at + 1], DOUBLED if len(words[at]) >= _LONG else DOUBLED_SHORT
        elif times > 1:
            yield places[at + size][0], places[at + size * times - 1][1], REPEATED
        at += size * times


def _is_doubled(text: str, words: Sequence[str], places: Sequence[tuple[int, int]], at: int) -> bool:
    """Whether a word of three letters or more stands there twice, without a mark between; no part of "что-то"."""
    if words[at] != words[at + 1] or len(words[at]) < 3 or words[at].isdecimal() or _IS_UNSPACED.match(words[at]):
        return False
    first = places[at]
    second = places[at + 1]
    is_part = _HYPHEN.match(text, second[1])
    return not is_part and text[slice(*first)] == text[slice(*second)] and not text[first[1] : second[0]].strip()


def _loops(words: Sequence[str], following: Sequence[int | None], at: int) -> Iterator[tuple[int, int]]:
    """Yields length in words and number of repeats of each loop that starts here and repeats too often."""
    longest = _LONGEST_UNSPACED if _IS_UNSPACED.match(words[at]) else _LONGEST
    place = following[at]
    while place is not None and place - at <= longest:
        size = place - at
        place = following[place]
        unit = words[at : at + size]
        # Numbers may repeat, and there may be many of them: their repeats are not even counted.
        if words[at + size : at + 2 * size] != unit or not any(map(_has_letter, unit)):
            continue
        times = 2
        while words[at + times * size : at + (times + 1) * size] == unit:
            times += 1
        if _IS_UNSPACED.match(words[at]):
            is_found = (times - 1) * size >= _LEAST_UNSPACED
        else:
            is_found = times >= (2 if size > 2 else 3)
        if is_found:
            yield size, times


def _has_letter(word: str) -> bool:
    return not word.isdecimal()


RULE = Rule("repetition", "words are repeated, and the source repeats none", (REPEATED, DOUBLED, DOUBLED_SHORT), find)

"""Words that are repeated, as by a model that has lost the thread.

A word or phrase with a word of three letters that stands there three times in a row without marks between (a word of
three letters alone: four times), or a sentence that stands there twice. Two words in a row are not found, since many
languages double words.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import regex

from matese.annotation import ErrorSpan, Severity
from matese.checks.rule import Rule, Texts
from matese.text.placeholders import prose
from matese.text.sentences import sentence_ranges
from matese.text.words import UNSPACED

REPEATED = "Accuracy/Addition/Repetition"

_LONGEST = 20
"""Words of the longest phrase."""
_LONGEST_WORD = 1000
"""Letters of the longest word of a phrase, which bounds the memory that a search takes."""
_LETTER = rf"[\p{{L}}\p{{M}}\p{{N}}'’\u200c\u200d--[{UNSPACED}]]"
_WHOLE_WORD = rf"{_LETTER}{{1,{_LONGEST_WORD}}}+"
_LOOP = regex.compile(
    rf"(?i)(?<!{_LETTER})(?P<unit>{_WHOLE_WORD}(?:\s++{_WHOLE_WORD}){{0,{_LONGEST - 1}}}?)\s++"
    rf"(?P<rest>(?P=unit)(?:\s++(?P=unit))++)(?!{_LETTER})"
    rf"|(?P<unit>[{UNSPACED}]{{3,{2 * _LONGEST}}}?)(?P<rest>(?P=unit){{2,}}+)",
    regex.VERSION1,
)
_SENTENCES = regex.compile(r"(?s)[.!?…؟।。！？\n].*[.!?…؟।。！？\n]")
_WORD = regex.compile(r"(?:\p{L}\p{M}*){3}")
_SHORT_WORDS = regex.compile(r"[\p{L}\p{M}]{3}\s+[\p{L}\p{M}]{3}")
"""Two words of three letters, behind the same one: Venda has "vha vha vha" in correct sentences."""
_TWICE = regex.compile(
    r"(?i)(?<![\p{L}\p{M}])(?:(?P<unit>[\p{L}\p{M}]++)\W+|(?P<unit>\p{L}{2,4}?))(?P=unit)+(?![\p{L}\p{M}])"
    rf"|(?P<unit>[{UNSPACED}]{{2,4}}?)(?P=unit)"
)
"""A word that stands there twice, with any marks between, or is made of the same part twice: haha, いやいや."""


def find(texts: Texts) -> Iterator[ErrorSpan]:
    """Yields repetitions, without the first occurrence; nothing if the source or a reference repeats, too."""
    repeats = list(_repeats(texts.hypothesis))
    if repeats and not any(_TWICE.search(text) or any(_repeats(text)) for text in (texts.source, *texts.references)):
        yield from (ErrorSpan(start, end, Severity.MAJOR, REPEATED) for start, end in repeats)


def _repeats(text: str) -> Iterator[tuple[int, int]]:
    """Yields the places of repetitions.

    >>> list(_repeats("Er ist sehr sehr sehr müde.")), list(_repeats("Nein, nein, nein."))
    ([(12, 21)], [])
    >>> list(_repeats("Das ist mir neu. Das ist mir neu."))
    [(17, 33)]
    """
    plain = prose(text)
    for match in _LOOP.finditer(plain):
        is_short = _SHORT_WORDS.fullmatch(match["rest"]) is not None
        if _WORD.search(match["unit"]) and len({*match["unit"].casefold()}) > 1 and not is_short:
            yield match.start("rest"), match.end("rest")
    if not _SENTENCES.search(plain):
        return
    for (first, last), (start, end) in pairwise(sentence_ranges(plain)):
        sentence = plain[start:end]
        if sentence.casefold() == plain[first:last].casefold() and _WORD.search(sentence):
            yield start, end


RULE = Rule("repetition", (REPEATED,), find)

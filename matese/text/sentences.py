"""The sentences of a text in any language: what is read as one piece."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator

from matese.text.ranges import Range

_LINE = re.compile(r"[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
_END_OF_PHRASE = re.compile(r"(?<=[\u0e00-\u0eff])\s+|[\u17d4\u17d5]")
"""Thai and Lao end sentences, and other phrases, with a space; sentencex does not know the full stop of Khmer."""
_ORDINAL = re.compile(r"(?:^|\D)\d{1,2}\.$")
"""What ends in such a number is followed by its noun, as in German: "am 3. Mai"."""
_QUOTE = re.compile("[\"'«»‘’‚‛“”„‟‹›「」『』＂]")
_IDEOGRAPH = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]")
"""Kana, Hangul and Chinese characters."""
_SHORTEST = 15
"""Least size of a sentence: a shorter one is read with the next one, since little can be aligned by it."""
_SHORTEST_PHRASE = 40
_LONGEST_QUOTATION = 60
"""Largest size of a sentence with quotation marks that is not cut between them."""


def size(text: str) -> int:
    """Returns the length of a text, comparable across scripts: in letters of an alphabet.

    >>> size("I like tea."), size("我喜欢茶。")
    (11, 13)
    """
    # A character of these scripts stands for about three letters; those of Thai and its neighbours are letters.
    return len(text) if text.isascii() else len(text) + 2 * len(_IDEOGRAPH.findall(text))


def is_ideograph(character: str) -> bool:
    """Whether a character stands for a syllable or a word: kana, Hangul, or a Chinese character."""
    return _IDEOGRAPH.match(character) is not None


def sentence_ranges(text: str) -> tuple[Range, ...]:
    r"""Returns the ranges of the sentences, in order and without white space at their ends.

    They cover all other characters. The language need not be known; a line break always ends a sentence, and a sentence
    of a few letters is joined with the next one.

    >>> text = "Am 3. Mai kam er. 他走了。“真的？”  Nein!\n- Milch und Brot"
    >>> [text[start:end] for start, end in sentence_ranges(text)]
    ['Am 3. Mai kam er.', '他走了。“真的？”', 'Nein!\n- Milch und Brot']
    """
    ranges: list[Range] = []
    for start, end in _raw_ranges(text):
        if ranges and _belongs_together(text[slice(*ranges[-1])]):
            ranges[-1] = (ranges[-1][0], end)
        else:
            ranges.append((start, end))
    if len(ranges) > 1 and size(text[slice(*ranges[-1])]) < _SHORTEST:
        _, end = ranges.pop()
        ranges[-1] = (ranges[-1][0], end)
    return tuple(ranges)


def _belongs_together(before: str) -> bool:
    """Whether a sentence goes on with the next one."""
    length = size(before)
    if _ORDINAL.search(before) or length < _SHORTEST:
        return True
    return length < _SHORTEST_PHRASE and "\u0e00" <= before[-1] <= "\u0eff"


def _raw_ranges(text: str) -> Iterator[Range]:
    """Yields the ranges of all sentences, however short, without white space at their ends."""
    for line in _LINE.finditer(text):
        for start, end in _cut_line(line[0]):
            part = line[0][start:end]
            if stripped := part.strip():
                first = line.start() + start + part.index(stripped[0])
                yield first, first + len(stripped)


def _cut_line(line: str) -> Iterator[Range]:
    """Yields the ranges of the sentences of a line, which cover it."""
    for start, end in _segment(line):
        sentence = line[start:end]
        cuts = {match.end() for match in _END_OF_PHRASE.finditer(sentence)}
        if size(sentence) > _LONGEST_QUOTATION and _QUOTE.search(sentence):
            masked = _QUOTE.sub(" ", sentence)
            cuts |= {_before_opening_quotes(sentence, masked, place) for _, place in _segment(masked)}
        for first, last in itertools.pairwise(sorted({0, len(sentence)} | cuts)):
            yield start + first, start + last


def _before_opening_quotes(sentence: str, masked: str, place: int) -> int:
    """Returns the end of a sentence, given that of the same sentence without quotation marks.

    The white space and quotation marks in between are divided: closing ones end a sentence, opening ones begin one.
    """
    first = len(masked[:place].rstrip())
    for number in range(first, place):
        character = sentence[number]
        if character.isspace() or unicodedata.category(character) in {"Ps", "Pi"}:
            return number
    return place


def _segment(text: str) -> Iterator[Range]:
    """Yields the ranges of the sentences of sentencex.

    Its rules for English serve all languages, since marks must not depend on whether the language pair is known.
    """
    from sentencex import segment

    start = 0
    for sentence in segment("en", text):
        yield start, start + len(sentence)
        start += len(sentence)

"""What a word, a number and a placeholder are, and which spans overlap: one definition each.

JavaScript counts UTF-16 code units, two for a character beyond U+FFFF: `Utf16Text`.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import accumulate, islice
from typing import Literal, NamedTuple

from matese.annotation import Placed, SegmentKey
from matese.errors import InputError

Range = tuple[int, int]
"""First character and one past the last, in code points."""
_EAST_ASIAN_SCRIPTS: dict[str, Literal["zh", "ja", "ko"]] = {
    **dict.fromkeys(("Hani", "Hans", "Hant", "Hanb"), "zh"),
    **dict.fromkeys(("Jpan", "Hira", "Kana", "Hrkt"), "ja"),
    **dict.fromkeys(("Kore", "Hang"), "ko"),
}
"""The languages whose tokenizers suit texts in a script (ISO 15924)."""

_PLAIN = re.compile(r"[A-Za-z0-9_]+|[^A-Za-z0-9_\s]", re.ASCII)
_DIGITS = re.compile("[0-9]{1,18}")
_ZERO_WIDTH_JOINER = "\u200d"
_INSIDE_NUMBER = re.compile(r"\d[.,:]\d")
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Thai, Lao, Myanmar, Khmer, kana, and CJK ideographs with their extensions, for a set in a regular expression."""
_WORD = re.compile(f"[{UNSPACED}]|[^\\s{UNSPACED}]+")
_PLACEHOLDER = re.compile(
    # Behind a digit it is a per cent sign: "5% off". Possessive, because a zero is a flag or a digit.
    r"(?<![\d%])%(?:\(\w+\))?[-+#0]*+\d*+(?:\.\d+)?(?:\$[-+#0]*+\d*+)?(?:hh?|ll?|[jztL])?[diouxXeEfFgGaAcrspn@]"
    r"|(?<![\d%])%L?[1-9]\d?(?![\d$]|[.,]\d)"  # Qt
    r"|\{\w{1,3}>|<\w{1,3}\}|\{\{[^{}]*\}\}|[$%]?\{[^{}]*\}|\$t\([^()]*\)"
    r"|</?(?:[a-zA-Z][^<>]*|\d+\s*/?)>|&(?:#\w+|[a-zA-Z]\w*);"
)
_MAY_HAVE_PLACEHOLDERS = re.compile(r"[%{<&]|\$t\(")
_ICU = re.compile(r"\{\s*([\w.-]+)\s*,\s*(plural|select|selectordinal)\s*,(?:\s*offset:\s*\d+)?")
_ICU_OPTION = re.compile(r"\s*(?:=\d+|[\w-]+)\s*\{")
_FIRST_ASTRAL = "\U00010000"
_COPIED_WORDS = 3
_COPIED_CHARACTERS = 6
"""Fewer equal words, or characters of a script without spaces, may be a name, a title or a loan: "Rock am Ring"."""


def words(text: str) -> tuple[Range, ...]:
    """Returns the ranges of words and punctuation marks, in code points.

    A unit is a run of letters and digits, or any other character that is not white space. In a script without spaces
    between words (`is_unspaced`), every character is a unit. A combining mark belongs to its base character.

    >>> [text[start:end] for text in ("Gut, sehr gut. 很好",) for start, end in words(text)]
    ['Gut', ',', 'sehr', 'gut', '.', '很', '好']
    """
    if text.isascii():
        return tuple(match.span() for match in _PLAIN.finditer(text))
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


def characters(text: str) -> tuple[Range, ...]:
    """Returns the range of every character, including white space.

    >>> characters("a b")
    ((0, 1), (1, 2), (2, 3))
    """
    return tuple((place, place + 1) for place in range(len(text)))


@cache
def _kind(character: str) -> str:
    """Returns " " for white space, "w" in words, "m" for marks that join the previous character, "." for the rest."""
    if character.isspace():
        return " "
    if is_unspaced(character):
        return "."
    if unicodedata.category(character).startswith("M") or character == _ZERO_WIDTH_JOINER:
        return "m"
    return "w" if character.isalnum() or character == "_" else "."


def is_unspaced(character: str) -> bool:
    """Whether a character belongs to a script that puts no spaces between words.

    >>> is_unspaced("好"), is_unspaced("g")
    (True, False)
    """
    return re.match(f"[{UNSPACED}]", character) is not None  # compiled when it is first asked, by no --help


def is_copy(hypothesis: str, source: str) -> bool:
    """Whether a hypothesis equals the source except for case, spaces and punctuation, and is more than a name.

    >>> is_copy("the museum is closed", "The museum is closed."), is_copy("Rock am Ring", "Rock am Ring")
    (True, False)
    """
    if _letters(hypothesis) != _letters(source):
        return False
    n_unspaced = sum(map(is_unspaced, hypothesis))
    return count_common_words(hypothesis) >= _COPIED_WORDS or n_unspaced >= _COPIED_CHARACTERS


def _letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def count_common_words(text: str) -> int:
    """Returns the number of words that are neither capitalised like names nor web addresses."""
    words = (word for word in text.split() if not re.search(r"\w[./@]\w", word))
    return sum(word[0].isalpha() and not word[0].isupper() for word in words)


def count_words(text: str, *, most: int | None = None) -> int:
    """Returns the number of words: runs between white space, and every character of a script without spaces.

    Counting ends with `most` words.

    >>> count_words("Das ist  gut."), count_words("很好 OK"), count_words(" ")
    (3, 3, 0)
    """
    if most is not None:
        return len(list(islice(_WORD.finditer(text), most)))
    return len(_WORD.findall(text))


def parse_whole_number(digits: str) -> int | None:
    """Returns the number that some digits spell; None for any other text, and beyond signed 64-bit numbers.

    >>> parse_whole_number("007"), parse_whole_number("-1"), parse_whole_number("²"), parse_whole_number("1" * 19)
    (7, None, None, None)
    """
    return int(digits) if _DIGITS.fullmatch(digits) else None


def placeholders(text: str) -> list[Range]:
    """Returns the places of placeholders and tags: `%s`, `%(name)d`, `%1`, `{0}`, `{{ x }}`, `$t(x)`, `<b>`, `&amp;`.

    Of a message in ICU's syntax, which gives texts for several cases, all but the texts is one.

    >>> placeholders("%d of {n}, 5% off, 5 % zu, <b>x</b>")
    [(0, 2), (6, 9), (27, 30), (31, 35)]
    >>> [text[start:end] for text in ("{n, plural, one {file} other {files}}",) for start, end in placeholders(text)]
    ['{n, plural, one {', '} other {', '}}']
    """
    if not _MAY_HAVE_PLACEHOLDERS.search(text):
        return []
    if not (message := _ICU.search(text)):
        return [match.span() for match in _PLACEHOLDER.finditer(text)]
    places = placeholders(text[: message.start()])
    start = message.start()
    at = message.end()
    while option := _ICU_OPTION.match(text, at):
        places.append((start, option.end()))
        start = _closing_brace(text, option.end())
        places += [(option.end() + a, option.end() + b) for a, b in placeholders(text[option.end() : start])]
        at = start + 1
    end = at + (text.startswith("}", at) or len(text[at:]) - len(text[at:].lstrip()) + 1)
    places.append((start, min(end, len(text))))
    places = [place for place in places if place[0] < place[1]]
    return [*places, *((end + a, end + b) for a, b in placeholders(text[end:]))]


def icu_arguments(text: str) -> list[str]:
    """Returns the arguments of messages in ICU's syntax that choose a text.

    >>> icu_arguments("{n, plural, one {{who} has # file} other {{who} has # files}} {sex, select, other {x}}")
    ['{n, plural}', '{sex, select}']
    """
    return [f"{{{match[1]}, {match[2]}}}" for match in _ICU.finditer(text)] if "{" in text else []


def _closing_brace(text: str, at: int) -> int:
    """Returns the place of the brace that closes the one before `at`; the end of the text if none does."""
    depth = 1
    for place in range(at, len(text)):
        depth += (text[place] == "{") - (text[place] == "}")
        if not depth:
            return place
    return len(text)


def number_placeholders(text: str) -> tuple[str, ...]:
    """Returns the placeholders of whole numbers, such as `%d`; without one, the only placeholder that is no markup.

    >>> [number_placeholders(text) for text in ("%s: %1$d of %u", "<b>{n}</b> files", "{n} of {m}")]
    [('%1$d', '%u'), ('{n}',), ()]
    """
    every = [text[start:end] for start, end in placeholders(text)]
    numbers = tuple(code for code in every if code.startswith("%") and code[-1] in "diuoxX")
    others = tuple(code for code in every if not code.startswith(("<", "&")))
    return numbers or (others if len(others) == 1 else ())


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


def _in_spaced_word(character: str) -> bool:
    return (character.isalnum() or unicodedata.category(character).startswith("M")) and not is_unspaced(character)


def languages_of(key: SegmentKey | None) -> tuple[str, str]:
    """Returns source and target language of a segment, without scripts and regions; "" for unknown.

    >>> languages_of(SegmentKey(lang_pair="en-es_MX")), languages_of(SegmentKey(lang_pair="deu_Latn-cmn_Hans"))
    (('en', 'es'), ('de', 'zh'))
    >>> languages_of(None)
    ('', '')
    """
    return languages((key and key.lang_pair) or "")


@cache
def languages(lang_pair: str) -> tuple[str, str]:
    """Returns the languages of a pair, as short as possible, without scripts and regions; "" for unknown.

    >>> languages("en-zh_CN"), languages("eng-cmn"), languages("en")
    (('en', 'zh'), ('en', 'zh'), ('en', ''))
    """
    source, target = language_tags(lang_pair)
    return _language(source), _language(target)


def east_asian_target(key: SegmentKey | None) -> Literal["zh", "ja", "ko"] | None:
    """Returns the language of a segment's target if it is Chinese, Japanese or Korean, which need their own tokenizers.

    The script decides, stated or usual, so that Cantonese is Chinese, and Japanese in Latin letters is not Japanese.

    >>> names = "en-zh_TW", "en-yue", "eng_Latn-zho_Hans", "en-jpn", "en-ko", "en-ja_Latn", "zh-en"
    >>> [east_asian_target(SegmentKey(lang_pair=name)) for name in names]
    ['zh', 'zh', 'zh', 'ja', 'ko', None, None]
    """
    return _east_asian((key and key.lang_pair) or "")


@cache
def _east_asian(lang_pair: str) -> Literal["zh", "ja", "ko"] | None:
    import langcodes

    _, tag = language_tags(lang_pair)
    script = langcodes.Language.get(tag).maximize().script if langcodes.tag_is_valid(tag) else None
    return _EAST_ASIAN_SCRIPTS.get(script or "")


@cache
def language_tags(lang_pair: str) -> tuple[str, str]:
    """Returns two language tags; they are split at the first hyphen if no hyphen has a valid tag on either side."""
    import langcodes

    parts = lang_pair.replace("_", "-").split("-")
    for place in range(1, len(parts)):
        source = "-".join(parts[:place])
        target = "-".join(parts[place:])
        if langcodes.tag_is_valid(source) and langcodes.tag_is_valid(target):
            return source, target
    source, _, target = lang_pair.partition("-")
    return source, target


def _language(tag: str) -> str:
    """Returns the shortest code of a language; the first part of a tag that is not valid."""
    import langcodes

    if langcodes.tag_is_valid(tag):
        return langcodes.Language.get(tag).prefer_macrolanguage().language or ""
    return re.split("[-_]", tag.casefold())[0]


class Piece(NamedTuple):
    """A range of a text, what stands in its place in another text, and whether both have the same characters."""

    place: Range
    other: Range
    is_same: bool


def edits(units: Sequence[str], others: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    """Returns how one sequence becomes another: kind, start, end, start and end in the other, as `difflib` has them."""
    # autojunk would leave out units that are frequent in a long text: the space, the letter e.
    return SequenceMatcher(None, units, others, autojunk=False).get_opcodes()


def project(start: int, end: int, pieces: Iterable[Piece]) -> Range | None:
    """Returns where a range of a text is in another text; None if none of the pieces, which are in order, is of it.

    >>> pieces = [Piece((0, 8), (0, 8), True), Piece((8, 11), (8, 12), False)]  # "Das ist rot", "Das ist blau"
    >>> project(4, 7, pieces), project(4, 10, pieces), project(20, 22, pieces)
    ((4, 7), (4, 12), None)
    """
    places = [
        (max(first, start) - first + other[0], min(last, end) - first + other[0]) if is_same else other
        for (first, last), other, is_same in pieces
        if first < end and start < last
    ]
    return (places[0][0], places[-1][1]) if places else None


def overlap(span: Placed, other: Placed) -> bool:
    """Whether two spans of one text share a character."""
    return span.start < other.end and other.start < span.end


class Utf16Text:
    """The code points and UTF-16 code units of a text.

    >>> text = Utf16Text("a😀b")
    >>> text.to_unit(2), text.to_place(3), text.n_units
    (3, 2, 4)
    """

    def __init__(self, text: str) -> None:
        # In most texts no character is beyond U+FFFF, and both counts agree.
        self._starts: Sequence[int] = range(len(text) + 1)
        if text and max(text) >= _FIRST_ASTRAL:
            self._starts = [0, *accumulate(1 + (letter >= _FIRST_ASTRAL) for letter in text)]
        self.n_units = self._starts[-1]

    def to_unit(self, place: int) -> int:
        """Returns the offset in code units for an offset in code points within the text."""
        return self._starts[place]

    def to_place(self, unit: int) -> int:
        """Returns the offset in code points for an offset in code units.

        Raises:
            InputError: if it is beyond the text or in the middle of a surrogate pair.
        """
        if not 0 <= unit <= self.n_units:
            raise InputError(f"offset {unit}: must be between 0 and {self.n_units}, the text's UTF-16 code units")
        place = bisect_left(self._starts, unit)
        if self._starts[place] != unit:
            raise InputError(f"offset {unit} is in the middle of a surrogate pair: must be before or after a character")
        return place

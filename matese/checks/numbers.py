"""Numbers of the source that a translation omits or changes, read by the conventions of each language.

A number has several readings, and two numbers agree where they share one: its value by the decimal mark of its
language (both marks where the language is unknown or the number does not fit it), its value times the word behind it
("30 million", 3000万, "3 decades", 6成 for 60 per cent), its hour by the other clock, its decade ("1990s", "90er"), and
the characters as they stand, since versions and codes are copied. Dates and times agree where their
parts do ("10:30" and "10.30 Uhr").

Whole numbers to 12 and those of one digit and zeros are often written as words: they are only reported if another
number stands in their place. Chinese and Roman numerals may match a number, but are never reported as missing. Not
recognised: other number words ("forty-two"), and units that were converted.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from matese.annotation import ErrorSpan, Omission, Severity
from matese.text import placeholders

CHANGED, MISSING = "Accuracy/Mistranslation/Number", "Accuracy/Omission/Number"

# Decimal marks as the Unicode CLDR has them; of other languages neither is expected.
_LANGUAGES = {
    ",": "af az be bg bs ca cs da de el es et eu fi fr gl hr hu hy id is it ka kk lt lv mk nb nl nn no pl pt ro ru sk "
    "sl sq sr sv tr uk uz vi",
    ".": "bn cy en ga gu he hi ja kn ko ml mr ms ne pa si sw ta te th tl ur xh zh zu",
}
_DECIMAL_MARKS = {lang: mark for mark, languages in _LANGUAGES.items() for lang in languages.split()}

_SPACES = " \u00a0\u2009\u202f'’٬"
_ALPHABET = "A-Za-zÀ-ʯͰ-ԯ"
# Digits behind a letter belong to a name: H2O, COVID-19.
_NUMBER = re.compile(
    rf"(?<![{_ALPHABET}\d])(?<![{_ALPHABET}][-‑])(?<!\d[.,٫٬])"
    rf"(?:\d{{1,3}}(?:[{_SPACES}]\d{{3}})+(?!\d)(?:[.,٫]\d+)?|\d+(?:[.,٫٬]\d+)*)"
)
_CHINESE_LETTERS = "〇零一二两兩三四五六七八九十百千万萬亿億"
_CHINESE = re.compile(f"[{_CHINESE_LETTERS}]+")
_MIXED = re.compile(rf"\d+[{_CHINESE_LETTERS}][{_CHINESE_LETTERS}\d]*")
_SCALES = (
    (1, re.compile(r"\s?(?:成|decade|jahrzehnt|décennie|decenni|d[eé]cada|десятилет)", re.IGNORECASE)),
    (3, re.compile(r"\s?(?:k\b|thousand|tausend|tsd|mille\b|mil\b|тыс|천)", re.IGNORECASE)),
    (4, re.compile(r"\s?[만万萬]")),
    (6, re.compile(r"\s?(?:mn?\b|mio|mill?i[oó]n|milh|milj|mln|млн|миллион|мільйон)", re.IGNORECASE)),
    (8, re.compile(r"\s?[억亿億]")),
    (9, re.compile(r"\s?(?:bn\b|billion|mrd|mld|mill?iard|mil millon|млрд|миллиард|мільярд)", re.IGNORECASE)),
    (12, re.compile(r"\s?(?:trillion|billón|billon|трлн|триллион)", re.IGNORECASE)),
)
_HALF_DAY = re.compile(r"(?:[:.]\d\d)?\s?[ap]\.?\s?m\b", re.IGNORECASE)
_DECADE = re.compile(r"['’]?s\b|er\b|-?[хе]\b|年代")
_ROMAN = re.compile(r"\b(?=[IVXL]{2})(?:XL|L?X{0,3})(?:IX|IV|V?I{0,3})(?![A-Z])")
_LETTERS = {"I": 1, "V": 5, "X": 10, "L": 50}
_LARGEST_WORD = 12


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a text.

    Attributes:
        start: first character, in code points.
        end: one past the last.
        readings: its values, and its characters.
        parts: the numbers between its marks, where it may be a date or a time.
    """

    start: int
    end: int
    readings: frozenset[Decimal | str]
    parts: frozenset[Decimal]

    @property
    def may_be_a_word(self) -> bool:
        """Whether a number is often written as a word: up to 12, or one digit and zeros."""
        values = [value.normalize() for value in self.readings if isinstance(value, Decimal) and value == int(value)]
        return any(value <= _LARGEST_WORD or len(value.as_tuple().digits) == 1 for value in values)


def compare(
    source: str, hypothesis: str, references: Sequence[str] = (), *, source_lang: str = "", target_lang: str = ""
) -> tuple[list[ErrorSpan], list[Omission]]:
    """Returns the numbers of a hypothesis that were changed, and those of the source that are missing.

    A number that a reference lacks is not reported as missing, and one that a reference has is not reported as changed.

    >>> compare("1,500 km", "1,5 km", source_lang="en", target_lang="de")[0][0].category
    'Accuracy/Mistranslation/Number'
    >>> compare("1,500 km", "1.500 km", source_lang="en", target_lang="de")
    ([], [])
    """
    ours, theirs = list(find(source, source_lang)), list(find(hypothesis, target_lang))
    others = [_Known(text, target_lang) for text in references]
    in_hypothesis, in_source = _Known(hypothesis, target_lang), _Known(source, source_lang)
    missing = [number for number in ours if not in_hypothesis.has(number) and all(text.has(number) for text in others)]
    extra = [number for number in theirs if not in_source.has(number) and not any(text.has(number) for text in others)]
    sure = [number for number in missing if not number.may_be_a_word]
    changed = [number for number in extra if not number.may_be_a_word][: len(sure)]
    missing = [number for number in missing if number not in sure[: len(changed)]]
    # As many numbers on both sides: none of those that are left has become a word.
    if len(ours) == len(theirs):
        left = [number for number in extra if number not in changed]
        changed += left[: len(missing)]
        missing = missing[len(left) :]
    return (
        [ErrorSpan(number.start, number.end, Severity.MAJOR, CHANGED) for number in changed],
        [
            Omission("source", None, number.start, number.end, Severity.MAJOR, MISSING)
            for number in missing
            if not number.may_be_a_word
        ],
    )


class _Known:
    """The possible values of the numbers of a text."""

    def __init__(self, text: str, lang: str) -> None:
        numbers = list(find(text, lang))
        words = set(_spelled(text))
        self.readings = {reading for number in numbers for reading in number.readings} | words
        self.parts = {part for number in numbers for part in number.parts} | words

    def has(self, number: Number) -> bool:
        """Whether one of them may be this number."""
        return not number.readings.isdisjoint(self.readings) or bool(number.parts and number.parts <= self.parts)


def find(text: str, lang: str = "") -> Iterator[Number]:
    """Yields the numbers of a text that are written in digits, except for those within placeholders and tags."""
    codes = placeholders(text)
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        if any(first <= start < last for first, last in codes):
            continue
        values = _values(match[0], lang)
        readings: set[Decimal | str] = {match[0], *values}
        readings |= {scaled for value in values for scaled in _around(value, text, end)}
        if chinese := _MIXED.match(text, start):
            readings.add(_chinese(chinese[0]))
            end = max(end, chinese.end())
        pieces = [Decimal(piece) for piece in re.findall(r"\d+", match[0])]
        # A number in groups of three has no parts, unless the groups are separated by spaces.
        is_grouped = len(pieces) > 1 and any(value == int(value) for value in values) and " " not in match[0]
        yield Number(start, end, frozenset(readings), frozenset() if is_grouped else frozenset(pieces))


def _values(text: str, lang: str) -> set[Decimal]:
    """Returns the possible values of a number with marks; a single one if it fits its known language."""
    plain = re.sub(f"[{_SPACES}]", "", text)
    if "٫" in plain:
        return {Decimal(plain.replace("٫", "."))} if plain.count("٫") == 1 else set()
    read = {mark: _value(plain, mark, other) for mark, other in ((".", ","), (",", "."))}
    preferred = read.get(_DECIMAL_MARKS.get(lang, ""))
    return {value for value in read.values() if value is not None} if preferred is None else {preferred}


def _value(text: str, decimal: str, other: str) -> Decimal | None:
    """Returns the value with this decimal mark; None if the marks do not fit it."""
    whole, _, fraction = text.partition(decimal)
    first, *groups = whole.split(other)
    if not fraction.isdecimal() and fraction:
        return None
    # Groups of three, and in India of two before the last; a date is none of them.
    is_odd = first.startswith("0") or len(first) > 3 or not {len(group) for group in groups} <= {2, 3}
    if groups and (is_odd or len(groups[-1]) != 3):
        return None
    return Decimal(f"{first}{''.join(groups)}.{fraction or 0}")


def _around(value: Decimal, text: str, end: int) -> Iterator[Decimal]:
    """Yields the values of a number together with the following word, such as "million"."""
    for exponent, pattern in _SCALES:
        if pattern.match(text, end):
            yield value * 10**exponent
    if value <= 12 and _HALF_DAY.match(text, end):
        yield (value + 12) % 24
    if _DECADE.match(text, end):
        yield value % 100


def _spelled(text: str) -> Iterator[Decimal]:
    """Yields the values of Chinese and Roman numerals."""
    for match in _CHINESE.finditer(text):
        yield (value := _chinese(match[0]))
        if text.startswith("成", match.end()):  # tenths, in per cent
            yield 10 * value
    for match in _ROMAN.finditer(text):
        values = [_LETTERS[letter] for letter in match[0]]
        yield Decimal(
            sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))
        )


def _chinese(numeral: str) -> Decimal:
    """Returns the value of a Chinese numeral, which may hold digits.

    >>> _chinese("二十一"), _chinese("3亿5000万"), _chinese("二〇二三"), _chinese("两千")
    (Decimal('21'), Decimal('350000000'), Decimal('2023'), Decimal('2000'))
    """
    total = section = number = 0
    largest = 0
    for letter in numeral:
        # The standard library of some Pythons takes the two of counting for no number.
        value = 2 if letter in "两兩" else int(unicodedata.numeric(letter))
        if value < 10:
            number = 10 * number + value
        elif value < 10_000:
            section, number = section + (number or 1) * value, 0
        else:
            rest = section + number
            total = (total + rest) * value if value > largest else total + rest * value
            section, number, largest = 0, 0, value
    return Decimal(total + section + number)

"""Numbers of the source that a translation omits or changes, read by the conventions of each language.

A number has several readings, and two numbers agree where they share one: its value by the decimal mark of its
language (both marks where the language is unknown or the number does not fit it), its value times the word behind it
("30 million", 3000万, "3 decades", 6成 for 60 per cent), its hour by the other clock, its decade ("1990s", "90er"), its
year by another era (令和6年, พ.ศ. 2567), and the characters as they stand, since versions and codes are copied. If both
numbers have a scale word (`scales`), only the products count: "1.2 billion" is not "1,2 Millionen". Dates and times
agree where their parts do ("10:30" and "10.30 Uhr").

Words for a number are known where CLDR has rules for them; in other languages, a number below 1,000 is not reported as
missing. Whole numbers to 12 and those of one digit and zeros are often written as words, in phrases that no rule knows:
they are only reported if another number stands in their place. A number with a unit that translators convert (miles,
pounds) is only reported if what stands in its place is no conversion, and the name of a month agrees with its number.
Numerals of words, Chinese and Roman ones, and digits of names ("WO2015", "COVID-19") may match a number, but are never
reported.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import regex as re

from matese.annotation import ErrorSpan, Omission, Severity
from matese.checks import cldr, scales
from matese.checks.rule import Rule, Texts
from matese.checks.scales import ScaleWord
from matese.text.placeholders import placeholders

CHANGED = "Accuracy/Mistranslation/Number"
MISSING = "Accuracy/Omission/Number"

_SPACES = " \u00a0\u2009\u202f'’٬،"
_ALPHABET = r"\p{Latin}\p{Greek}\p{Cyrillic}"
# Digits behind a letter belong to a name: H2O.
_NUMBER = re.compile(
    rf"(?<![{_ALPHABET}\d])(?<!\d[.,٫٬])"
    rf"(?:\d{{1,2}}(?=\.\d\d\s?[ap]\.?\s?m\b)"  # the hour of 5.30 pm
    rf"|\d{{1,3}}(?:[{_SPACES}]\d{{3}})+(?!\d)(?:[.,٫]\d+)?|\d+(?:[.,٫٬]\d+)*)"
)
_NAME_BEFORE = re.compile(rf"\p{{Lu}}[{_ALPHABET}]*[-‑]\Z")
_NAME_BEHIND = re.compile(rf"[{_ALPHABET}]{{4}}")
"""COVID-19, 247sports; but ku-25 and 5km."""
_CHINESE_LETTERS = "〇零一二两兩三四五六七八九十百千万萬亿億兆"
_KOREAN_LETTERS = str.maketrans("십백천만억조", "十百千万億兆")
_MIXED_LETTERS = f"{_CHINESE_LETTERS}십백천만억조"
_CHINESE = re.compile(f"[{_CHINESE_LETTERS}]+")
_MIXED = re.compile(rf"\d[\d,]*[{_MIXED_LETTERS}]+(?:\s?\d[\d,]*[{_MIXED_LETTERS}]*)*")
_RANGE = re.compile(
    r"\s*(?:[-‑–—~～〜至到]|から|또는|에서|to|and|or|bis|und|oder|à|a|et|ou|y|o|e|u|do|až|nebo|lub|i|или|и|до|से|और)\s*",
    re.IGNORECASE,
)
_MINUTES_BEHIND = re.compile(r":[0-5]\d(?!\d)")
_HALF_DAY = re.compile(r"(?:[:.]\d\d)?\s?[ap]\.?\s?m\b", re.IGNORECASE)
_DECADE = re.compile(r"['’]?s\b|er\b|-?[хе]\b|年代")
_ROMAN = re.compile(r"\b(?=[IVXL]{2})(?:XL|L?X{0,3})(?:IX|IV|V?I{0,3})(?![A-Z])")
_LETTERS = {"I": 1, "V": 5, "X": 10, "L": 50}
_LARGEST_WORD = 12
_MONTHS = 12
_LARGEST_SPELLED = 1_000_000
_LEAST_IN_DIGITS = 1_000
"""Least whole number that is seldom written in words, in languages whose words are not known."""
_TELEPHONE = re.compile(r"(?<!\d)(?!\d{4}[ /\-‑–]\d{4}(?!\d))\d(?:[ \u00a0()/.\-‑–]{0,2}\d){6,}")
"""Digits of a telephone number, which are grouped in any way; no range of years."""
_TIME = re.compile(r"(?<![\d.,])([01]?\d|2[0-4])\.[0-5]\d(?![.,]?\d)")
_MINUTES = "00"
"""Of a whole hour, which may be written without them."""
_RESTATED = re.compile(r"\(\s*\p{L}{0,3}\s?\p{Sc}[^()]*\)")
"""An amount in brackets: often that before it in another currency, which translators may leave out."""
_BRACKETS = re.compile(r"\([^()]*\)")
_CENTURIES = range(10, 22)
_DIGITS = re.compile(r"\d+")
_YEAR = re.compile(r"[12]\d\d\d")
_OF_YEARS = re.compile(r"\s?[-‑–—/~]\s?")
_ROUNDING = 0.1
"""How far a converted number may be from the exact one, as a share: translators round."""
_LEAST_ROUNDING = 0.6


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a text.

    Attributes:
        start: first character, in code points.
        end: one past the last.
        readings: its values, and its characters; of a scaled number only the values together with its scale word.
        parts: the numbers between its marks, where it may be a date or a time.
        plain: of a scaled number, its values and characters without the scale word.
        is_unsure: whether it may be part of a name, or no number at all, and is never reported.
    """

    start: int
    end: int
    readings: frozenset[Decimal | str]
    parts: frozenset[Decimal]
    plain: frozenset[Decimal | str] = frozenset()
    is_unsure: bool = False

    @property
    def values(self) -> list[Decimal]:
        """Its values in all readings."""
        return [reading for reading in self.all_readings if isinstance(reading, Decimal)]

    @property
    def all_readings(self) -> frozenset[Decimal | str]:
        """The readings with and without a scale word."""
        return self.readings | self.plain

    def agrees(self, other: Number) -> bool:
        """Whether two numbers may be the same; the scale word of one may be unknown here, but not of both."""
        if self.plain and other.plain:
            return not self.readings.isdisjoint(other.readings)
        return not self.all_readings.isdisjoint(other.all_readings)

    @property
    def is_in_digits(self) -> bool:
        """Whether a number is seldom written as words in any language: from 1,000, or with decimals."""
        values = [value for value in self.readings if isinstance(value, Decimal)]
        return all(value >= _LEAST_IN_DIGITS or value != int(value) for value in values)

    @property
    def is_decade(self) -> bool:
        """Whether a number may name a decade: 80s."""
        return any(value % 10 == 0 for value in self.values)

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
    ours = list(find(source, source_lang))
    theirs = list(find(hypothesis, target_lang))
    # As many numbers on both sides: none has become a word, and each stands for one of the other side.
    is_paired = len(ours) == len(theirs)
    without_equal, repeated = _unmatched(ours, theirs) if is_paired else (ours, [])
    if not without_equal:
        return [], []
    others = [_Known(text, target_lang) for text in references]
    in_hypothesis = _Known(hypothesis, target_lang)
    reportable = [number for number in without_equal if not number.is_unsure and all(o.has(number) for o in others)]
    absent = [number for number in reportable if not in_hypothesis.has(number)]
    missing = [number for number in reportable if not in_hypothesis.has_digits(number)] if is_paired else absent
    if not missing:
        return [], []
    in_source = _Known(source, source_lang)
    made = [number for number in theirs if number in repeated or not in_source.has(number)]
    extra = [
        number
        for number in made
        if not number.is_unsure
        and not any(text.has(number) for text in others)
        and hypothesis[number.start : number.end] != _MINUTES
    ]
    # Decades may be ages or temperatures: "in the low 80s".
    missing = [number for number in missing if not (number.is_decade and _DECADE.match(source, number.end))]
    missing, extra = _without_conversions(missing, extra, ours=ours, made=made, source=source, source_lang=source_lang)
    missing, extra = _without_currencies(
        missing, extra, source, hypothesis, source_lang=source_lang, target_lang=target_lang
    )
    # Those that are seldom written as words are surely the changed ones.
    missing = sorted(missing, key=lambda number: number.may_be_a_word)
    changed = sorted(extra, key=lambda number: number.may_be_a_word)[: len(missing)]
    missing = [number for number in missing[len(changed) :] if number in absent]
    return (
        [ErrorSpan(number.start, number.end, Severity.MAJOR, CHANGED) for number in changed],
        [
            Omission("source", None, number.start, number.end, Severity.MAJOR, MISSING)
            for number in missing
            if not number.may_be_a_word
            and not any(match.start() < number.start < match.end() for match in _RESTATED.finditer(source))
            and (number.is_in_digits or cldr.can_spell(target_lang) or not target_lang)
        ],
    )


def _unmatched(ours: Sequence[Number], theirs: Sequence[Number]) -> tuple[list[Number], list[Number]]:
    """Returns the numbers of the source without an equal one, and those of the hypothesis that repeat one."""
    left = list(theirs)
    unmatched = []
    matched = []
    for number in ours:
        equal = next((other for other in left if number.agrees(other)), None)
        if equal is None:
            unmatched.append(number)
        else:
            left.remove(equal)
            matched.append(equal)
    return unmatched, [number for number in left if any(map(number.agrees, matched))]


class _Known:
    """The possible values of the numbers of a text."""

    def __init__(self, text: str, lang: str) -> None:
        self._text = text
        self._lang = lang
        self._squashed: cldr.Squashed | None = None
        self._numbers = list(find(text, lang))
        self._words = set(_spelled(text))
        self._telephones = [_bare_digits(match[0]) for match in _TELEPHONE.finditer(text)]
        within = (range(number.start, number.end) for number in self._numbers)
        covered = set(itertools.chain.from_iterable(within))
        self._words |= {Decimal(match[1]) for match in _TIME.finditer(text)}
        # Digits of words: WO2015.
        self._words |= {Decimal(match[0]) for match in _DIGITS.finditer(text) if match.start() not in covered}
        self._parts = {part for number in self._numbers for part in number.parts} | self._words

    def has(self, number: Number) -> bool:
        """Whether one of them may be this number."""
        return self.has_digits(number) or self._spells(number)

    def has_digits(self, number: Number) -> bool:
        """Whether this number may be there other than in words."""
        # A date has the number of a month, and others have its name.
        months = {*map(Decimal, cldr.months(self._text, self._lang))} if _may_be_month(number) else set()
        is_word = not number.all_readings.isdisjoint(self._words | months)
        has_parts = bool(not number.plain and number.parts and number.parts <= self._parts | months)
        if is_word or has_parts or any(map(number.agrees, self._numbers)):
            return True
        # A number of a telephone may be written with and without spaces.
        digits = {_bare_digits(reading) for reading in number.all_readings if isinstance(reading, str)}
        return any(len(one) > 1 and one in run for run in self._telephones for one in digits)

    def _spells(self, number: Number) -> bool:
        """Whether the text has words for the number."""
        if self._squashed is None:
            self._squashed = cldr.Squashed(self._text)
        whole = [int(value) for value in number.values if value == int(value) and value < _LARGEST_SPELLED]
        return any(self._squashed.spells(value, self._lang) for value in whole)


def _may_be_month(number: Number) -> bool:
    return any(value <= _MONTHS for value in (*number.values, *number.parts))


def _bare_digits(text: str) -> str:
    """Returns the digits of a text, those of all scripts as 0 to 9."""
    return "".join(str(unicodedata.digit(letter)) for letter in text if letter.isdecimal())


def _without_conversions(
    missing: Sequence[Number],
    extra: Sequence[Number],
    *,
    ours: Sequence[Number],
    made: Sequence[Number],
    source: str,
    source_lang: str,
) -> tuple[list[Number], list[Number]]:
    """Returns the numbers that are left without those whose unit was converted, and what they became.

    Of an amount in two units, "45 miles (72 km)", either may be missing, but a third number is wrong. `made` are the
    numbers that only the hypothesis has.
    """
    converted = {number: _conversions(number, source, source_lang) for number in ours}
    stated = {
        number
        for number in ours
        if converted[number]
        and (
            any(other != number and _is_among(other, converted[number], least=0) for other in ours)
            or any(match.start() < number.start < match.end() for match in _BRACKETS.finditer(source))
        )
    }
    measured = [number for number in missing if converted[number] and number not in stated]
    # A converted number may be one that the source has, too: "1 to 2 inches", 2 to 5 cm.
    theirs = [*made, *(number for number in ours if number not in missing)]
    are_converted = all(any(_is_among(other, converted[number]) for other in theirs) for number in measured)
    values = [
        value for number in (ours if are_converted else measured) if number not in stated for value in converted[number]
    ]
    unexplained = [number for number in extra if not _is_among(number, values)]
    became = [number for number in missing if any(_is_among(other, converted[number]) for other in made)]
    left = [number for number in missing if number not in became]
    if unexplained:
        # A third number that takes no other's place is one of the amount itself: "50 feet (6 m)".
        return left or became, unexplained
    # In words: some miles.
    return [n for n in left if not converted[n] or not (n in stated or n.may_be_a_word)], []


def _conversions(number: Number, text: str, lang: str) -> list[float]:
    """Returns what a number may become if the unit behind it is converted; nothing without such a unit."""
    end = _end_of_range(text, number.end)
    shortest = 3 if _YEAR.fullmatch(text, number.start, number.end) else 1  # "in 2005 in Ohio" are no inches
    return [
        more
        for value in number.values
        for more in cldr.conversions(float(value), text, end, lang, shortest=shortest) or ()
    ]


def _is_among(number: Number, values: Sequence[float], *, least: float = _LEAST_ROUNDING) -> bool:
    """Whether a number is one of some values, which translators round."""
    return any(
        abs(value - float(own)) <= max(_ROUNDING * abs(value), least) for value in values for own in number.values
    )


def _without_currencies(
    missing: Sequence[Number],
    extra: Sequence[Number],
    source: str,
    hypothesis: str,
    *,
    source_lang: str,
    target_lang: str,
) -> tuple[list[Number], list[Number]]:
    """Returns the numbers that are left if amounts go with an amount in another currency."""
    left = list(missing)
    others = list(extra)
    theirs = {other: cldr.currencies(hypothesis, other.start, other.end, target_lang) for other in extra}
    for number in missing:
        own = cldr.currencies(source, number.start, number.end, source_lang)
        made = next((other for other in others if own and theirs[other] and own.isdisjoint(theirs[other])), None)
        if made is not None:
            others.remove(made)
            left.remove(number)
    return left, others


def _end_of_range(text: str, end: int) -> int:
    """Returns where the range of numbers ends that begins with a number up to `end`: 2 to 3 inches."""
    match = _RANGE.match(text, end)
    other = match and _NUMBER.match(text, match.end())
    return other.end() if other else end


def find(text: str, lang: str = "") -> Iterator[Number]:
    """Yields the numbers of a text that are written in digits, except for those within placeholders and tags."""
    codes = placeholders(text)
    matches = [match for match in _NUMBER.finditer(text) if not any(a <= match.start() < b for a, b in codes)]
    if not matches:
        return
    scaled = [_scale(text, match.end(), lang) for match in matches]
    end = 0
    for number, match in enumerate(matches):
        if match.start() < end:
            continue  # part of the number before it: 3亿5000万
        exponents = _exponents_of_range(text, matches[number : number + 2], scaled[number : number + 2])
        made = _number(text, match, lang, scaled[number], exponents)
        if _is_unsure(text, match, scaled[number]):
            made = replace(made, is_unsure=True)
        if number and (year := _year_of_range(text, matches[number - 1], match)):
            made = replace(made, readings=made.readings | {year})
        end = made.end
        following = number + 1
        while following < len(matches) and _continues(text, matches[following], scaled[following - 1 : following + 1]):
            made = _sum(made, _number(text, matches[following], lang, scaled[following], frozenset()))
            end = made.end
            following += 1
        yield made


def _scale(text: str, start: int, lang: str) -> ScaleWord | None:
    """Returns the word that multiplies a number; what CLDR knows counts where `scales` has no words of a language."""
    found = scales.find(text, start, lang)
    if not lang or scales.knows(lang) or not (of_cldr := cldr.scale(text, start, lang)):
        return found
    exponent, end = of_cldr
    if found is None:
        return ScaleWord(frozenset({exponent}), end)
    return ScaleWord(found.exponents | {exponent}, max(end, found.end))


def _is_unsure(text: str, match: re.Match[str], scale: ScaleWord | None) -> bool:
    """Whether digits may belong to a name, or be a letter: some are used as tone marks and vowels."""
    start, end = match.span()
    if _NAME_BEFORE.search(text, max(0, start - 20), start):
        return True
    if scale is None and _NAME_BEHIND.match(text, end):
        return True
    may_be_letter = end - start == 1 and start > 0 and not match[0].isascii()
    return may_be_letter and unicodedata.category(text[start - 1])[0] in "LM"


def _year_of_range(text: str, before: re.Match[str], match: re.Match[str]) -> Decimal | None:
    """Returns the year of which a number has the last two digits, as the end of 2010-11; None if it is no such year."""
    is_short = len(match[0]) == 2 and match[0] > before[0][2:]
    if not is_short or not _YEAR.fullmatch(before[0]):
        return None
    is_range = _OF_YEARS.fullmatch(text, before.end(), match.start())
    return Decimal(f"{before[0][:2]}{match[0]}") if is_range else None


def _number(text: str, match: re.Match[str], lang: str, scale: ScaleWord | None, exponents: frozenset[int]) -> Number:
    """Returns the number of a match with the word behind it, and with the scales that the end of a range gives it."""
    start, end = match.span()
    values = _values(match[0], lang)
    plain: set[Decimal | str] = {match[0], *values}
    plain |= {more for value in values for more in _around(value, text, start, end, lang)}
    plain |= {value * 10**exponent for value in values for exponent in exponents}
    chinese = _MIXED.match(text, start)
    if chinese is not None:
        end = max(end, chinese.end())
    pieces = [Decimal(piece) for piece in _DIGITS.findall(match[0])]
    # A number in groups of three has no parts, unless the groups are separated by spaces.
    is_grouped = len(pieces) > 1 and any(value == int(value) for value in values) and " " not in match[0]
    parts = frozenset() if is_grouped else frozenset(pieces)
    whole: set[Decimal | str] = set() if chinese is None else {_chinese(chinese[0])}
    if scale is None:
        return Number(start, end, frozenset(plain | whole), parts)
    if lang and not scales.knows(lang):  # whatever the word means there
        products = {value * 10**exponent for value in values for exponent in scale.exponents}
        return Number(start, end, frozenset(plain | whole | products), parts)
    products = {value * 10**exponent for value in values for exponent in scale.exponents}
    return Number(start, end, frozenset(products | whole), parts, frozenset(plain))


def _exponents_of_range(
    text: str, matches: Sequence[re.Match[str]], scaled: Sequence[ScaleWord | None]
) -> frozenset[int]:
    """Returns the powers of ten of a number that has no scale word but the next number of its range: 3 to 5 million."""
    if len(matches) < 2 or scaled[0] is not None or scaled[1] is None:
        return frozenset()
    between = text[matches[0].end() : matches[1].start()]
    return scaled[1].exponents if _RANGE.fullmatch(between) else frozenset()


def _continues(text: str, match: re.Match[str], scaled: Sequence[ScaleWord | None]) -> bool:
    """Whether a number adds to the one before it, as in "1 crore 50 lakh" and 1억 5000만."""
    before, own = scaled
    if before is None or own is None or text[before.end : match.start()].strip():
        return False
    return max(own.exponents) < min(before.exponents)


def _sum(first: Number, second: Number) -> Number:
    """Returns the number of which two scaled numbers are parts."""
    pairs = itertools.product(first.readings, second.readings)
    sums = {one + other for one, other in pairs if isinstance(one, Decimal) and isinstance(other, Decimal)}
    return replace(first, end=second.end, readings=frozenset(sums) | first.readings)


def _values(text: str, lang: str) -> set[Decimal]:
    """Returns the possible values of a number with marks; a single one if it fits its known language."""
    plain = re.sub(f"[{_SPACES}]", "", text)
    if "٫" in plain:
        return {Decimal(plain.replace("٫", "."))} if plain.count("٫") == 1 else set()
    read = {mark: _value(plain, mark, other) for mark, other in ((".", ","), (",", "."))}
    preferred = read.get(cldr.decimal_mark(lang) or "")
    # Nobody writes three decimals that are all zero.
    is_thousand = re.search(r"[.,]\d*$", plain) is not None and _bare_digits(plain).endswith("000")
    return {value for value in read.values() if value is not None} if preferred is None or is_thousand else {preferred}


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


def _around(value: Decimal, text: str, start: int, end: int, lang: str) -> Iterator[Decimal]:
    """Yields the values of a number together with the characters around it, which may mean something else, too."""
    for exponent in scales.loose_exponents(text, end):
        yield value * 10**exponent
    if value == int(value):
        yield from map(Decimal, scales.years(int(value), text, start, lang))
    if value <= 12 and _HALF_DAY.match(text, end):
        yield (value + 12) % 24
    if 12 < value < 24 and _MINUTES_BEHIND.match(text, end):
        yield value - 12
    if value in _CENTURIES:  # the 19th century is the 1800s in Nordic languages
        yield 100 * (value - 1)
    if _DECADE.match(text, end):
        yield value % 100


def _spelled(text: str) -> Iterator[Decimal]:
    """Yields the values of Chinese and Roman numerals, and of first years of eras."""
    yield from map(Decimal, scales.first_years(text))
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
    for letter in numeral.translate(_KOREAN_LETTERS):
        if letter == "," or letter.isspace():
            continue
        # The standard library of some Pythons takes the two of counting for no number.
        value = 2 if letter in "两兩" else int(unicodedata.numeric(letter))
        if value < 10:
            number = 10 * number + value
        elif value < 10_000:
            section += (number or 1) * value
            number = 0
        else:
            rest = section + number
            total = (total + rest) * value if value > largest else total + rest * value
            section = 0
            number = 0
            largest = value
    return Decimal(total + section + number)


def _of(texts: Texts) -> Iterator[ErrorSpan | Omission]:
    source_lang, target_lang = texts.languages
    for findings in compare(
        texts.source, texts.hypothesis, texts.references, source_lang=source_lang, target_lang=target_lang
    ):
        yield from findings


RULE = Rule(
    "numbers",
    "a number of the source is missing, or another one stands in its place",
    (CHANGED, MISSING),
    _of,
    needs_source=True,
)

"""Numbers that a translation changes: one number of the source and one of the translation have no counterpart.

Numbers are digits of any script. Those of both texts are paired: by their value, read by the conventions of each
language (both decimal marks where these are unknown), with fractions (2½) and powers (10⁶); by their characters, since
versions and codes are copied; as hours, of which "am" and "pm" name one; and as parts of dates, decades, centuries and
short years. Only where exactly one number is left on each side, the translation's is a finding; of several, one that
differs from its counterpart in a single digit or in its decimal mark.

Nothing is said of a number that may be part of a name, beside a word that multiplies it (million, 万), or beside a unit
or currency that is not that of the other; of numbers that differ in zeros only, where a language's words for thousands
are unknown; of hours in Amharic and Swahili; and of years in languages with another era, or of any number of a text
with a date in Amharic, Persian and Nepali. What is left out or written in words is not found.
"""

from __future__ import annotations

import operator
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import product

import regex

from matese.annotation import ErrorSpan, Severity
from matese.checks import cldr
from matese.checks.rule import Need, Rule, Texts
from matese.text.placeholders import prose

CHANGED = "Accuracy/Mistranslation/Number"

_ALPHABET = r"\p{Latin}\p{Greek}\p{Cyrillic}"
_SPACES = " \u00a0\u2009\u202f'’٬،"
_FRACTION = r"(?P<fraction>[¼½¾⅐-⅞])"
_NUMBER = regex.compile(
    # Digits behind a letter belong to a name: H2O.
    rf"(?<![{_ALPHABET}\d_])(?<!\d[.,٫٬])"
    rf"(?:(?P<digits>\d{{1,3}}(?:[{_SPACES}]\d{{3}})+(?!\d)(?:[.,٫]\d+)?|\d+(?:[.,٫٬]\d+)*)"
    rf"(?P<exponent>e[-+]?\d{{1,3}})?(?P<power>[⁻⁺]?[⁰¹²³⁴-⁹]{{1,3}})?(?:\s?{_FRACTION})?|{_FRACTION})",
    regex.IGNORECASE,
)
_NAME_BEFORE = regex.compile(rf"(?:\p{{Lu}}[{_ALPHABET}]*[-‑]|tháng\s?)\Z")
_NAME_BEHIND = regex.compile(
    rf"[{_ALPHABET}]{{4}}|[-‑]?[{_ALPHABET}]*\d|_|['’]?s\b|er\b|-?[хе]\b|年代|[月월]| (?:decade|century)"
)
"""Parts of names, decades and months: COVID-19, 247sports, 4x4, 1990s, 3月; but ku-25 and 5km."""
_HALF_DAY = regex.compile(r"(?:[:.]\d\d)?\s?([ap])\.?\s?m\b", regex.IGNORECASE)
_HOUR = regex.compile(
    r"[:.h]\d\d(?!\d)|\s?(?:uhr|h|heures?|o['’]clock|時|时|点|點|시|giờ|час\w*|ώρ\w+|ura|ур\w+)(?!\p{Latin})"
)
_HOUR_BEFORE = regex.compile(
    r"(?:\bkl(?:o|ukka|ukken|ockan)?\.?|\bpukul|\bjam|\bora|\bat|\bum|\bсаат)\s?\Z", regex.IGNORECASE
)
_MINUS = regex.compile(r"(?:(?<!\d\s*)−|(?<=[^\d\s][^\S\n]|[(:])[-–])\Z")
_MINUS_IN_ANY_FORM = regex.compile(
    r"[-‑–—−]|m[ií]n[uw]s|moins|menos|meno\b|miinus|минус|мінус|μείον|eksi|零下|マイナス|氷点下|[负負减減]|영하|마이너스",
    regex.IGNORECASE,
)
_MINUS_LANGUAGES = frozenset(
    "bg ca cs da de el en es et fi fr gl hr it ja ko nb nl nn no pl pt ru sk sl sv tr uk zh".split()  # noqa: SIM905
)
"""Of the words for a minus."""
_AROUND = 20
"""Characters before a number in which a word is looked for."""
_YEARS = range(1000, 2700)
_OTHER_ERAS = frozenset({"am", "ar", "fa", "ja", "ne", "th"})
_OTHER_CALENDARS = frozenset({"am", "fa", "ne"})
_OTHER_HOURS = frozenset({"am", "sw"})
"""Languages that count hours from six o'clock."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a text.

    Attributes:
        start: first character, in code points.
        end: one past the last.
        written: its digits as 0 to 9, with their marks.
        values: its values, by the conventions of the language.
        half: "a" or "p" before "m".
        is_hour: whether minutes or a word for the hour stand beside it.
    """

    start: int
    end: int
    written: str
    values: frozenset[Fraction]
    half: str = ""
    is_hour: bool = False

    @property
    def digits(self) -> str:
        """The digits alone."""
        return regex.sub(r"\D", "", self.written)

    @property
    def shape(self) -> str:
        """The digits and where marks stand: which mark is the translator's choice."""
        return regex.sub(rf"[.,٫٬{_SPACES}]", ".", self.written)

    @property
    def parts(self) -> list[int]:
        """The numbers between its dots, where it may be a date or a time: 24.12, 15.30."""
        return [int(part) for part in self.written.split(".") if part.isdecimal() and len(part) < 5]

    @property
    def is_year(self) -> bool:
        """Whether it may be a year."""
        return any(value in _YEARS for value in self.values)


def find(text: str, lang: str = "") -> Iterator[Number]:
    """Yields the numbers of a text that are written in digits, except for those within placeholders and addresses."""
    if not any(map(str.isnumeric, text)):
        return
    text = prose(text)
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        half = _HALF_DAY.match(text, end)
        is_hour = half or _HOUR.match(text, end) or _HOUR_BEFORE.search(text, max(0, start - _AROUND), start)
        values = frozenset(_values(match, lang))
        yield Number(start, end, _in_ascii(match[0]), values, half[1].casefold() if half else "", bool(is_hour))


def _in_ascii(text: str) -> str:
    """Returns a text with the digits of all scripts as 0 to 9."""
    return "".join(str(unicodedata.digit(letter)) if letter.isdecimal() else letter for letter in text)


def _values(match: regex.Match[str], lang: str) -> Iterator[Fraction]:
    """Yields the possible values of a number with marks; none if it does not fit the marks of its language.

    Such a number is a copy, as a version is: in German, 3.10 is not 3,1.
    """
    fraction = Fraction(unicodedata.numeric(match["fraction"]) if match["fraction"] else 0).limit_denominator(10)
    digits = _in_ascii(regex.sub(f"[{_SPACES}]", "", match["digits"] or "0"))
    if digits == "10" and match["power"]:
        yield Fraction(f"1e{unicodedata.normalize('NFKC', match['power']).replace('−', '-')}")
        return
    marks = cldr.decimal_marks(lang)
    if digits.endswith((".000", ",000")):  # a thousand, whatever the language
        marks = "," if digits[-4] == "." else "."
    for mark in "." if "٫" in digits else marks:
        group = "," if mark == "." else "[.]"
        # Groups of three, and in India of two before the last; a date is none of them.
        if regex.fullmatch(rf"(?:[1-9]\d{{0,2}}(?:{group}\d{{2,3}})*{group}\d{{3}}|\d+)(?:[{mark}٫]\d+)?", digits):
            plain = regex.sub(group, "", digits)
            yield Fraction(Decimal(regex.sub("[,٫]", ".", plain) + (match["exponent"] or ""))) + fraction


def compare(texts: Texts) -> Iterator[ErrorSpan]:
    """Yields the number of a hypothesis that was changed, if there is one that no reference has.

    >>> from matese.annotation import Segment, SegmentKey
    >>> of = lambda text: [*compare(Texts(Segment(text, "1,500 km", key=SegmentKey(lang_pair="en-de"))))]
    >>> of("1.500 km"), [(number.start, number.end) for number in of("1,5 km")]
    ([], [(0, 3)])
    """
    source_lang, target_lang = texts.languages
    of_source = list(find(texts.source, source_lang))
    of_hypothesis = list(find(texts.hypothesis, target_lang))
    if not of_source or not of_hypothesis:
        return
    if not _OTHER_CALENDARS.isdisjoint(texts.languages) and _is_dated(texts, of_source):
        return
    wrong = []
    for is_same in (_is_same, _may_be_same):
        for number in tuple(of_source):
            equal = next((candidate for candidate in of_hypothesis if is_same(number, candidate)), None)
            if equal is not None:
                of_source.remove(number)
                of_hypothesis.remove(equal)
                wrong += [equal] if _loses_sign(texts, number, equal) else []
    pairs = list(product(of_source, of_hypothesis))
    if len(pairs) > 1:  # the others may be words in the other text
        pairs = [pair for pair in pairs if _is_slip(*pair)]
    if len(pairs) == 1 and _is_sure(texts, *pairs[0]):
        wrong.append(pairs[0][1])
    of_references = [number for text in texts.references for number in find(text, target_lang)]
    for number in wrong:
        if not any(_is_same(number, right) or _may_be_same(number, right) for right in of_references):
            yield ErrorSpan(number.start, number.end, Severity.MAJOR, CHANGED)


def _is_dated(texts: Texts, numbers: list[Number]) -> bool:
    return any(number.is_year for number in numbers) or cldr.names_month(texts.source, texts.source_lang)


def _is_same(left: Number, right: Number) -> bool:
    return not left.values.isdisjoint(right.values) or left.shape == right.shape


def _may_be_same(left: Number, right: Number) -> bool:
    return _is_same_hour(left, right) or any(_is_end_or_part(*pair) for pair in ((left, right), (right, left)))


def _is_same_hour(left: Number, right: Number) -> bool:
    if not (left.is_hour or right.is_hour) or not left.parts or not right.parts:
        return False
    hours = [{number.parts[0]} for number in (left, right)]
    for number, possible_hours in zip((left, right), hours, strict=True):
        if number.half:  # fixes the hour, but the other text may have a word for it
            possible_hours.add(number.parts[0] % 12 + 12 * (number.half == "p"))

    if not left.half and not right.half:
        hours[1] |= {(hour + 12) % 24 for hour in hours[1]}
    minutes = [[part for part in number.parts[1:] if part] for number in (left, right)]
    return minutes[0] == minutes[1] and not {hour % 24 for hour in hours[0]}.isdisjoint(hour % 24 for hour in hours[1])


def _is_end_or_part(long: Number, short: Number) -> bool:
    """Whether a number may be a part of another one.

    A part of a date or time, of which the rest may be a word (24.12., December 24), a version without its end (0.17.0,
    0.17), or the end of a year or a decade (1990s, 90er), or a century (1900s, 20th).
    """
    if len(short.parts) == 1 < len(long.parts) and all(part < 60 or part in _YEARS for part in long.parts):
        return any(value in long.parts for value in short.values)
    if long.written.count(".") > 1 and long.written.startswith(f"{short.written}."):
        return True
    ends = {end for year in long.values if year in _YEARS for end in (year % 100, year / 100 + 1)}
    return any(value in ends for value in short.values)


def _is_slip(left: Number, right: Number) -> bool:
    """Whether two numbers of several digits differ in a single one, or in a mark alone."""
    return len(left.digits) == len(right.digits) > 1 and sum(map(operator.ne, left.digits, right.digits)) < 2


def _loses_sign(texts: Texts, number: Number, equal: Number) -> bool:
    """Whether the source has a minus before a number with a unit, and the translation neither a sign nor a word."""
    if not _MINUS.search(texts.source, 0, number.start) or texts.target_lang not in _MINUS_LANGUAGES:
        return False
    has_unit = cldr.quantities(texts.source, number.start, number.end, texts.source_lang)
    around = texts.hypothesis[max(0, equal.start - _AROUND) : equal.end + _AROUND]
    return bool(has_unit) and not _MINUS_IN_ANY_FORM.search(around)


def _is_sure(texts: Texts, source_number: Number, target_number: Number) -> bool:
    """Whether a number is surely wrong in the place of another one."""
    places = ((texts.source, source_number, texts.source_lang), (texts.hypothesis, target_number, texts.target_lang))
    if any(_may_be_more(*place) for place in places):
        return False
    of_source, of_target = (cldr.quantities(text, number.start, number.end, lang) for text, number, lang in places)
    if of_source | of_target and not of_source & of_target - cldr.ANY_DEGREE:  # may be converted
        return False
    # The word behind one of them may be a thousand or a hundred.
    source_digits = source_number.digits
    target_digits = target_number.digits
    if source_digits != target_digits and source_digits.strip("0") == target_digits.strip("0"):
        values = source_number.values | target_number.values
        is_hundred = any(100 * value in values for value in values)
        if is_hundred or not all(cldr.scale_words(lang) for _, _, lang in places):
            return False
    if has_other_era(texts) and (source_number.is_year or target_number.is_year):
        return False
    return _OTHER_HOURS.isdisjoint(texts.languages) or not (source_number.is_hour or target_number.is_hour)


def has_other_era(texts: Texts) -> bool:
    """Whether a language counts years in another way, as Chinese does in Taiwan."""
    is_of_taiwan = any(part in tag for part in ("TW", "Hant") for tag in texts.tags)
    return is_of_taiwan or not _OTHER_ERAS.isdisjoint(texts.languages)


def _may_be_more(text: str, number: Number, lang: str) -> bool:
    """Whether a number is a part of a name, is multiplied by a word, or is the end of another: 00."""
    before = text[max(0, number.start - _AROUND) : number.start]
    # Some digits are tone marks and vowels.
    is_other_digit = len(number.written) == 1 and not text[number.start].isascii()
    return bool(
        (is_other_digit and regex.search(r"[\p{L}\p{M}]\Z", before))
        or number.written.startswith("00")
        or _NAME_BEFORE.search(before)
        or _NAME_BEHIND.match(text, number.end)
        or cldr.is_scaled(text, number.end, lang)
    )


RULE = Rule("numbers", (CHANGED,), compare, needs=Need.SOURCE)

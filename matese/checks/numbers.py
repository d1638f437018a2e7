"""Numbers that a translation changes: one number of the source and one of the translation have no counterpart.

Numbers are digits of any script. Those of both texts are paired: by their value, read by the conventions of each
language (both decimal marks where these are unknown), with fractions (2½) and powers (10⁶); by their characters, since
versions and codes are copied; as hours, of which "am" and "pm" name one; and as decades, centuries and short years.
Only where exactly one number is left on each side, the translation's is a finding.

Nothing is said of a number that may be part of a name, or beside a word that multiplies it (million, 万), since these
are many; of one beside a unit or currency that is not that of the other; and of years in languages with another era, or
of any number of a date in Amharic, Persian and Nepali. What is left out or written in words is not found.
"""

from __future__ import annotations

import operator
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import regex

from matese.annotation import ErrorSpan, Severity
from matese.checks import cldr
from matese.checks.rule import Rule, Texts
from matese.text.placeholders import prose

CHANGED = "Accuracy/Mistranslation/Number"

_ALPHABET = r"\p{Latin}\p{Greek}\p{Cyrillic}"
_SPACES = " \u00a0\u2009\u202f'’٬،"
_FRACTION = "[¼½¾⅐-⅞]"
_NUMBER = regex.compile(
    # Digits behind a letter belong to a name: H2O.
    rf"(?<![{_ALPHABET}\d_])(?<!\d[.,٫٬])"
    rf"(?:(?P<digits>\d{{1,3}}(?:[{_SPACES}]\d{{3}})+(?!\d)(?:[.,٫]\d+)?|\d+(?:[.,٫٬]\d+)*)"
    rf"(?:e(?P<exponent>[-+]?\d{{1,3}}))?(?P<power>[⁻⁺]?[⁰¹²³⁴-⁹]{{1,3}})?(?P<fraction>\s?{_FRACTION})?"
    rf"|(?P<alone>{_FRACTION}))",
    regex.IGNORECASE,
)
_IN_NAME = regex.compile(rf"\p{{Lu}}[{_ALPHABET}]*[-‑]\Z")
_BEFORE_NAME = regex.compile(rf"[{_ALPHABET}]{{4}}|[-‑]?[{_ALPHABET}]*\d|_")
"""COVID-19, 247sports, 4x4; but ku-25 and 5km."""
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
_DECADE = regex.compile(r"['’]?s\b|er\b|-?[хе]\b|年代| (?:decade|century)")
_HOURS = 24
_YEARS = range(1000, 2700)
_OTHER_ERAS = frozenset({"am", "ar", "fa", "ja", "ne", "th"})
_OTHER_ERA_OF_CHINESE = ("TW", "Hant")
_OTHER_HOURS = frozenset({"am", "sw"})
"""Languages that count hours from six o'clock."""
_OTHER_CALENDARS = frozenset({"am", "fa", "ne"})


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
        is_in_name: whether it may be part of a name.
    """

    start: int
    end: int
    written: str
    values: frozenset[Fraction]
    half: str = ""
    is_hour: bool = False
    is_in_name: bool = False

    @property
    def parts(self) -> list[int]:
        """The numbers between its dots, where it may be a date or a time: 24.12, 15.30."""
        return [int(part) for part in self.written.split(".") if part.isdecimal() and len(part) < 5]

    @property
    def shape(self) -> str:
        """The digits and where marks stand: which mark is the translator's choice."""
        return regex.sub(rf"[.,٫٬{_SPACES}]", ".", self.written)


def _is_same(one: Number, other: Number) -> bool:
    return not one.values.isdisjoint(other.values) or one.shape == other.shape


def _may_be_same(one: Number, other: Number) -> bool:
    pairs = ((one, other), (other, one))
    return _is_same_hour(one, other) or any(
        _is_date_of(*pair) or _is_short(*pair) or _is_version_of(*pair) for pair in pairs
    )


def _is_same_hour(one: Number, other: Number) -> bool:
    if not (one.is_hour or other.is_hour) or not one.parts or not other.parts:
        return False
    # "am" and "pm" fix the hour, but the other text may have words for them.
    ours, theirs = (
        {number.parts[0], number.parts[0] % 12 + 12 * (number.half == "p")} if number.half else {number.parts[0]}
        for number in (one, other)
    )
    if not one.half and not other.half:
        theirs = {(hour + 12 * n) % _HOURS for hour in theirs for n in (0, 1)}
    minutes = [[part for part in number.parts[1:] if part] for number in (one, other)]
    is_midnight = 0 in ours | theirs and _HOURS in ours | theirs
    return minutes[0] == minutes[1] and (is_midnight or not ours.isdisjoint(theirs))


def _is_date_of(date: Number, day: Number) -> bool:
    """Whether a number is a part of a date or time with dots, of which the rest may be a word: 24.12., December 24."""
    is_date = len(date.parts) > 1 and all(part < 60 or part in _YEARS for part in date.parts)
    return is_date and len(day.parts) == 1 and any(value in date.parts for value in day.values)


def _is_version_of(long: Number, short: Number) -> bool:
    """Whether a number is a version of which the other leaves out the last part: 0.17.0, 0.17."""
    return long.written.count(".") > 1 and long.written.startswith(f"{short.written}.")


def _is_short(long: Number, short: Number) -> bool:
    """Whether a number may be the end of a year or a decade (1990s, 90er), or the other name of a century."""
    return any(
        value in _YEARS and any(value % 100 == end or value == 100 * (end - 1) for end in short.values if end < 100)
        for value in long.values
        if value.denominator == 1
    )


def find(text: str, lang: str = "") -> Iterator[Number]:
    """Yields the numbers of a text that are written in digits, except for those within placeholders and addresses."""
    if not any(map(str.isnumeric, text)):
        return
    text = prose(text)
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        before = text[max(0, start - _AROUND) : start]
        half = _HALF_DAY.match(text, end)
        yield Number(
            start,
            end,
            _in_ascii(match[0]),
            frozenset(_values(match, lang)),
            half[1].casefold() if half else "",
            is_hour=bool(half or _HOUR.match(text, end) or _HOUR_BEFORE.search(before)),
            is_in_name=bool(_IN_NAME.search(before) or _BEFORE_NAME.match(text, end)) or _may_be_letter(match),
        )


def _may_be_letter(match: regex.Match[str]) -> bool:
    """Whether a digit may be a letter: some are tone marks and vowels."""
    is_digit = len(match[0]) == 1 and not match[0].isascii()
    return is_digit and unicodedata.category(match.string[match.start() - 1 : match.start()] or " ")[0] in "LM"


def _in_ascii(text: str) -> str:
    """Returns a text with the digits of all scripts as 0 to 9."""
    return "".join(str(unicodedata.digit(letter)) if letter.isdecimal() else letter for letter in text)


def _values(match: regex.Match[str], lang: str) -> set[Fraction]:
    """Returns the possible values of a number with marks; a single one if it fits its known language."""
    if match["alone"]:
        return {_numeric(match["alone"])}
    plain = _in_ascii(regex.sub(f"[{_SPACES}]", "", match["digits"])).replace("٫", ".")
    read = {mark: _value(plain, mark, other) for mark, other in ((".", ","), (",", "."))}
    preferred = read.get("." if "٫" in match[0] else cldr.decimal_mark(lang) or "")
    # Three decimals that are all zero are a thousand, whatever the language.
    if plain.endswith((".000", ",000")):
        preferred = _value(plain, "", plain[-4])
    # What does not fit the marks of its language is a copy, such as a version: 3.10 is not 3.1.
    values = {preferred} if cldr.decimal_mark(lang) else set(read.values())
    power = unicodedata.normalize("NFKC", match["power"] or "").replace("−", "-")
    if exponent := match["exponent"]:
        return {value * Fraction(10) ** int(exponent) for value in values if value is not None}
    if plain == "10" and power:
        return {Fraction(10) ** int(power)}
    return {value + _numeric((match["fraction"] or "").strip()) for value in values if value is not None}


def _numeric(sign: str) -> Fraction:
    return Fraction(unicodedata.numeric(sign)).limit_denominator(10) if sign else Fraction()


def _value(text: str, decimal: str, other: str) -> Fraction | None:
    """Returns the value with this decimal mark; None if the marks do not fit it."""
    whole, _, fraction = text.partition(decimal) if decimal else (text, "", "")
    first, *groups = whole.split(other)
    if fraction and not fraction.isdecimal():
        return None
    # Groups of three, and in India of two before the last; a date is none of them.
    is_odd = first.startswith("0") or len(first) > 3 or not {len(group) for group in groups} <= {2, 3}
    if groups and (is_odd or len(groups[-1]) != 3):
        return None
    return Fraction(Decimal(f"{first}{''.join(groups)}.{fraction or 0}"))


def compare(texts: Texts) -> Iterator[ErrorSpan]:
    """Yields the number of a hypothesis that was changed, if there is one that no reference has.

    >>> from matese.annotation import Segment, SegmentKey
    >>> of = lambda text: [*compare(Texts(Segment(text, "1,500 km", key=SegmentKey(lang_pair="en-de"))))]
    >>> of("1.500 km"), [(one.start, one.end) for one in of("1,5 km")]
    ([], [(0, 3)])
    """
    source_lang, target_lang = texts.languages
    unmatched = list(find(texts.source, source_lang))
    left = list(find(texts.hypothesis, target_lang))
    if not unmatched or not left:
        return
    signs = []
    for agree in (_is_same, _may_be_same):
        for number in tuple(unmatched):
            equal = next((other for other in left if agree(number, other)), None)
            if equal is not None:
                unmatched.remove(number)
                left.remove(equal)
                signs += [equal] if _loses_sign(texts, number, equal) else []
    pairs = [(one, other) for one in unmatched for other in left]
    if len(pairs) > 1:  # others may be words
        pairs = [(one, other) for one, other in pairs if _is_slip(one, other) and not _is_scaled(texts, one, other)]
    changed = [other for one, other in pairs if len(pairs) == 1 and _is_sure(texts, one, other)]
    right = [number for text in texts.references for number in find(text, target_lang)]
    for number in (*signs, *changed):
        if not any(_is_same(number, other) or _may_be_same(number, other) for other in right):
            yield ErrorSpan(number.start, number.end, Severity.MAJOR, CHANGED)


def _is_slip(one: Number, other: Number) -> bool:
    """Whether two numbers of several digits differ in a single one."""
    digits = [regex.sub(r"\D", "", number.written) for number in (one, other)]
    n_other = sum(map(operator.ne, *digits))
    return len(digits[0]) == len(digits[1]) > 1 and n_other == 1


def _is_scaled(texts: Texts, one: Number, other: Number) -> bool:
    return cldr.is_scaled(texts.source, one.end, texts.source_lang) or cldr.is_scaled(
        texts.hypothesis, other.end, texts.target_lang
    )


def _loses_sign(texts: Texts, number: Number, equal: Number) -> bool:
    """Whether the source has a minus before a number with a unit, and the translation neither a sign nor a word."""
    if not _MINUS.search(texts.source, 0, number.start) or texts.target_lang not in _MINUS_LANGUAGES:
        return False
    has_unit = cldr.quantities(texts.source, number.start, number.end, texts.source_lang)
    around = texts.hypothesis[max(0, equal.start - _AROUND) : equal.end + _AROUND]
    return bool(has_unit) and not _MINUS_IN_ANY_FORM.search(around)


def _is_sure(texts: Texts, one: Number, other: Number) -> bool:
    """Whether a number is surely wrong in the place of another one."""
    places = ((texts.source, one, texts.source_lang), (texts.hypothesis, other, texts.target_lang))
    if one.is_in_name or other.is_in_name or "00" in (one.written[:2], other.written[:2]):
        return False  # "00" are minutes, or the end of a number
    quantities = [cldr.quantities(text, number.start, number.end, lang) for text, number, lang in places]
    values = one.values | other.values
    if _digits(one) == _digits(other):  # the word behind one of them may be a decade, a hundred or a million
        has_scales = all(cldr.has_scales(lang) for _, _, lang in places)
        is_hundred = any(100 * value in values for value in values)
        if quantities[0] != quantities[1] or _is_scaled(texts, one, other) or not has_scales or is_hundred:
            return False
    if any(
        number.values & cldr.months(text, lang, with_number=not cldr.numbers_months(other_lang))
        for number, (text, _, lang), (_, _, other_lang) in zip((other, one), places, places[::-1], strict=True)
    ):
        return False  # the number of a month that the other text names
    if not cldr.may_be_same_quantity(*quantities):
        return False
    if _DECADE.match(texts.source, one.end) or _DECADE.match(texts.hypothesis, other.end):
        return False
    langs = {texts.source_lang, texts.target_lang}
    if langs & _OTHER_HOURS and (one.is_hour or other.is_hour):
        return False
    is_dated = any(value in _YEARS for number in find(texts.source) for value in number.values)
    has_other_era = langs & _OTHER_ERAS or any(part in tag for part in _OTHER_ERA_OF_CHINESE for tag in texts.tags)
    if has_other_era and any(value in _YEARS for value in values):
        return False
    return not (langs & _OTHER_CALENDARS and (is_dated or cldr.months(texts.source, texts.source_lang)))


def _digits(number: Number) -> str:
    """Returns the digits without zeros at either end, which are the same for a million and its million."""
    return regex.sub(r"\D", "", number.written).strip("0")


RULE = Rule("numbers", "a number stands in the place of another one", (CHANGED,), compare, needs_source=True)

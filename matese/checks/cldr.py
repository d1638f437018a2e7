"""What the Unicode CLDR says of a language: its marks in numbers, its words for numbers and units."""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import regex

if TYPE_CHECKING:
    from babel import Locale

_MILE = 1.609344
_FOOT = 0.3048
_POUND = 0.45359237
_GALLON = 3.785411784
_FACTORS: dict[str, tuple[float, ...]] = {
    "length-mile": (_MILE,),
    "length-foot": (_FOOT, 100 * _FOOT),
    "length-inch": (2.54, 25.4),
    "length-yard": (0.9144,),
    "area-acre": (0.40468564224, 4046.8564224),
    "area-square-foot": (_FOOT**2,),
    "area-square-mile": (_MILE**2,),
    "mass-pound": (_POUND,),
    "mass-ounce": (1000 * _POUND / 16,),
    "mass-stone": (14 * _POUND,),
    "volume-gallon": (_GALLON, 4.54609),
    "volume-pint": (_GALLON / 8, 4.54609 / 8),
    "speed-mile-per-hour": (_MILE, 1000 * _MILE / 3600),
    "temperature-fahrenheit": (1 / 1.8,),  # of a difference
    "length-kilometer": (1 / _MILE,),
    "length-meter": (1 / _FOOT, 1 / 0.9144),
    "length-centimeter": (1 / 2.54,),
    "area-hectare": (1 / 0.40468564224, 0.01, 10),
    "area-square-meter": (1 / _FOOT**2,),
    "mass-kilogram": (1 / _POUND,),
    "volume-liter": (1 / _GALLON, 1 / 4.54609),
    "speed-kilometer-per-hour": (1 / _MILE,),
    "temperature-celsius": (1.8,),
    "angle-degree": (1 / 1.8, 1.8),  # of a temperature whose scale is not named
}
"""Units that translators convert into those of the reader's country, by their names in CLDR, and what 1 of them is in
the unit that stands in its place, by definition (NIST SP 811, appendix B); `conversions` converts temperatures."""

_INCHES = regex.compile(r"[\s-]+(\d{1,2})(?!\d|[.,]\d)")
"""Behind feet: 6-foot-6."""


@cache
def locale(lang: str) -> Locale | None:
    """Returns what babel has of a language; None if it has nothing."""
    from babel import Locale, UnknownLocaleError

    try:
        return Locale.parse(lang) if lang else None
    except (UnknownLocaleError, ValueError):
        return None


@cache
def decimal_mark(lang: str) -> str | None:
    """Returns the decimal mark of a language, "," or "."; None if it is unknown or another one.

    None, too, if the two marks change their places between the regions of the language, as between Spain and Mexico.

    >>> decimal_mark("de"), decimal_mark("en"), decimal_mark("es"), decimal_mark("xx")
    (',', '.', None, None)
    """
    from babel.core import get_global

    of_lang = locale(lang)
    if of_lang is None:
        return None
    territories = get_global("territory_languages")
    regions = (name for name, langs in territories.items() if langs.get(lang, {}).get("official_status"))
    own = _marks(of_lang)
    others = [_marks(other) for other in map(locale, (f"{lang}_{region}" for region in regions)) if other is not None]
    return own[0] if own[0] in (",", ".") and own[::-1] not in others else None


def _marks(of_lang: Locale) -> tuple[str | None, str | None]:
    """Returns the decimal mark of a locale and the mark between its groups."""
    symbols: Any = of_lang.number_symbols
    latin = symbols.get("latn", {})
    return latin.get("decimal"), latin.get("group")


def conversions(value: float, text: str, start: int, lang: str, *, shortest: int = 1) -> list[float] | None:
    """Returns what a number becomes if its unit, which stands at `start`, is converted; None without such a unit.

    Names of fewer characters than `shortest` are no unit.

    >>> conversions(10, "10 miles", 2, "en"), conversions(5, "5-foot-6", 1, "en"), conversions(10, "10 lights", 2, "en")
    ([16.09344], [1.6764000000000001, 167.64000000000001], None)
    """
    found = None
    for unit, pattern in _units(lang):
        match = pattern.match(text, start)
        if match and len(match[0].strip()) >= shortest:
            inches = _INCHES.match(text, match.end()) if unit == "length-foot" else None
            size = value + (int(inches[1]) / 12 if inches else 0)
            found = [*(found or ()), *(factor * size for factor in _FACTORS[unit])]
            found += [(value - 32) / 1.8] if unit in ("temperature-fahrenheit", "angle-degree") else []
            found += [value * 1.8 + 32] if unit in ("temperature-celsius", "angle-degree") else []
    return found


@cache
def _units(lang: str) -> tuple[tuple[str, regex.Pattern[str]], ...]:
    """Returns a pattern of each unit behind a number, with all its names in a language."""
    of_lang = locale(lang)
    patterns = {} if of_lang is None else of_lang._data["unit_patterns"]
    units = []
    for unit in _FACTORS:
        texts = (str(text) for forms in patterns.get(unit, {}).values() for text in forms.values())
        names = sorted({text.replace("{0}", "").strip() for text in texts} - {""}, key=len, reverse=True)
        if names:
            words = "|".join(map(regex.escape, names))
            units.append((unit, regex.compile(rf"[\s-]?(?:{words})(?!\p{{L}})", regex.IGNORECASE)))
    return tuple(units)


def currencies(text: str, start: int, end: int, lang: str) -> frozenset[str]:
    """Returns the currencies, by ISO 4217, whose sign or name stands before or behind a number; none if unknown.

    >>> currencies("$5", 1, 2, "en"), currencies("5 Euro", 0, 1, "de"), currencies("5 dogs", 0, 1, "en")
    (frozenset({'$'}), frozenset({'€'}), frozenset())
    """
    signs = {match[1] or match[2] for match in [_SIGN.match(text, end)] if match}
    signs |= {match[1].removeprefix("US") for match in [_SIGN_BEFORE.search(text, 0, start)] if match}
    if signs:
        return frozenset(signs)
    return frozenset(sign for sign, pattern in _currency_names(lang) if pattern.match(text, end))


_SIGN = regex.compile(r"\s?(?:(\p{Sc})|\p{L}+\.?\s?(\p{Sc}))")
_SIGN_BEFORE = regex.compile(r"(?<!\p{L})(\p{Lu}{0,2}\p{Sc})\s?\Z")
_SIGNS = {"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥", "INR": "₹", "CHF": "CHF", "CNY": "¥", "RUB": "₽"}


@cache
def _currency_names(lang: str) -> tuple[tuple[str, regex.Pattern[str]], ...]:
    """Returns a pattern of the last word of the names of frequent currencies, a scale word may stand before it."""
    of_lang = locale(lang)
    plural = {} if of_lang is None else of_lang._data["currency_names_plural"]
    patterns = []
    for code, sign in _SIGNS.items():
        forms = {*plural.get(code, {}).values(), *([of_lang.currencies.get(code, code)] if of_lang else [])}
        names = {word for name in forms for word in str(name).split() if len(word) > 3}
        if names:
            words = "|".join(map(regex.escape, sorted(names, key=len, reverse=True)))
            patterns.append((sign, regex.compile(rf"\s?(?:\p{{L}}+\.?\s){{0,2}}(?:{words})", regex.IGNORECASE)))
    return tuple(patterns)


def scale(text: str, start: int, lang: str) -> tuple[int, int] | None:
    """Returns the power of ten by which a word multiplies the number that ends at `start`, and where the word ends.

    >>> scale("380 миң киши", 3, "ky"), scale("380 киши", 3, "ky")
    ((3, 7), None)
    """
    found = ((exponent, pattern.match(text, start)) for exponent, pattern in _scale_words(lang))
    return max(((exponent, match.end()) for exponent, match in found if match), key=lambda pair: pair[1], default=None)


@cache
def _scale_words(lang: str) -> tuple[tuple[int, regex.Pattern[str]], ...]:
    """Returns a pattern of each word of the language's long compact numbers ("12 thousand"), which may have endings."""
    of_lang = locale(lang)
    formats = {} if of_lang is None else of_lang._data["compact_decimal_formats"].get("long", {})
    words = set()
    for form in formats.values():
        for size, pattern in form.items():
            positive, _, _ = pattern.pattern.partition(";")
            word = regex.sub(r"[0'\s¤.]+", " ", positive).strip()
            n_digits = positive.count("0")
            if word and n_digits:
                words.add((len(str(size)) - n_digits, word))
    return tuple(
        (exponent, regex.compile(rf"[\s-]?\s?{regex.escape(word)}", regex.IGNORECASE))
        for exponent, word in sorted(words)
    )


@cache
def _speller(lang: str) -> Any:  # noqa: ANN401  # of a package without types for what is absent
    from unicode_rbnf import RbnfEngine

    name = {"nb": "no", "nn": "nn"}.get(lang, lang)
    return RbnfEngine.for_language(name) if name in RbnfEngine.get_supported_languages() else None


def can_spell(lang: str) -> bool:
    """Whether CLDR has rules for the words for numbers in a language."""
    return _speller(lang) is not None


@lru_cache(4096)
def spelled(value: int, lang: str) -> frozenset[str]:
    """Returns the words for a number, in all genders and cases that CLDR has, without spaces and hyphens.

    >>> "fünfundzwanzig" in spelled(25, "de"), "fourteenth" in spelled(14, "en"), len(spelled(14, "xx"))
    (True, True, 0)
    """
    speller = _speller(lang)
    if speller is None:
        return frozenset()
    forms = set()
    for purpose in ("CARDINAL", "ORDINAL"):
        forms |= _texts(speller, value, purpose)
    return frozenset(squashed(form) for form in forms if form and not form.isdecimal() and not form[0].isdecimal())


def _texts(speller: Any, value: int, purpose: str) -> set[str]:  # noqa: ANN401
    from unicode_rbnf import FormatPurpose
    from unicode_rbnf.engine import RbnfError

    try:
        return set(speller.format_number(value, FormatPurpose[purpose]).text_by_ruleset.values())
    except (RbnfError, ValueError, KeyError, IndexError):  # not every language has rules for each number
        return set()


@lru_cache(4096)
def compounds(value: int, lang: str) -> tuple[regex.Pattern[str], ...]:
    """Returns patterns of words that contain a number from 13 to 99, for texts without spaces (`squashed`).

    CLDR has cardinals and ordinals alone. Ages, for example, are words of their own ("tredicenne", "sedmatřicetiletá",
    "czterdziestodwuletni"), in which the tens may stand behind the unit, and either loses its ending.

    >>> [bool(compounds(37, "cs")[0].search(text)) for text in ("sedmatřicetiletá", "sedmnáctiletá")]
    [True, False]
    """
    if not _LEAST_COMPOUND <= value < _CENTURY or not can_spell(lang):
        return ()
    tens, unit = divmod(value, 10)
    if tens == 1 or not unit:
        # "Eight" is the beginning of eighteen.
        units = spelled(unit, lang) if unit else ()
        stems = [stem for stem in _stems(value, lang, _LEAST_STEM) if not any(word.startswith(stem) for word in units)]
        return (regex.compile("|".join(stems)),) if stems else ()
    of_tens = "|".join(_stems(10 * tens, lang, _LEAST_STEM))
    of_unit = "|".join(_stems(unit, lang, 2))
    if not of_tens or not of_unit:
        return ()
    between = r"\p{L}{0,6}?"
    pattern = rf"(?:{of_tens}){between}(?:{of_unit})|(?:{of_unit}){between}(?:{of_tens})"
    return (regex.compile(pattern),)


_LEAST_COMPOUND = 13
_CENTURY = 100
_LEAST_STEM = 4


def _stems(value: int, lang: str, least: int) -> list[str]:
    """Returns the beginnings of the words for a number, two thirds but so many characters at least."""
    words = spelled(value, lang)
    return sorted({regex.escape(word[: max(least, round(2 * len(word) / 3))]) for word in words if len(word) > 1})


def months(text: str, lang: str) -> set[int]:
    """Returns the months that a text names, 1 to 12.

    >>> months("Am 29. März und im Juni", "de"), months("29 mars", "xx")
    ({3, 6}, set())
    """
    pattern = _months(lang)
    return {int((match.lastgroup or "")[1:]) for match in pattern.finditer(text)} if pattern else set()


@cache
def _months(lang: str) -> regex.Pattern[str] | None:
    """Returns a pattern with a group for the names of each month, which may have endings."""
    of_lang = locale(lang)
    if of_lang is None:
        return None
    forms = [of_lang.months[context]["wide"] for context in ("format", "stand-alone")]
    names = {number: {str(form[number]) for form in forms} for number in range(1, 13)}
    if any(name[0].isdecimal() for ours in names.values() for name in ours):  # 3月
        return None
    groups = (f"(?P<m{number}>{'|'.join(map(regex.escape, ours))})" for number, ours in names.items())
    return regex.compile(rf"(?<!\p{{L}})(?:{'|'.join(groups)})")


class Squashed:
    """A text in small letters without spaces, hyphens and soft hyphens, which words for numbers may have or not."""

    def __init__(self, text: str) -> None:
        self._text = squashed(text)
        sizes = [len(squashed(word)) for word in _BREAK.split(text)]
        self._starts = frozenset(accumulate(sizes, initial=0))

    def spells(self, value: int, lang: str) -> bool:
        """Whether a number stands there in words, or in a word that is made of them.

        >>> Squashed("Mit einundzwanzig, die Einundzwanzigjährige").spells(21, "de")
        True
        >>> Squashed("entonces").spells(11, "es"), Squashed("once").spells(11, "es")
        (False, True)
        """
        for words in spelled(value, lang):
            at = self._text.find(words)
            while at >= 0:
                if self._is_whole(at, at + len(words)):
                    return True
                at = self._text.find(words, at + 1)
        found = (match for pattern in compounds(value, lang) for match in pattern.finditer(self._text))
        return any(self._begins_word(match.start()) for match in found)

    def _is_whole(self, start: int, end: int) -> bool:
        """Whether characters are words, not just letters of some: short ones are, by chance, in many."""
        if _UNSPACED.match(self._text, start):
            return True
        if end - start < _LEAST_INSIDE:
            return self._is_start(start) and (end in self._starts or not self._text[end].isalpha())
        return self._begins_word(start)

    def _begins_word(self, place: int) -> bool:
        """Whether a word begins there, or up to three letters before, such as an article."""
        return any(self._is_start(before) for before in range(max(0, place - _LONGEST_PREFIX), place + 1))

    def _is_start(self, place: int) -> bool:
        return place in self._starts or not self._text[place - 1].isalpha()


_BREAK = regex.compile(r"[\s\p{Pd}]+")
_LEAST_INSIDE = 5
_LONGEST_PREFIX = 3
_UNSPACED = regex.compile(r"[\p{lb=SA}\p{Han}\p{Hira}\p{Kana}\p{Tibt}]")


def squashed(text: str) -> str:
    """Returns a text in small letters without spaces, hyphens and soft hyphens, which words for numbers may have.

    >>> squashed("Twenty-five dogs")
    'twentyfivedogs'
    """
    return regex.sub(r"[\s\p{Pd}\u00ad\u200b]", "", text.casefold()).translate(_CEDILLAS)


_CEDILLAS = str.maketrans("şţ", "șț")
"""Romanian is written with either."""

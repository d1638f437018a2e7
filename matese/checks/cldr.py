"""What the Unicode CLDR says of a language: its decimal mark, and its words for scales, units and currencies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import regex

if TYPE_CHECKING:
    from babel import Locale

_AROUND = 40
"""Characters of the longest names beside a number."""


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


def quantities(text: str, start: int, end: int, lang: str) -> frozenset[str]:
    """Returns the units and currencies whose name or sign stands beside a number, by their names in CLDR.

    >>> quantities("10 miles per hour", 0, 2, "en"), quantities("$5", 1, 2, "en"), quantities("5 dogs", 0, 1, "en")
    (frozenset({'speed-mile-per-hour'}), frozenset({'$'}), frozenset())
    """
    before, behind = _names(lang)
    matches = (
        before.pattern.search(text[max(0, start - _AROUND) : start].casefold()),
        behind.pattern.match(text[end : end + _AROUND].casefold()),
    )
    known = before.quantities | behind.quantities
    return frozenset(name for match in matches if match for name in known.get(match[1], (match[1],)))


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of units and currencies on one side of a number."""

    pattern: regex.Pattern[str]
    quantities: dict[str, set[str]]


@cache
def _names(lang: str) -> tuple[_Names, _Names]:
    """Returns the names before a number, and those behind it."""
    of_lang = locale(lang)
    sides: tuple[dict[str, set[str]], ...] = ({}, {})
    for quantity, pattern in _patterns(of_lang) if of_lang else ():
        before, _, behind = (part.strip().casefold() for part in pattern.partition("{0}"))
        for side, name in zip(sides, (before, behind), strict=True):
            if len(name) > 2 or name in _SHORT:
                side.setdefault(name, set()).add(quantity)
    names = ["|".join(map(regex.escape, sorted(side, key=len, reverse=True))) for side in sides]
    return (
        _Names(regex.compile(rf"(?<!\p{{L}})(?:us)?(\p{{L}}{{0,2}}\p{{Sc}}|{names[0] or '$.'})\s?\Z"), sides[0]),
        _Names(regex.compile(rf"[\s-]?\s?(\p{{Sc}}|{names[1] or '$.'})(?!\p{{L}})"), sides[1]),
    )


def _patterns(of_lang: Locale) -> Iterator[tuple[str, str]]:
    """Yields units and currencies with what stands around their numbers."""
    for unit, forms in of_lang._data["unit_patterns"].items():
        for texts in forms.values():
            yield from ((unit, str(text)) for text in texts.values())
    for code, sign in _CURRENCIES.items():
        plurals = of_lang._data["currency_names_plural"].get(code, {}).values()
        for name in {code, of_lang.currencies.get(code, code), *map(str, plurals)}:
            # Of "euros", "US dollars" and "dólares estadounidenses", either word may stand alone.
            yield from ((sign, f"{{0}} {word}") for word in (name, name.split()[0], name.split()[-1]))
        yield sign, f"{code} {{0}}"


_CURRENCIES = {"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥", "INR": "₹", "CHF": "CHF", "CNY": "¥", "RUB": "₽"}
_SHORT = frozenset({"km", "kg", "cm", "mm", "ft", "lb", "oz", "yd", "°c", "°f", "°"})
"""Short names of units that are hardly words."""


def may_be_same_quantity(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether what stands beside two numbers is the same, or no unit or currency that translators convert.

    >>> may_be_same_quantity(frozenset({"length-mile"}), frozenset()), may_be_same_quantity(frozenset(), frozenset())
    (False, True)
    """
    if ours and theirs:
        return not ours.isdisjoint(theirs) and ours.isdisjoint(_ANY_DEGREE)
    return not any(_CONVERTED.search(name) for name in ours | theirs)


_ANY_DEGREE = frozenset({"angle-degree", "temperature-generic"})
"""Degrees that may be Fahrenheit's or Celsius'."""
_CONVERTED = regex.compile(
    r"-(?:mile|foot|inch|yard|acre|pound|ounce|stone|gallon|pint|fahrenheit|celsius|degree|(?:kilo|centi)?meter|hectare"
    r"|kilogram|liter|generic)(?:-per-hour|-scandinavian|-imperial)?\Z|^[^-]+\Z"
)
"""Units that translators convert into those of the reader's country, and currencies."""


def months(text: str, lang: str, *, with_number: bool = True) -> set[int]:
    """Returns the months that a text names, 1 to 12, beside a number or anywhere.

    >>> months("Am 29. März", "de"), months("mai mult de 7", "ro"), months("in March", "en", with_number=False)
    ({3}, set(), {3})
    """
    return {number for number, name, dated in _months(lang) if (dated if with_number else name).search(text)}


def numbers_months(lang: str) -> bool:
    """Whether a language has numbers as names of months: 3月, tháng 3."""
    return any(char.isdigit() for _, name, _ in _months(lang) for char in name.pattern)


@cache
def _months(lang: str) -> tuple[tuple[int, regex.Pattern[str], regex.Pattern[str]], ...]:
    """Returns the number of each month, its name, and its name beside a number."""
    of_lang = locale(lang)
    names = {
        (number, str(name))
        for forms in (of_lang.months.values() if of_lang else ())
        for width in ("wide", "abbreviated")
        for number, name in forms[width].items()
    }
    written = ((number, regex.compile(rf"\b{regex.escape(name)}\b")) for number, name in names)
    return tuple(
        (number, name, regex.compile(rf"(?<=\d.{{0,6}}){name.pattern}|{name.pattern}(?=.{{0,6}}\d)"))
        for number, name in written
    )


def has_scales(lang: str) -> bool:
    """Whether the words that multiply numbers are known in a language."""
    return any(len(word) > 3 for word in _scale_words(lang))


def is_scaled(text: str, end: int, lang: str) -> bool:
    """Whether a word or sign that multiplies the number before it stands at a place.

    >>> is_scaled("380 миң киши", 3, "ky"), is_scaled("380 киши", 3, "ky"), is_scaled("3割", 1, "ja")
    (True, False, True)
    """
    return _scales(lang).match(text, end) is not None


@cache
def _scale_words(lang: str) -> set[str]:
    of_lang = locale(lang)
    formats = of_lang._data["compact_decimal_formats"] if of_lang else {}
    patterns = {pattern.pattern for forms in formats.values() for form in forms.values() for pattern in form.values()}
    return {regex.sub(r"[0'\s¤.]+", " ", pattern.partition(";")[0]).strip() for pattern in patterns}


@cache
def _scales(lang: str) -> regex.Pattern[str]:
    """Returns a pattern of the words of the language's compact numbers ("12 thousand"), which may have endings."""
    words = _scale_words(lang)
    words = {word[: max(2, 2 * len(word) // 3)] for word in words}
    names = [regex.escape(word) for word in words if len(word) > 1 or regex.match(r"[^\p{Latin}\p{Cyrillic}]", word)]
    return regex.compile(rf"(?i)[\s-]?\s?(?:{'|'.join([_SCALES, *sorted(names, key=len, reverse=True)])})")


_SCALES = (
    r"[多余餘來来几幾여]?[十百千万萬亿億兆割成십백천만억조]|hundred|thousand|dozen|lakh|lac\b|crore"
    r"|லட்ச|இலட்ச|கோடி|లక్ష|కోట|ಲಕ್ಷ|ಕೋಟ|ലക്ഷ|കോട"
    r"|mil[lij]|bil[lij]|tril[lij]|(?:mi[lo]|mld|mr?d|ml[nr]|ml?rd|bn|tn|tsd|tys|tis|тыс|тис|млн|млрд|трлн)\b"
)
"""Words of several languages, and abbreviations that CLDR lacks."""

"""What the Unicode CLDR says of a language: its decimal mark, and its words for scales, units and currencies."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import regex
from babel import Locale, UnknownLocaleError
from babel.numbers import get_decimal_symbol

_AROUND = 40
"""Characters of the longest names beside a number."""
_BOTH_MARKS = frozenset({"ar", "es", "ms", "qu", "sw"})
"""Languages whose regions differ in their decimal mark, as Spain and Mexico do."""


@cache
def locale(lang: str) -> Locale | None:
    """Returns what babel has of a language; None if it has nothing."""
    try:
        return Locale.parse(lang) if lang else None
    except (UnknownLocaleError, ValueError):
        return None


@cache
def decimal_marks(lang: str) -> str:
    """Returns the decimal mark of a language; both if it is unknown, or another one in some regions.

    >>> decimal_marks("de"), decimal_marks("en"), decimal_marks("es"), decimal_marks("xx")
    (',', '.', ',.', ',.')
    """
    of_lang = locale(lang)
    return ",." if of_lang is None or lang in _BOTH_MARKS else get_decimal_symbol(of_lang)


def names_month(text: str, lang: str) -> bool:
    """Whether a text has the name of a month."""
    of_lang = locale(lang)
    return of_lang is not None and any(name in text for name in of_lang.months["format"]["wide"].values())


_CONVERTED = regex.compile(
    r".*-(?:mile|foot|inch|yard|acre|pound|ounce|stone|gallon|pint|fahrenheit|celsius|degree|(?:kilo|centi)?meter|hectare"
    r"|kilogram|liter|generic|decade|century)(?:-per-hour|-scandinavian|-imperial)?\Z"
)
_CURRENCIES = {"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥", "INR": "₹", "CHF": "CHF", "CNY": "¥", "RUB": "₽"}
_SHORT = frozenset({"km", "kg", "cm", "mm", "ft", "lb", "oz", "yd", "°c", "°f", "°"})
"""Short names of units that are hardly words."""
ANY_DEGREE = frozenset({"angle-degree", "temperature-generic"})
"""Degrees that may be Fahrenheit's or Celsius'."""


def quantities(text: str, start: int, end: int, lang: str) -> frozenset[str]:
    """Returns the currencies and units that translators convert beside a number, by their names in CLDR.

    >>> quantities("10 miles per hour", 0, 2, "en"), quantities("$5", 1, 2, "en"), quantities("5 dogs", 0, 1, "en")
    (frozenset({'speed-mile-per-hour'}), frozenset({'$'}), frozenset())
    """
    names, before, behind = _quantities(lang)
    matches = (
        before.search(text[max(0, start - _AROUND) : start].casefold()),
        behind.match(text[end : end + _AROUND].casefold()),
    )
    return frozenset(name for match in matches if match for name in names.get(match[1], (match[1],)))


@cache
def _quantities(lang: str) -> tuple[dict[str, set[str]], regex.Pattern[str], regex.Pattern[str]]:
    """Returns the quantities of each name, and patterns of the names before and behind a number."""
    of_lang = locale(lang)
    names: dict[str, set[str]] = {}
    for quantity, written in _names(of_lang) if of_lang else ():
        name = written.strip().casefold()
        if len(name) > 2 or name in _SHORT:
            names.setdefault(name, set()).add(quantity)
    any_name = "|".join(map(regex.escape, sorted(names, key=len, reverse=True))) or "$."
    return (
        names,
        regex.compile(rf"(?<!\p{{L}})(?:us)?(\p{{L}}{{0,2}}\p{{Sc}}|{any_name})\s?\Z"),
        # Long names may have endings that CLDR lacks: Jahrzehnten.
        regex.compile(rf"[\s-]?\s?(\p{{Sc}}|{any_name})(?:(?<=\p{{L}}{{5}})\p{{L}}{{1,2}})?(?!\p{{L}})"),
    )


def _names(of_lang: Locale) -> Iterator[tuple[str, str]]:
    """Yields units and currencies with what stands around their numbers."""
    for unit, forms in of_lang._data["unit_patterns"].items():
        patterns = (str(text) for texts in forms.values() for text in texts.values()) if _CONVERTED.match(unit) else ()
        yield from ((unit, part) for pattern in patterns for part in pattern.split("{0}"))
    for code, sign in _CURRENCIES.items():
        plurals = of_lang._data["currency_names_plural"].get(code, {}).values()
        for name in {code, of_lang.currencies.get(code, code), *map(str, plurals)}:
            # Of "euros", "US dollars" and "dólares estadounidenses", either word may stand alone.
            yield from ((sign, word) for word in (name, name.split()[0], name.split()[-1]))


def is_scaled(text: str, end: int, lang: str) -> bool:
    """Whether a word or sign that multiplies the number before it stands at a place.

    >>> is_scaled("380 миң киши", 3, "ky"), is_scaled("380 киши", 3, "ky"), is_scaled("3割", 1, "ja")
    (True, False, True)
    """
    return _scales(lang).match(text, end) is not None


@cache
def scale_words(lang: str) -> frozenset[str]:
    """Returns the words of a language's compact numbers ("12 thousand") of several letters."""
    of_lang = locale(lang)
    forms = of_lang._data["compact_decimal_formats"].get("long", {}) if of_lang else {}
    patterns = {pattern.pattern for form in forms.values() for pattern in form.values()}
    words = {regex.sub(r"[0'\s¤.]+", " ", pattern.partition(";")[0]).strip() for pattern in patterns}
    return frozenset(word for word in words if len(word) > 1)


@cache
def _scales(lang: str) -> regex.Pattern[str]:
    # Longer words may have other endings.
    stems = {word[: max(3, 2 * len(word) // 3)] for word in scale_words(lang)}
    names = map(regex.escape, sorted(stems, key=len, reverse=True))
    return regex.compile(rf"(?i)[\s-]?\s?(?:{'|'.join([_SCALES, *names])})")


_SCALES = (
    r"[多余餘來来几幾여]?[十百千万萬亿億兆割成십백천만억조]|hundred|thousand|dozen|lakh|lac\b|crore"
    r"|லட்ச|இலட்ச|கோடி|లక్ష|కోట|ಲಕ್ಷ|ಕೋಟ|ലക്ഷ|കോട"
    r"|mil[lij]|bil[lij]|tril[lij]|(?:mi[lo]|mld|mr?d|ml[nr]|ml?rd|bn|tn|tsd|tys|tis|тыс|тис|млн|млрд|трлн)\b"
)
"""Words of several languages, and abbreviations that CLDR lacks."""

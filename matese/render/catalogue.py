"""Words of a page in several languages, from catalogues that translators maintain (`render/languages/*.po`).

English is the language of the code.
"""

from __future__ import annotations

import datetime
import gettext
import io
from dataclasses import dataclass
from pathlib import Path

from babel import dates
from babel.messages import mofile, pofile

from matese.errors import UsageError, unknown

_FOLDER = Path(__file__).parent / "languages"
_SEPARATORS = {"en": (",", "."), "de": (".", ","), "es": (".", ","), "fr": ("\u202f", ","), "zh": (",", ".")}
"""Between thousands, and before decimals (CLDR 45)."""
NUMBER = "{n}"
"""What stands for the number in a text."""
LANGUAGES = tuple(_SEPARATORS)
"""The languages that a page can be in."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The words of one language, by its code."""

    language: str
    translations: gettext.NullTranslations

    def text(self, english: str) -> str:
        """Returns a text in this language."""
        return self.translations.gettext(english)

    def counted(self, singular: str, plural: str, n: int) -> str:
        """Returns one of two texts for a number, with the number in place of `{n}`.

        >>> load("en").counted("{n} word", "{n} words", 1200)
        '1,200 words'
        """
        return self.translations.ngettext(singular, plural, n).replace(NUMBER, self.number(n))

    def number(self, value: float, digits: int = 0) -> str:
        """Returns a number as the language writes it.

        >>> load("de").number(-1234.5, 1)
        '\u22121.234,5'
        """
        thousands, decimal = _SEPARATORS[self.language]
        swap = {",": thousands, ".": decimal, "-": "\u2212"}
        return "".join(swap.get(letter, letter) for letter in f"{value:,.{digits}f}")

    def date(self, day: datetime.date) -> str:
        """Returns a date as the language writes it.

        >>> load("de").date(datetime.date(2026, 3, 1))
        '1. März 2026'
        """
        return dates.format_date(day, "long", self.language)


def load(language: str) -> Catalogue:
    """Returns the words of a language.

    Raises:
        UsageError: if there is no such language.
    """
    if language not in LANGUAGES:
        raise UsageError(unknown("language", language, LANGUAGES))
    if language == "en":
        return Catalogue(language, gettext.NullTranslations())
    compiled = io.BytesIO()
    with (_FOLDER / f"{language}.po").open("rb") as stream:
        mofile.write_mo(compiled, pofile.read_po(stream, locale=language))
    compiled.seek(0)
    return Catalogue(language, gettext.GNUTranslations(compiled))

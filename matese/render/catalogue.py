"""Words of a page in several languages, from catalogues that translators maintain (`render/languages/*.po`).

English is the language of the code. The catalogues are read by our own reader of PO; their plural forms are chosen by
the expression in their header, as GNU gettext does.
"""

from __future__ import annotations

import datetime
import gettext
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from babel import dates

from matese.errors import UsageError, unknown
from matese.formats.localisation import po

_FOLDER = Path(__file__).parent / "languages"
_PLURAL = re.compile(r"plural=([^;\\]+)")
_SEPARATORS = {"en": (",", "."), "de": (".", ","), "es": (".", ","), "fr": ("\u202f", ","), "zh": (",", ".")}
"""Between thousands, and before decimals (CLDR 45)."""
NUMBER = "{n}"
"""What stands for the number in a text."""
LANGUAGES = tuple(_SEPARATORS)
"""The languages that a page can be in."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The words of one language.

    Attributes:
        language: its code.
        targets: translations by the English text and the number of the plural form, which is None for a plain text.
        form_of: returns the plural form for a number.
    """

    language: str
    targets: Mapping[tuple[str, int | None], str]
    form_of: Callable[[int], int]

    def text(self, english: str) -> str:
        """Returns a text in this language."""
        return self.targets.get((english, None), english)

    def counted(self, one: str, many: str, n: int) -> str:
        """Returns one of two texts for a number, with the number in place of `{n}`.

        >>> load("en").counted("{n} word", "{n} words", 1200)
        '1,200 words'
        """
        form = self.form_of(n)
        english = one if n == 1 else many
        found = self.targets.get((one, form)) or self.targets.get((many, form)) or english
        return found.replace(NUMBER, self.number(n))

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
        return Catalogue(language, {}, lambda n: int(n != 1))
    raw = (_FOLDER / f"{language}.po").read_bytes()
    plural = _PLURAL.search(raw.decode())
    assert plural is not None
    units = po.parse(raw).units.values()
    targets = {(unit.source or "", unit.form): unit.target for unit in units if unit.is_translated}
    return Catalogue(language, targets, gettext.c2py(plural[1].strip()))

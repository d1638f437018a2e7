"""The languages that a model has learned, and texts that are in none of them."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from matese.annotation import Segment
from matese.text.languages import agree

_MIXED = {
    "Jpan": ("CJK", "HIRAGANA", "KATAKANA"),
    "Kore": ("HANGUL", "CJK"),
    "Hans": ("CJK",),
    "Hant": ("CJK",),
}
# Importing langcodes and the names of scripts takes as long as tagging ten segments. So the usual ones stand here; a
# test compares them with langcodes.
_NAMES = {"Latn": ("LATIN",), "Cyrl": ("CYRILLIC",), **_MIXED}
"""The names of the characters of a script begin with one of these."""
_USUAL = {
    **dict.fromkeys(("en", "de", "es", "fr", "it", "pt", "nl", "pl", "cs", "eu", "sv", "da", "fi", "tr"), "Latn"),
    **dict.fromkeys(("ru", "uk", "bg"), "Cyrl"),
    "zh": "Hans",
    "ja": "Jpan",
    "ko": "Kore",
}
"""The scripts of languages."""
_LETTERS = 200
"""Letters that are enough to tell the script of a text."""


def untrained(segment: Segment, lang_pairs: tuple[str, ...]) -> str | None:
    """Returns the language pair or script of a segment that is none of these pairs; None if it may be one of them.

    >>> untrained(Segment("가게는 닫혀 있습니다."), ("en-de",)), untrained(Segment("Der Laden"), ("en-de",))
    ('the Hangul script', None)
    """
    if not lang_pairs:
        return None
    pair = segment.key.lang_pair if segment.key else None
    if pair is not None:
        return None if _is_one_of(pair, lang_pairs) else pair
    for text, known in zip((segment.source, segment.hypothesis), _known_scripts(lang_pairs), strict=True):
        if text and not known.has_all(text) and (script := _script(text)) and script not in known.names:
            return f"the {script.capitalize()} script"
    return None


def untrained_warning(names: Iterable[str]) -> str:
    """Returns a sentence about pairs and scripts that `untrained` has returned."""
    return f"the model was not trained on {', '.join(sorted(names))}: do not rely on its marks and scores there"


def with_few_ratings(segment: Segment, few_ratings: tuple[str, ...]) -> str | None:
    """Returns the language pair of a segment if it is one of these pairs.

    >>> from matese.annotation import SegmentKey
    >>> with_few_ratings(Segment("La tienda", key=SegmentKey(lang_pair="en-es_MX")), ("en-es",))
    'en-es_MX'
    """
    pair = segment.key.lang_pair if segment.key else None
    return pair if pair is not None and _is_one_of(pair, few_ratings) else None


@lru_cache
def _is_one_of(pair: str, others: tuple[str, ...]) -> bool:
    return any(agree(pair, other) for other in others)


def few_ratings_note(names: Iterable[str]) -> str:
    """Returns a sentence about pairs that `with_few_ratings` has returned."""
    return f"the model learned {', '.join(sorted(names))} from few ratings by people: its marks are less reliable there"


class _Scripts:
    """The scripts of some languages, by their names as the names of characters begin."""

    def __init__(self, langs: Iterable[str]) -> None:
        self.names = frozenset[str]().union(*map(_of_language, langs))
        self._usual: set[str] = set()  # characters that were met: of these scripts, or no letters

    def has_all(self, text: str) -> bool:
        """Whether all letters of a text are of these scripts. That is quicker to see than which script most are of."""
        if self._usual.issuperset(text):
            return True
        for character in set(text) - self._usual:
            if character.isalpha() and _script_of(character) not in self.names:
                return False
            self._usual.add(character)
        return True


@lru_cache
def _known_scripts(lang_pairs: tuple[str, ...]) -> tuple[_Scripts, _Scripts]:
    """Returns the scripts of the sources and of the targets."""
    sources, targets = zip(*(pair.split("-") for pair in lang_pairs), strict=True)
    return _Scripts(sources), _Scripts(targets)


def _script_of(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]


def _of_language(lang: str) -> frozenset[str]:
    code = _USUAL.get(lang) or script_of_language(lang)
    return frozenset(_NAMES.get(code) or [name_of_script(code)])


def script_of_language(lang: str) -> str:
    """Returns the code of the usual script of a language, or of the one that its tag states; "" for unknown."""
    import langcodes

    return langcodes.Language.get(lang.replace("_", "-")).maximize().script or ""


def name_of_script(code: str) -> str:
    """Returns the first word of the name of a script, in capitals, as the names of its characters begin."""
    import langcodes

    return langcodes.Language.make(script=code).script_name().upper().split(" ")[0]


def _script(text: str) -> str | None:
    """Returns the script of most letters of a text, as the names of characters begin; None without letters."""
    letters = [character for character in text if character.isalpha()][:_LETTERS]
    counts = Counter(map(_script_of, letters))
    return next((script for script, _ in counts.most_common(1)), None)

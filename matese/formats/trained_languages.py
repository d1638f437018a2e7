"""Whether a model was trained on the languages of a text: by the stated language pair, otherwise by the script."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from matese.annotation import Segment
from matese.formats import languages

_MIXED = {
    "Jpan": ("CJK", "HIRAGANA", "KATAKANA"),
    "Kore": ("HANGUL", "CJK"),
    "Hans": ("CJK",),
    "Hant": ("CJK",),
}
_LETTERS = 200
"""Letters that are enough to tell the script of a text."""


def unknown(segment: Segment, lang_pairs: tuple[str, ...]) -> str | None:
    """Returns the language pair or script of a segment that is none of these pairs; None if it may be one of them.

    >>> unknown(Segment("가게는 닫혀 있습니다."), ("en-de",)), unknown(Segment("Der Laden"), ("en-de",))
    ('the Hangul script', None)
    """
    if not lang_pairs:
        return None
    pair = segment.key.lang_pair if segment.key else None
    if pair is not None:
        return None if any(languages.agree(pair, trained) for trained in lang_pairs) else pair
    for text, known in zip((segment.source, segment.hypothesis), _scripts(lang_pairs), strict=True):
        if (script := _script(text or "")) and script not in known:
            return f"the {script.capitalize()} script"
    return None


def warning(names: Iterable[str]) -> str:
    """Returns a sentence about pairs and scripts that `unknown` has found."""
    return f"the model was not trained on {', '.join(sorted(names))}: do not rely on its marks and scores there"


@lru_cache
def _scripts(lang_pairs: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """Returns the scripts of the sources and of the targets, as the names of characters begin."""
    sources, targets = zip(*(pair.split("-") for pair in lang_pairs), strict=True)
    return frozenset().union(*map(_of_language, sources)), frozenset().union(*map(_of_language, targets))


def _of_language(lang: str) -> frozenset[str]:
    import langcodes

    code = langcodes.Language.get(lang.replace("_", "-")).maximize().script or ""
    return frozenset(_MIXED.get(code) or [langcodes.Language.make(script=code).script_name().upper().split(" ")[0]])


def _script(text: str) -> str | None:
    """Returns the script of most letters of a text, as the names of characters begin; None without letters."""
    letters = [character for character in text if character.isalpha()][:_LETTERS]
    counts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in letters)
    return next((script for script, _ in counts.most_common(1)), None)

"""Languages in which a model is unreliable: it has not learned them, finds hardly any errors, or was not measured."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, NamedTuple

from matese.annotation import Segment
from matese.model.recall import ENOUGH, WEAK, Recall
from matese.text.languages import agree, languages_of

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


class Doubt(NamedTuple):
    """Why a model may be unreliable for a segment.

    Attributes:
        reason: "untrained", it has not learned the language pair or script; "unmeasured", too few errors into the
            target language were measured; "weak", it hardly finds any.
        language: the pair, script or target language.
    """

    reason: Literal["untrained", "unmeasured", "weak"]
    language: str


_SENTENCES = {
    "untrained": "the model was not trained on {}: do not rely on its marks and scores there",
    "unmeasured": f"fewer than {ENOUGH} errors were measured in {{}}: how many the model finds there is unknown",
    "weak": f"the model finds less than {WEAK:.0%} of the errors of meaning in {{}}: unmarked is not correct",
}


def doubt(segment: Segment, inputs: str, lang_pairs: tuple[str, ...], recall: Recall | None = None) -> Doubt | None:
    """Returns why a model may be unreliable for a segment; None if nothing speaks against it.

    Args:
        segment: what is rated.
        inputs: the texts that the model reads besides the hypothesis.
        lang_pairs: that the model was trained on, or measured for; empty if unknown.
        recall: what it was measured to find, by target language; None if that is unknown.

    >>> doubt(Segment("가게는 닫혀 있습니다."), "source", ("en-de",))
    Doubt(reason='untrained', language='the Hangul script')
    """
    pair = segment.key.lang_pair if segment.key else None
    if pair is None:
        return _by_script(segment, lang_pairs)
    if recall is not None:
        target = languages_of(segment.key)[1]
        is_weak = recall.is_weak(target, inputs)
        if is_weak is None:
            return Doubt("unmeasured", target)
        return Doubt("weak", f"{target} from the {inputs}") if is_weak else None
    return Doubt("untrained", pair) if lang_pairs and not _is_one_of(pair, lang_pairs) else None


def _by_script(segment: Segment, lang_pairs: tuple[str, ...]) -> Doubt | None:
    for text, scripts in zip((segment.source, segment.hypothesis), _known_scripts(lang_pairs), strict=False):
        if text and not scripts.has_all(text) and (script := _script(text)) and script not in scripts.names:
            return Doubt("untrained", f"the {script.capitalize()} script")
    return None


def sentences(doubts: Iterable[Doubt]) -> list[str]:
    """Returns a sentence for each reason."""
    languages: dict[str, set[str]] = {}
    for doubt in doubts:
        languages.setdefault(doubt.reason, set()).add(doubt.language)
    return [_SENTENCES[reason].format(", ".join(sorted(names))) for reason, names in sorted(languages.items())]


@lru_cache
def _is_one_of(pair: str, lang_pairs: tuple[str, ...]) -> bool:
    return any(agree(pair, lang_pair) for lang_pair in lang_pairs)


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
def _known_scripts(lang_pairs: tuple[str, ...]) -> tuple[_Scripts, ...]:
    """Returns the scripts of the sources and of the targets; none without pairs."""
    if not lang_pairs:
        return ()
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

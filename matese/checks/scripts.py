"""Words in the script of another language.

The scripts of a language are those that CLDR expects (`langcodes`), and a letter has the script that Unicode gives it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import regex

from matese.annotation import ErrorSpan, Severity
from matese.checks.copied import UNTRANSLATED
from matese.checks.rule import Rule, Texts
from matese.text.languages import language_tags
from matese.text.words import count_common_words

FOREIGN = "Fluency/Character encoding/Script"

# Fewer may be a name or a title.
_LATIN_WORDS = 4
_LATIN = "Latn"
# ISO 15924 has codes for groups of scripts.
_MEMBERS = {
    "Jpan": ("Hani", "Hira", "Kana"),
    "Kore": ("Hang", "Hani"),
    "Hans": ("Hani", "Bopo"),
    "Hant": ("Hani", "Bopo"),
}
_OPENING = ("(", "（", "[", "［")
_LETTER = regex.compile(r"\p{L}")
_SHARED = r"\p{Zyyy}\p{Zinh}\p{M}\p{Lm}\p{N}"


def of_language(tag: str) -> tuple[str, ...]:
    """Returns the scripts of a language tag, as Unicode abbreviates them; none if it is unknown.

    >>> of_language("de"), of_language("zh_TW"), of_language("srp_Cyrl"), of_language("xx")
    (('Latn',), ('Hani', 'Bopo'), ('Cyrl',), ())
    """
    return _of_language(tag)


@cache
def _of_language(tag: str) -> tuple[str, ...]:
    import langcodes

    if not tag or not langcodes.tag_is_valid(tag):
        return ()
    script = langcodes.Language.get(tag).maximize().script
    return () if script is None or script == "Zzzz" else _MEMBERS.get(script, (script,))


def foreign_stretches(text: str, scripts: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Yields start and end of each run of letters in other scripts; what all scripts share does not end it."""
    if text.isascii() and _LATIN in scripts:
        return
    yield from (match.span() for match in _foreign(scripts).finditer(text))


@cache
def _foreign(scripts: tuple[str, ...]) -> regex.Pattern[str]:
    own = "".join(rf"\p{{{script}}}" for script in scripts)
    letter = rf"[^{own}{_SHARED}\P{{L}}]"
    # A stretch does not go on beyond a letter of the expected scripts.
    return regex.compile(rf"{letter}(?:[^{own}]*{letter})?")


def is_in_another_script(text: str, scripts: tuple[str, ...]) -> bool:
    """Whether a text of 20 letters or more has hardly a letter of the expected scripts."""
    n_letters = len(_LETTER.findall(text))
    return n_letters >= 20 and len(_letters_of(scripts).findall(text)) < 0.1 * n_letters


@cache
def _letters_of(scripts: tuple[str, ...]) -> regex.Pattern[str]:
    own = "".join(rf"\p{{{script}}}" for script in scripts)
    return regex.compile(rf"(?=\p{{L}})[{own}]")


def find(texts: Texts) -> Iterator[ErrorSpan]:
    """Yields text in a script that the target language does not use; nothing if the language is unknown.

    What the source has in a script that is not its own is a quotation, and what a reference has is right. Latin may
    stand in every text, as names do, but not for a sentence, unless it is a gloss in brackets. Single Greek letters are
    symbols: μm, β.
    """
    source_tag, target_tag = language_tags((texts.segment.key and texts.segment.key.lang_pair) or "")
    expected = of_language(target_tag)
    if not expected:
        return
    of_source = of_language(source_tag)
    for start, end in _unexpected(texts, expected):
        text = texts.hypothesis[start:end]
        is_of_source = bool(of_source) and not any(foreign_stretches(text, of_source))
        is_quoted = text in texts.source and not is_of_source
        if not is_quoted and not any(text in reference for reference in texts.references):
            yield ErrorSpan(start, end, Severity.MAJOR, UNTRANSLATED if is_of_source else FOREIGN)


def _unexpected(texts: Texts, expected: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Yields stretches in other scripts; of Latin letters only sentences, and no single Greek letters."""
    sentences = []
    if _LATIN not in expected:
        for start, end in foreign_stretches(texts.hypothesis, expected):
            text = texts.hypothesis[start:end]
            is_latin = regex.search(r"\p{Latn}", text) is not None
            if is_latin and count_common_words(text) >= _LATIN_WORDS and not _is_gloss(texts, start, text):
                sentences.append((start, end))
    yield from sentences
    for start, end in foreign_stretches(texts.hypothesis, (*expected, _LATIN)):
        is_symbol = end - start == 1 and regex.match(r"\p{Grek}", texts.hypothesis[start:end])
        if not is_symbol and not any(a <= start < b for a, b in sentences):
            yield start, end


def _is_gloss(texts: Texts, start: int, text: str) -> bool:
    """Whether words of the source stand in brackets, as beside their translation."""
    return texts.hypothesis[:start].rstrip().endswith(_OPENING) and text in texts.source


RULE = Rule(
    "scripts",
    "words stand in a script that the target language does not use",
    (FOREIGN, UNTRANSLATED),
    find,
    needs_languages=True,
)

"""Sentences in the script of another language, and letters of two alphabets within a word.

The scripts of a language are those that CLDR knows of it (`langcodes`, `babel`), or the one that the language pair
names, and a letter has the script that Unicode gives it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import regex

from matese.annotation import ErrorSpan, Severity
from matese.checks.rule import Rule, Texts
from matese.text.placeholders import prose
from matese.text.sentences import sentence_ranges
from matese.text.words import UNTRANSLATED, count_common_words, count_words, is_unspaced

FOREIGN = "Fluency/Character encoding/Script"

_WORDS = 5
_LATIN_WORDS = 4
"""Of these, words that are not capitalised: fewer may be a name or a title."""
_UNSPACED = 15
_SHARE = 0.1
_LATIN = "Latn"
# ISO 15924 has codes for groups of scripts.
_MEMBERS = {
    "Jpan": ("Hani", "Hira", "Kana"),
    "Kore": ("Hang", "Hani"),
    "Hans": ("Hani", "Bopo"),
    "Hant": ("Hani", "Bopo"),
    "Hrkt": ("Hira", "Kana"),
    "Aran": ("Arab",),
}
_LETTER = regex.compile(r"\p{L}")
_MIXED = regex.compile(
    r"(?<![\p{L}\p{M}])(?=[\p{L}\p{M}]*?\p{Latin})(?=[\p{L}\p{M}]*?[\p{Cyrillic}\p{Greek}])(?!\p{Lu}{2,}\p{Ll}+\b)"
    r"[\p{L}\p{M}]{3,}+"
)
"""A word with letters of two alphabets, but no abbreviation with an ending: HTMLу."""
_ALIKE = "aceopxyijsABCEHKMOPTXYvunNZ" + "асеорхуіјѕАВСЕНКМОРТХУІЈЅ" + "αορχνυικΑΒΕΖΗΙΚΜΝΟΡΤΥΧόίά"
"""Letters that look like one of another alphabet. Latin "I" is not among them: it is a letter of the Caucasus."""


@cache
def of_language(tag: str) -> tuple[str, ...]:
    """Returns the scripts of a language tag, as Unicode abbreviates them; none if it is unknown.

    >>> [of_language(tag) for tag in ("de", "sr", "srp_Cyrl", "acm", "xx")]
    [('Latn',), ('Cyrl', 'Latn'), ('Cyrl',), ('Arab',), ()]
    """
    import langcodes
    from babel.core import get_global

    if not tag or not langcodes.tag_is_valid(tag):
        return ()
    language = langcodes.Language.get(tag)
    codes = (language.language, language.prefer_macrolanguage().language)
    likely_tags = get_global("likely_subtags").items()
    likely = {full.split("_")[1] for short, full in likely_tags if short.split("_")[0] in codes}
    names = {language.script} if language.script else likely
    members = {member for name in names for member in _MEMBERS.get(name, (name,))}
    return tuple(sorted(filter(_is_known, members)))


def _is_known(script: str) -> bool:
    try:
        regex.compile(rf"\p{{{script}}}")
    except regex.error:  # no letter has it, as those of variants
        return False
    return True


@cache
def _letters_of(scripts: tuple[str, ...]) -> regex.Pattern[str]:
    letters = "".join(rf"\p{{{script}}}" for script in scripts)
    return regex.compile(rf"(?=\p{{L}})[{letters}]")


def is_in_another_script(text: str, scripts: tuple[str, ...]) -> bool:
    """Whether a text of 5 words, or 15 characters of a script without spaces, has hardly a letter of some scripts.

    >>> is_in_another_script("Bitte alle Einstellungen noch einmal prüfen", ("Cyrl",))
    True
    >>> is_in_another_script("Python Packaging User Guide, Second Edition", ("Cyrl",))
    False
    """
    text = prose(text)
    n_letters = len(_LETTER.findall(text))
    if not n_letters or len(_letters_of(scripts).findall(text)) >= _SHARE * n_letters:
        return False
    if len(_letters_of((_LATIN,)).findall(text)) >= (1 - _SHARE) * n_letters:
        return count_words(text) >= _WORDS and count_common_words(text) >= _LATIN_WORDS
    n_unspaced = sum(map(is_unspaced, text))
    return n_unspaced >= _UNSPACED or (not n_unspaced and count_words(text) >= _WORDS)


def find(texts: Texts) -> Iterator[ErrorSpan]:
    """Yields sentences in a script that the target language does not use, and words of letters of two alphabets.

    What the source has in a script that is not its own is a quotation, and what a reference has is right. A sentence
    that is all of the source stands beside its translation, as in subtitles for learners.
    """
    expected = of_language(texts.tags[1])
    if texts.hypothesis.isascii() and _LATIN in expected:
        return
    source_scripts = of_language(texts.tags[0])
    has_foreign = bool(expected) and len(_LETTER.findall(texts.hypothesis)) > len(
        _letters_of(expected).findall(texts.hypothesis)
    )
    for start, end in sentence_ranges(texts.hypothesis) if has_foreign else ():
        sentence = texts.hypothesis[start:end]
        if not is_in_another_script(sentence, expected) or sentence.strip() == texts.source.strip():
            continue
        is_of_source = bool(source_scripts) and not is_in_another_script(sentence, source_scripts)
        is_quotation = sentence in texts.source and not is_of_source
        if not is_quotation and not any(sentence in reference for reference in texts.references):
            yield ErrorSpan(start, end, Severity.MAJOR, UNTRANSLATED if is_of_source else FOREIGN)
    for match in _MIXED.finditer(texts.hypothesis):
        if _is_mistaken(match[0]) and not any(match[0] in text for text in (texts.source, *texts.references)):
            yield ErrorSpan(match.start(), match.end(), Severity.MAJOR, FOREIGN)


def _is_mistaken(word: str) -> bool:
    """Whether the fewer letters of a word are those of another alphabet that look alike.

    >>> _is_mistaken("cтроку"), _is_mistaken("μmol")
    (True, False)
    """
    latin = _letters_of((_LATIN,)).findall(word)
    not_latin = _letters_of(("Cyrl", "Grek")).findall(word)
    fewer = min(latin, not_latin, key=len)
    return len(latin) != len(not_latin) and all(letter in _ALIKE for letter in fewer)


RULE = Rule("scripts", (FOREIGN, UNTRANSLATED), find)

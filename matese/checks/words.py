"""Checks of words: copied from the source, in the script of another language, or repeated."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence

from matese import text as texts
from matese.annotation import ErrorSpan, Severity

UNTRANSLATED = "Accuracy/Source language fragment"
FOREIGN = "Fluency/Character encoding/Script"
REPEATED = "Accuracy/Addition/Repetition"

_LATIN_WORDS = 4
_LONGEST_REPEAT = 40
_SPACED = f"(?:(?![{texts.UNSPACED}])\\w)+"
# In scripts without spaces, every character counts as a word.
_WORD = re.compile(f"(?=\\w)[{texts.UNSPACED}]|{_SPACED}(?:['’]{_SPACED})*")

_LANGUAGES = {
    (
        "LATIN",
    ): "af ca cs cy da de en es et eu fi fr ga gl ha hr hu id is it lt lv mas ms mt nb nl nn no pl pt ro sk sl sq sv "
    "sw tl tr vi xh zu",
    ("CYRILLIC",): "be bg kk mk ru uk",
    ("GREEK",): "el",
    ("CJK", "BOPOMOFO"): "zh",
    ("CJK", "HIRAGANA", "KATAKANA"): "ja",
    ("HANGUL", "CJK"): "ko",
    ("ARABIC",): "ar fa ps ur",
    ("HEBREW",): "he yi",
    ("DEVANAGARI",): "bho hi mr ne",
    ("BENGALI",): "as bn",
    ("GUJARATI",): "gu",
    ("TAMIL",): "ta",
    ("TELUGU",): "te",
    ("THAI",): "th",
    ("KHMER",): "km",
    ("GEORGIAN",): "ka",
    ("ARMENIAN",): "hy",
}
_SCRIPTS = {lang: scripts for scripts, languages in _LANGUAGES.items() for lang in languages.split()}
_KNOWN = {script for scripts in _LANGUAGES for script in scripts}


def foreign(
    hypothesis: str, source: str | None, references: Sequence[str] = (), *, source_lang: str, target_lang: str
) -> Iterator[ErrorSpan]:
    """Yields text in a script that the target language does not use; nothing if the language is unknown.

    What the source has in a script that is not its own is a quotation, and what a reference has is right. Latin may
    stand in every text, as names do, but not for a sentence.

    >>> [span.category for span in foreign("Das ist хорошо.", "Это хорошо.", source_lang="ru", target_lang="de")]
    ['Accuracy/Source language fragment']
    """
    expected = _SCRIPTS.get(target_lang)
    of_source = _SCRIPTS.get(source_lang, ())
    if expected is None:
        return
    for start, end, script in _stretches(hypothesis, expected):
        text = hypothesis[start:end]
        if script == "LATIN" and texts.count_common_words(text) < _LATIN_WORDS:
            continue
        # Single Greek letters are symbols: μm, β.
        if script == "GREEK" and end - start == 1:
            continue
        is_quoted = source is not None and text in source and script not in of_source
        if not is_quoted and not any(text in reference for reference in references):
            yield ErrorSpan(start, end, Severity.MAJOR, UNTRANSLATED if script in of_source else FOREIGN)


def _stretches(text: str, expected: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Yields start, end and script of each run in one unexpected script; only letters count."""
    start = end = 0
    current = ""
    for place, letter in enumerate(text):
        script = unicodedata.name(letter, "").partition(" ")[0] if letter.isalpha() else ""
        if script not in _KNOWN or script == current:
            end = place + 1 if script and script == current else end
            continue
        if current:
            yield start, end, current
        current = "" if script in expected else script
        start = place
        end = place + 1
    if current:
        yield start, end, current


def repeated(hypothesis: str, source: str | None) -> Iterator[ErrorSpan]:
    """Yields repetitions of words, without the first occurrence; nothing if the source repeats words, too.

    One or two words must stand there three times in a row, three and more twice; characters of a script without spaces
    four and more twice, fewer to a length of eight.

    >>> [(span.start, span.end) for span in repeated("the cat the cat the cat sat", "le chat")]
    [(8, 23)]
    >>> list(repeated("It was very, very good that that happened again and again.", "bien"))
    []
    """
    if source is not None and next(_repeats(source, less=1), None):
        return
    for start, end in _repeats(hypothesis):
        yield ErrorSpan(start, end, Severity.MAJOR, REPEATED)


def _repeats(text: str, *, less: int = 0) -> Iterator[tuple[int, int]]:
    """Yields the places of repetitions; `less` lowers the required number of repeats."""
    places = [match.span() for match in _WORD.finditer(text)]
    words = [text[start:end].casefold() for start, end in places]
    at = 0
    while at < len(words):
        size, times = next(_loops(words, at, less), (1, 1))
        if times > 1:
            yield places[at + size][0], places[at + size * times - 1][1]
        at += size * times


def _loops(words: Sequence[str], at: int, less: int) -> Iterator[tuple[int, int]]:
    """Yields length in words and number of repeats of each loop that starts here and repeats too often."""
    for size in range(1, min(_LONGEST_REPEAT, (len(words) - at) // 2) + 1):
        unit = words[at : at + size]
        # Numbers may repeat, and there may be many of them: their repeats are not even counted.
        if words[at + size : at + 2 * size] != unit or not any(word.isalpha() for word in unit):
            continue
        times = 2
        while words[at + times * size : at + (times + 1) * size] == unit:
            times += 1
        if texts.is_unspaced(words[at][0]):
            needed = 2 if size > 3 else max(3, 8 // size)
        else:
            needed = 2 if size > 2 else 3
        if times >= max(2, needed - less):
            yield size, times

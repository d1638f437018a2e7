"""The language of a text: by its script, and with py3langid where it is installed (the extra "languages")."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import regex

from matese.annotation import ErrorSpan
from matese.checks import scripts
from matese.checks.copied import whole
from matese.checks.rule import Need, Rule, Texts, is_installed
from matese.text.placeholders import prose
from matese.text.words import UNTRANSLATED, count_words

WRONG = "Accuracy/Wrong language"

_LIBRARY = "py3langid"
_LEAST = 0.5
_MOST = 0.02
_LEAST_WORDS = 5
_LEAST_LETTERS = 25
"""Of shorter texts, py3langid is seldom sure and sometimes wrong."""
_NEAR = 10
_DISTANT = 64
"""CLDR's distances, one way or both ways, of languages that may be taken for one another: dialects of Arabic, Malay and
Indonesian, Croatian and Serbian."""
_CHINESE = frozenset({"wuu", "yue", "zh"})
"""Much of a text in one of them may be in another one."""
# py3langid's label of texts in no language, such as addresses.
_NO_LANGUAGE = "zxx"
# Names, codes and numbers say nothing about a language, and texts of little else are taken for any.
_NO_WORD = regex.compile(r"\S*[\p{N}@/\\_<>{}%=]\S*|(?<=\w\W{1,3})\p{Lu}[\p{L}\p{M}'’.-]*")


def knows(lang: str) -> bool:
    """Whether py3langid knows a language."""
    return is_installed(_LIBRARY) and lang in _identifier().labels


@functools.cache
def _label(tag: str) -> str:
    """Returns the label of a language tag; "" where its script is not the usual one, or py3langid lacks the language.

    >>> _label("de_CH"), _label("arb"), _label("apc"), _label("ms_Arab")
    ('de', 'ar', '', '')
    """
    import langcodes
    from babel.core import get_global

    if not langcodes.tag_is_valid(tag):
        return ""
    language = langcodes.Language.get(tag)
    usual = langcodes.Language.get(language.language or "und").maximize().script
    # Of macrolanguages, only the standard language: py3langid takes Egyptian Arabic for others.
    label = get_global("language_aliases").get(language.language or "", language.language) or ""
    return label if language.maximize().script == usual and knows(label) else ""


def off_target(texts: Texts) -> Iterator[ErrorSpan]:
    """Yields the whole text if it is surely in another language than the target language and no reference is, too.

    Nothing if the target language is unknown, or the text has fewer than 5 words; and little of languages in two
    scripts, such as Serbian and Kyrgyz, since py3langid knows one of them.
    """
    source_tag, target_tag = texts.tags
    if not scripts.of_language(target_tag) or source_tag == target_tag:
        return
    language = _other_language(texts.hypothesis, texts)
    if language is None or any(_other_language(text, texts) is not None for text in texts.references):
        return
    source_scripts = scripts.of_language(source_tag) or ("Zyyy",)
    is_in_source_script = not language and not scripts.is_in_another_script(texts.hypothesis, source_scripts)
    yield whole(texts.hypothesis, UNTRANSLATED if is_in_source_script or language == texts.source_lang else WRONG)


def _other_language(text: str, texts: Texts) -> str | None:
    """Returns the language of a text that is surely in another than the target language, "" for unknown; None else."""
    import langcodes

    expected = scripts.of_language(texts.tags[1])
    if scripts.is_in_another_script(text, expected):
        return ""
    if not (label := _label(texts.tags[1])):
        return None
    words = " ".join(_NO_WORD.sub(" ", prose(text)).split())
    if len(words) < _LEAST_LETTERS or count_words(words, most=_LEAST_WORDS) < _LEAST_WORDS:
        return None
    ranked = _identifier().rank(words)
    (language, probability), *_ = ranked
    if language in (label, _NO_LANGUAGE) or probability < _LEAST or dict(ranked)[label] > _MOST:
        return None
    distances = (langcodes.tag_distance(label, language), langcodes.tag_distance(language, label))
    if min(distances) <= _NEAR or max(distances) <= _DISTANT or {label, language} <= _CHINESE:
        return None
    # py3langid knows one script of each language.
    usual = scripts.of_language(langcodes.Language.get(label).maximize().to_tag())
    is_usual = not scripts.is_in_another_script(text, usual)
    return str(language) if is_usual or language == texts.source_lang else None


@functools.cache
def _identifier() -> Any:  # noqa: ANN401  # py3langid has no types
    """Returns py3langid's model with probabilities."""
    from py3langid import langid

    return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)


RULE = Rule("language", (WRONG, UNTRANSLATED), off_target, needs=Need.LANGUAGES, ends=True, library=_LIBRARY)

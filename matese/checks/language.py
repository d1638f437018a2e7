"""The language of a text: by its script, and with py3langid where it is installed (the extra "languages")."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import regex

from matese.annotation import ErrorSpan
from matese.checks import scripts
from matese.checks.copied import UNTRANSLATED, whole
from matese.checks.rule import Rule, Texts
from matese.text.languages import language_tags

WRONG = "Accuracy/Wrong language"

_LEAST = 0.5
_MOST = 0.02
_LEAST_LETTERS = 25
"""Of shorter texts, py3langid is seldom sure and sometimes wrong."""
# py3langid's label of texts in no language, such as addresses.
_NO_LANGUAGE = "zxx"
# Names, codes and numbers say nothing about a language, and texts of little else are taken for any.
_NO_WORD = regex.compile(r"\S*[\p{N}@/\\_<>{}%=]\S*|(?<=\w\W{1,3})\p{Lu}[\p{L}\p{M}'’.-]*")


def is_available() -> bool:
    """Whether py3langid is installed."""
    return _identifier() is not None


def knows(lang: str) -> bool:
    """Whether py3langid knows a language."""
    return lang in _labels()


def off_target(texts: Texts) -> Iterator[ErrorSpan]:
    """Yields the whole text if it is surely in another language than the target language and no reference is, too.

    Nothing if the target language is unknown. Short texts are seldom sure.
    """
    key = texts.segment.key
    source_tag, target_tag = language_tags((key and key.lang_pair) or "")
    expected = scripts.of_language(target_tag)
    if not expected or source_tag == target_tag:
        return
    found = _other_language(texts.hypothesis, texts.target_lang, expected)
    if found is None:
        return
    if any(_other_language(text, texts.target_lang, expected) is not None for text in texts.references):
        return
    is_of_source = found == texts.source_lang or (
        not found and not scripts.is_in_another_script(texts.hypothesis, scripts.of_language(source_tag) or expected)
    )
    yield whole(texts.hypothesis, UNTRANSLATED if is_of_source else WRONG)


def _other_language(text: str, expected: str, expected_scripts: tuple[str, ...]) -> str | None:
    """Returns the language of a text that is surely not in the expected one, "" for unknown; None for other texts."""
    if scripts.is_in_another_script(text, expected_scripts):
        return ""
    if not knows(expected):
        return None
    words = " ".join(_NO_WORD.sub(" ", text).split())
    if len(words) < _LEAST_LETTERS:
        return None
    ranked = _identifier().rank(words)
    (language, probability), *_ = ranked
    if language in (expected, _NO_LANGUAGE) or probability < _LEAST or dict(ranked)[expected] > _MOST:
        return None
    return str(language)


@functools.cache
def _labels() -> frozenset[str]:
    identifier = _identifier()
    return frozenset() if identifier is None else frozenset(identifier.labels)


@functools.cache
def _identifier() -> Any:  # noqa: ANN401  # py3langid has no types
    """Returns py3langid's model with probabilities; None where it is not installed."""
    try:
        from py3langid import langid
    except ImportError:
        return None
    return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)


RULE = Rule(
    "language",
    "the hypothesis is in another language",
    (WRONG, UNTRANSLATED),
    off_target,
    needs_languages=True,
    ends=True,
)

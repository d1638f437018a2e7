"""Check that a text is in the target language, with py3langid where it is installed (the extra "languages")."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

from matese.annotation import ErrorSpan, Severity
from matese.checks.words import UNTRANSLATED

WRONG = "Accuracy/Wrong language"

# Of 6,000 translations by people in 20 directions, none is taken for another language; of their sources, 86 % are.
_LEAST = 0.9
_MOST = 0.02
# py3langid's label of texts in no language, such as addresses.
_NO_LANGUAGE = "zxx"


def is_available() -> bool:
    """Whether py3langid is installed."""
    return _identifier() is not None


def knows(lang: str) -> bool:
    """Whether a language can be checked."""
    identifier = _identifier()
    return identifier is not None and lang in identifier.labels


def off_target(
    hypothesis: str, references: Sequence[str] = (), *, source_lang: str, target_lang: str
) -> Iterator[ErrorSpan]:
    """Yields the whole text if it is surely in another language than the target language and no reference is, too.

    Nothing if the target language is unknown to py3langid, or py3langid is not installed. Short texts are seldom sure.
    """
    found = _other_language(hypothesis, target_lang)
    if found is None or any(_other_language(reference, target_lang) is not None for reference in references):
        return
    start = len(hypothesis) - len(hypothesis.lstrip())
    category = UNTRANSLATED if found == source_lang else WRONG
    yield ErrorSpan(start, len(hypothesis.rstrip()), Severity.MAJOR, category)


def _other_language(text: str, expected: str) -> str | None:
    """Returns the language of a text that is surely not in the expected one; None for other texts."""
    if not knows(expected):
        return None
    ranked = _identifier().rank(text)
    (language, probability), *_ = ranked
    if language in (expected, _NO_LANGUAGE) or probability < _LEAST or dict(ranked)[expected] > _MOST:
        return None
    return str(language)


@functools.cache
def _identifier() -> Any:  # noqa: ANN401  # py3langid has no types
    """Returns py3langid's model with probabilities; None where it is not installed."""
    try:
        from py3langid import langid
    except ImportError:
        return None
    return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)

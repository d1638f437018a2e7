"""The quality of translations as a reward, for reinforcement learning and for choosing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from matese import mqm
from matese.annotation import Rating, Segment

if TYPE_CHECKING:
    from matese.model.annotator import Annotator

_RULES = "blank,untranslated,language,repetition,artefacts,length"
"""What a policy learns first to fool a model: each finding costs its penalty."""
_FEWEST_WORDS = 4
"""Of a text that counts as written twice: names and interjections are doubled in good texts."""


def reward(
    hypotheses: Sequence[str],
    *,
    sources: Sequence[str | None] | None = None,
    references: Sequence[str] | Sequence[Sequence[str]] | None = None,
    lang_pair: str | None = None,
    model: str = "mini",
) -> list[float]:
    r"""Returns how good each hypothesis is; higher is better, 0 is best for most models.

    It is the expected score, or the score of the errors of a model without one, minus the penalties of what rules find:
    blank texts, copies of the source, repetition, texts in another language, answers around a translation. A text that
    is written twice, and one that is not valid Unicode (a lone surrogate), has the lowest score, -25, or less.

    Args:
        hypotheses: the translations; shape (n,).
        sources: one for each hypothesis.
        references: one for each hypothesis, or a list of several for each.
        lang_pair: of all hypotheses ("en-de"), for rules that read it.
        model: an embedded model, a directory, or a hub id; it stays loaded.

    Raises:
        UsageError: if the sequences differ in length.
        ModelError: if the model cannot be loaded, or a text that it needs is missing.

    >>> twice, broken = reward(["Es ist neu. Es ist neu.", "\ud800"], sources=["It is new.", "A"])
    >>> twice <= -25, broken
    (True, -25.0)
    """
    from matese.checks import checker, chosen
    from matese.formats.segments import of_texts

    segments = of_texts(hypotheses, references, sources, lang_pair)
    rules = chosen.choose(_RULES).rules
    readable = [segment for segment in segments if segment.is_unicode]
    rated = (checker.add_findings(rating, rules) for rating in _loaded(model).annotate_segments(readable))
    return [_value(next(rated)) if segment.is_unicode else mqm.LOWEST_SCORE for segment in segments]


@lru_cache(maxsize=1)
def _loaded(model: str) -> Annotator:
    from matese.model.annotator import load

    return load(model)


def _value(rating: Rating) -> float:
    by_rules = sum(mqm.penalty(error) for error in rating.all_errors if error.rule is not None)
    score = mqm.expected_score(rating)
    value = mqm.score(rating) if score is None else score - by_rules
    return min(value, mqm.LOWEST_SCORE) if _is_twice(rating.segment) else value


def _is_twice(segment: Segment) -> bool:
    """Whether the hypothesis is a text written several times, and the texts that it translates are not."""
    return _is_repeated(segment.hypothesis) and not any(map(_is_repeated, (segment.source or "", *segment.references)))


def _is_repeated(text: str) -> bool:
    """Whether a text is the same words several times.

    >>> [_is_repeated(text) for text in ("It is late. It is late.", "bye bye", "太好了太好了", "a b c d")]
    [True, False, True, False]
    """
    joined = "".join(text.split())
    is_long = len(text.split()) >= _FEWEST_WORDS or len(joined) == len(text) >= _FEWEST_WORDS
    return is_long and joined in (joined + joined)[1:-1]

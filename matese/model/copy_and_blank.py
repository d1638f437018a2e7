"""Rules that override the model.

All rules are active unless the user switches them off; the signature names the active ones.

copy: a hypothesis that equals a reference that the model reads has no errors and the highest expected score. One that
    repeats its source instead, and should not, is one Major error with the lowest expected score, whether or not the
    model reads the source.
blank: a hypothesis without text is not read. It is a non-translation with the lowest expected score, unless there is
    nothing to translate.
"""

from __future__ import annotations

from matese.annotation import ErrorSpan, Segment, Severity
from matese.model.texts.encoding import Tokens
from matese.text.words import UNTRANSLATED


def untranslated_error(segment: Segment) -> ErrorSpan:
    """Returns the error of an untranslated segment: the whole hypothesis, without white space around it."""
    text = segment.hypothesis
    start = len(text) - len(text.lstrip())
    return ErrorSpan(start, len(text.rstrip()), Severity.MAJOR, UNTRANSLATED, rule="untranslated")


def is_blank(hypothesis: str, tokens: Tokens) -> bool:
    """Returns whether there is nothing to read: only white space, or only characters that the tokenizer drops."""
    return not hypothesis.strip() or len(tokens.ids) == 0

"""A translation without text."""

from __future__ import annotations

from collections.abc import Iterator

from matese import mqm
from matese.annotation import UnplacedError
from matese.checks.rule import Rule, Texts

CATEGORY = mqm.NON_TRANSLATION.category or ""


def find(texts: Texts) -> Iterator[UnplacedError]:
    """Yields an error if there is something to translate and the hypothesis has nothing but white space."""
    if mqm.is_untranslated(texts.segment):
        yield mqm.NON_TRANSLATION


RULE = Rule("blank", (CATEGORY,), find, ends=True, reads_blanks=True)

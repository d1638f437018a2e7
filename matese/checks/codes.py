"""Inline codes of localisation files that the translation loses, renames, repeats or invents.

Codes are compared by kind and id, as often as they occur; their order is the translator's. They have no place in the
text, so that an error has none either, but names the code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from matese.annotation import Severity, UnplacedError
from matese.checks.rule import Need, Rule, Texts
from matese.text.placeholders import icu_arguments

LOST = "Accuracy/Omission/Inline code"
ADDED = "Accuracy/Addition/Inline code"


def find(texts: Texts) -> Iterator[UnplacedError]:
    """Yields an error for each code that is rarer in the translation than in the source, or else more frequent.

    A code in the place of another is one error. In a message with plural forms, of which languages have other numbers,
    a code may be there more often.
    """
    if texts.segment.codes is None:
        return
    source = Counter(texts.segment.codes.source)
    hypothesis = Counter(texts.segment.codes.hypothesis)
    lost = list((source - hypothesis).elements())
    added = list((hypothesis - source).elements())
    if icu_arguments(texts.source):
        lost = [code for code in source if code not in hypothesis]
        added = [code for code in hypothesis if code not in source]
    yield from (UnplacedError(Severity.MAJOR, LOST, str(code)) for code in lost)
    yield from (UnplacedError(Severity.MAJOR, ADDED, str(code)) for code in added[len(lost) :])


RULE = Rule("codes", (LOST, ADDED), find, needs=Need.CODES)

"""Translations that are copies of their source."""

from __future__ import annotations

from matese.annotation import Segment
from matese.text.languages import languages_of
from matese.text.words import is_copy

CATEGORY = "Accuracy/Source language fragment"


def is_untranslated(segment: Segment) -> bool:
    """Whether a hypothesis is a copy of its source that should have been translated.

    Names, numbers and strings of one or two words may stay the same, and so may any text between two varieties of a
    language, or one that a reference repeats too.

    >>> is_untranslated(Segment("The museum is closed.", "The museum is closed.")), is_untranslated(Segment("OK", "OK"))
    (True, False)
    """
    if segment.source is None or not is_copy(segment.hypothesis, segment.source):
        return False
    source, target = languages_of(segment.key)
    is_translation = not source or source != target
    return is_translation and not any(is_copy(segment.hypothesis, reference) for reference in segment.references)
